package shell

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"tandemux/internal/statefile"
)

// Launch is how a process is started: its arguments, the first of which is the
// program, and its complete environment.
type Launch struct {
	Argv []string
	Env  []string
}

// The variables by which a script learns what is ours. Each takes them out of
// the environment as the first thing it does.
const (
	envNonce = "TANDEMUX_SHELL_NONCE"
	// envKept holds the user's value of a variable that had to be borrowed; it
	// is not set when the user had none.
	envKept = "TANDEMUX_SHELL_KEPT"
	// envFile is what is read in place of ~/.bashrc; empty when the shell is to read
	// no startup files.
	envFile = "TANDEMUX_SHELL_RC"
)

//go:embed all:script
var scripts embed.FS

// Inject changes how an interactive shell is started so that it marks its
// commands, and returns the nonce of its marks. It reports false, and the launch
// as it was, for what has to be left alone: programs that are no bash, zsh or
// fish, and shells with arguments other than options that are known to leave them
// interactive, such as -c, a script, or --posix.
//
// dir is a directory for the scripts, which is made if it is missing; it must be
// the user's alone, and its path absolute. The scripts stay there under a name
// made from what they say, so that hosts of several versions may share it; they
// may be removed when no shell is just starting. An error says that dir can't be
// used; the launch is then as it was and may go ahead without marks.
func Inject(l Launch, dir string) (out Launch, nonce string, ok bool, err error) {
	if len(l.Argv) == 0 {
		return l, "", false, nil
	}
	kind, known := kinds[filepath.Base(l.Argv[0])]
	change := change{Launch: Launch{Argv: slices.Clone(l.Argv), Env: slices.Clone(l.Env)}, after: 1}
	if !known || !change.read(kind) || kind.suits != nil && !kind.suits(&change) {
		return l, "", false, nil
	}
	root, err := install(dir, kind.folder)
	if err != nil {
		return l, "", false, fmt.Errorf("install the shell integration: %w", err)
	}
	nonce = rand.Text()
	change.unset(envFile)
	kind.change(&change, filepath.Join(root, kind.folder))
	change.set(envNonce, nonce)
	return change.Launch, nonce, true, nil
}

// kind is how a shell is made to run its script, and the options that it may have.
type kind struct {
	folder  string
	letters map[byte]effect // may be given together, as -il
	long    map[string]effect
	suits   func(*change) bool // nil for any
	change  func(c *change, folder string)
}

// effect is what an option means for the integration.
type effect int

const (
	plain     effect = 1 << iota
	value            // is followed by a value
	set              // its value is the name of an option
	login            // a login shell
	noRC             // no startup files are read; in bash, by other than a login shell
	noProfile        // a login shell reads no startup files
	rcFile           // its value is a file that is read in place of ~/.bashrc
)

var kinds = map[string]kind{
	"bash": {
		folder: "bash", suits: suitsBash, change: changeBash,
		letters: lettered("ibfhmuBCEHT", map[byte]effect{'l': login, 'o': set | value, 'O': set | value}),
		long: map[string]effect{
			"--login": login, "--norc": noRC, "--noprofile": noProfile, "--rcfile": rcFile | value, "--init-file": rcFile | value, "--noediting": plain,
		},
	},
	"zsh": {
		folder: "zsh", suits: suitsZsh, change: changeZsh,
		letters: lettered("idu", map[byte]effect{'l': login, 'f': noRC, 'o': set | value}),
		long:    map[string]effect{"--interactive": plain, "--login": login, "--no-rcs": noRC, "--no-global-rcs": plain},
	},
	"fish": {
		folder: "fish", change: changeFish,
		letters: lettered("iNP", map[byte]effect{'l': login, 'C': value, 'f': value}),
		long: map[string]effect{
			"--interactive": plain, "--login": login, "--no-config": plain, "--private": plain, "--init-command": value, "--features": value,
		},
	},
}

func lettered(plains string, others map[byte]effect) map[byte]effect {
	for _, c := range []byte(plains) {
		others[c] = plain
	}
	return others
}

// foreign are the options (-o) that change what a shell reads, whether it is
// interactive, or how the scripts run.
var foreign = map[string]bool{
	"allexport": true, "errexit": true, "errreturn": true, "exec": true, "interactive": true, "keyword": true, "onecmd": true,
	"privileged": true, "rcs": true, "restricted": true, "shinstdin": true, "singlecommand": true, "verbose": true, "xtrace": true,
}

func isForeign(option string) bool {
	option = strings.ReplaceAll(strings.ToLower(option), "_", "")
	return foreign[option] || foreign[strings.TrimPrefix(option, "no")] || strings.Contains(option, "posix")
}

// effect is what an argument means, 0 for one that is not known to leave the shell
// interactive.
func (k kind) effect(arg string) effect {
	if does := k.long[arg]; does != 0 {
		return does
	}
	if name, _, joined := strings.Cut(arg, "="); joined && k.long[name] == value {
		return plain
	}
	if len(arg) < 2 || arg[0] != '-' && (arg[0] != '+' || k.letters[arg[1]]&set == 0) {
		return 0
	}
	var all effect
	for i := 1; i < len(arg); i++ {
		does := k.letters[arg[i]]
		if does == 0 || does&value != 0 && i+1 < len(arg) {
			return 0
		}
		all |= does
	}
	return all
}

