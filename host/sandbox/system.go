package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// programs are the directories of the system's programs. A symbolic link stays one, as where /bin is
// usr/bin.
var programs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/run/current-system"}

// settings are the parts of /etc that programs need to run, resolve names and check certificates. The
// rest, including keys and passwords, is not visible, whoever the user is.
var settings = []string{
	"alternatives", "bash.bashrc", "bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version",
	"default/locale", "fish", "fonts", "gai.conf", "host.conf", "hostname", "hosts", "inputrc", "java", "ld.so.cache",
	"ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime", "login.defs", "lsb-release", "magic", "mime.types",
	"networks", "nsswitch.conf", "openssl", "os-release", "perl", "pki", "profile", "profile.d", "protocols",
	"python3", "redhat-release", "resolv.conf", "rpc", "services", "shells", "skel", "ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem",
	"static", "terminfo", "timezone", "vim", "xattr.conf", "xdg", "zsh", "zshenv", "zshrc", "zprofile",
}

// machine are the parts of /proc by which the machine can be changed. They check the user and not
// capabilities: root's processes have none inside, but are still root.
var machine = []string{
	"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "driver", "scsi", "asound", "dynamic_debug", "mtrr", "latency_stats",
	"kallsyms", "kcore", "kmsg", "kpagecount", "kpageflags", "kpagecgroup", "slabinfo", "timer_list", "sched_debug", "keys", "pressure",
}

// system returns bubblewrap's arguments for what every sandbox has.
func system() []string {
	// A process that writes into process 1 keeps the sandbox's end from being noticed.
	args := []string{"--proc", "/proc", "--dev", "/dev", "--ro-bind", "/dev/null", "/proc/1/mem"}
	for _, name := range machine {
		path := "/proc/" + name
		if _, err := os.Stat(path); err == nil {
			args = append(args, "--ro-bind", path, path)
		}
	}
	for _, dir := range programs {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			if to, err := os.Readlink(dir); err == nil {
				args = append(args, "--symlink", to, dir)
			}
		default:
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	for _, name := range settings {
		// A link to something that is not visible, such as resolv.conf, is replaced by its target.
		path := filepath.Join("/etc", name)
		if real, err := filepath.EvalSymlinks(path); err == nil && readable(real) {
			args = append(args, "--ro-bind", real, path)
		}
	}
	return args
}

// readable reports whether everybody may read a file or directory. Programs don't need what only its
// owner may read.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o004 != 0 && (info.IsDir() || info.Mode().IsRegular())
}

// systemic reports whether a path is visible in every sandbox.
func systemic(path string) bool {
	return slices.ContainsFunc(programs, func(dir string) bool { return within(dir, path) })
}

// userName returns the user's name inside.
func userName() string {
	if os.Getuid() == 0 {
		return "root"
	}
	return "agent"
}

// shell returns the user's shell inside.
func shell() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}

// data is a file that is made for the sandbox.
type data struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// identity returns the files with the users inside: the user, and none of this machine's.
func identity() []data {
	uid, gid := os.Getuid(), os.Getgid()
	var passwd, group strings.Builder
	if uid != 0 {
		fmt.Fprintf(&passwd, "root:x:0:0:root:/nonexistent:/bin/sh\n")
	}
	fmt.Fprintf(&passwd, "%s:x:%d:%d:%s:%s:%s\n", userName(), uid, gid, userName(), Home, shell())
	if gid != 0 {
		fmt.Fprintf(&group, "root:x:0:\n")
	}
	fmt.Fprintf(&group, "%s:x:%d:\n", userName(), gid)
	if uid != 65534 {
		passwd.WriteString("nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n")
		group.WriteString("nogroup:x:65534:\n")
	}
	return []data{{"/etc/passwd", passwd.String()}, {"/etc/group", group.String()}}
}

// homeDir returns the user's home directory, or "".
func homeDir() string {
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return filepath.Clean(u.HomeDir)
	}
	return ""
}