// read reads the arguments. It reports false for any that is not known to leave the
// shell interactive.
func (c *change) read(k kind) bool {
	for i := 1; i < len(c.Argv); i++ {
		arg := c.Argv[i]
		does := k.effect(arg)
		if does == 0 {
			return false
		}
		if c.does |= does; does&value != 0 {
			if i++; i == len(c.Argv) || does&set != 0 && isForeign(c.Argv[i]) {
				return false
			}
		}
		if does&rcFile != 0 {
			c.rc = c.Argv[i]
		}
		if strings.HasPrefix(arg, "--") {
			c.after = i + 1
		}
	}
	return true
}

// change is a launch that is being changed.
type change struct {
	Launch
	does  effect // of all options
	rc    string // the value of rcFile
	after int    // where in Argv another long option may stand, after the others
}

func (c *change) insert(at int, args ...string) { c.Argv = slices.Insert(c.Argv, at, args...) }

func (c *change) get(name string) (string, bool) {
	for _, kv := range slices.Backward(c.Env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func (c *change) unset(name string) {
	c.Env = slices.DeleteFunc(c.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

func (c *change) set(name, value string) {
	c.unset(name)
	c.Env = append(c.Env, name+"="+value)
}

// borrow sets a variable whose value the script restores.
func (c *change) borrow(name, value string) {
	c.unset(envKept)
	if old, ok := c.get(name); ok {
		c.set(envKept, old)
	}
	c.set(name, value)
}

// suitsBash leaves a bash alone that shall start in POSIX mode, which reads
// other startup files, and Apple's, which ignores ENV.
func suitsBash(c *change) bool {
	_, posix := c.get("POSIXLY_CORRECT")
	path, _ := exec.LookPath(c.Argv[0])
	return !posix && (runtime.GOOS != "darwin" || path != "/bin/bash")
}

// changeBash has an interactive bash read our script in place of ~/.bashrc, which
// the script reads then. A login shell ignores --init-file, and so does one with
// --norc; in POSIX mode they read none of the user's files but what ENV names: our
// script, which leaves POSIX mode and reads what the shell would have read.
func changeBash(c *change, folder string) {
	script := filepath.Join(folder, "tandemux.bash")
	none := noRC
	if c.does&login != 0 {
		none = noProfile
	}
	if c.does&none != 0 {
		c.set(envFile, "")
	} else if c.rc != "" {
		c.set(envFile, c.rc)
	}
	if c.does&(login|none) != 0 {
		c.insert(1, "--posix")
		c.borrow("ENV", script)
		return
	}
	c.insert(c.after, "--init-file", script) // the last one counts
}

// suitsZsh leaves a zsh -f alone where the system's file sets ZDOTDIR: zsh would read
// the user's files in place of ours.
func suitsZsh(c *change) bool {
	return c.does&noRC == 0 || !slices.ContainsFunc([]string{"/etc/zshenv", "/etc/zsh/zshenv"}, func(path string) bool {
		text, _ := os.ReadFile(path)
		return bytes.Contains(text, []byte("ZDOTDIR"))
	})
}

// changeZsh has zsh look for its startup files in our folder, which has only a
// .zshenv: it restores ZDOTDIR before anything else is read. With -f zsh would not
// read it: the script turns RCS off again.
func changeZsh(c *change, folder string) {
	c.borrow("ZDOTDIR", folder)
	if c.does&noRC != 0 {
		c.set(envFile, "")
		c.Argv = append(c.Argv, "+f")
	}
}

// changeFish runs our script after the user's configuration.
func changeFish(c *change, folder string) {
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(filepath.Join(folder, "tandemux.fish"))
	c.insert(1, "--init-command", "source '"+quoted+"'")
}

// install puts a shell's scripts into a folder of dir named after the contents of all, if
// they are not there yet, and returns it.
func install(dir, shell string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%q is not an absolute path", dir)
	}
	if err := private(dir); err != nil {
		return "", err
	}
	all, err := embedded()
	if err != nil {
		return "", err
	}
	root := filepath.Join(dir, "shell-"+all.sum)
	for name, text := range all.files {
		path := filepath.Join(root, name)
		if !strings.HasPrefix(name, shell+"/") {
			continue
		}
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		// At once, so that a shell that starts now reads the old one or the new one.
		if err := statefile.Replace(path, text); err != nil {
			return "", err
		}
	}
	return root, nil
}

// private makes dir if it is missing, and checks that nobody else may write to
// it or read it: shells run what is in it.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others have access to %s (mode %04o): chmod it to 0700", dir, info.Mode().Perm())
	case ok && int(stat.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to user %d, not to %d", dir, stat.Uid, os.Getuid())
	}
	return nil
}

// embedded returns the scripts by their path in the folder, and a short hash.
var embedded = sync.OnceValues(func() (all struct {
	files map[string][]byte
	sum   string
}, err error,
) {
	all.files = map[string][]byte{}
	hash := sha256.New()
	err = fs.WalkDir(scripts, "script", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scripts.ReadFile(path)
		name := strings.TrimPrefix(path, "script/")
		all.files[name] = text
		fmt.Fprintf(hash, "%s %d\n", name, len(text))
		hash.Write(text)
		return err
	})
	all.sum = hex.EncodeToString(hash.Sum(nil))[:12]
	return all, err
})
