package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/agent"
)

// Code returns what a command needs besides the system's programs, for Spec.Code: the program as it is
// found in path (a list as in $PATH), the targets of symbolic links, the node or Python package that
// it is part of, the installation whose bin it is in, and its interpreter. Arguments that are absolute
// paths of files are included. It returns nothing that would show a home directory, a root directory,
// or one of hidden as a whole.
func Code(argv []string, path string, hidden ...string) []string {
	c := &code{path: path, hidden: append(hidden, homeDir(), os.Getenv("HOME"))}
	if len(argv) == 0 {
		return nil
	}
	if file := c.find(argv[0]); file != "" {
		c.program(file, 0)
	}
	for _, arg := range argv[1:] {
		if info, err := os.Stat(arg); filepath.IsAbs(arg) && err == nil && info.Mode().IsRegular() {
			c.program(filepath.Clean(arg), 1)
		}
	}
	return c.all
}

// code collects the result of Code.
type code struct {
	path   string
	hidden []string
	all    []string
}

// find returns a program's path, as the host would find it, or "".
func (c *code) find(name string) string {
	if strings.Contains(name, "/") {
		if path, err := filepath.Abs(name); err == nil && executable(path) {
			return path
		}
		return ""
	}
	file, _ := agent.LookPath(name, []string{"PATH=" + c.path})
	return file
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func (c *code) add(paths ...string) {
	for _, p := range paths {
		if systemic(p) || slices.ContainsFunc(c.all, func(have string) bool { return within(have, p) }) {
			continue
		}
		c.all = append(c.all, p)
	}
}

// program adds a program and, up to a bound, its interpreters.
func (c *code) program(file string, depth int) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil || systemic(file) && systemic(real) {
		return
	}
	c.add(file)
	c.add(c.around(real)...)
	if to := interpreter(real); to != "" && depth < 4 {
		if found := c.find(to); found != "" {
			c.program(found, depth+1)
		}
	}
}

// around returns what belongs to a program: its package's directory, its installation, or just the
// file.
func (c *code) around(real string) []string {
	dir := filepath.Dir(real)
	if i := strings.Index(real, "/node_modules/"); i > 0 {
		return []string{real[:i] + "/node_modules"}
	}
	if i := strings.Index(real, "/site-packages/"); i > 0 {
		return []string{real[:i] + "/site-packages", real}
	}
	if all := shims(dir); all != nil {
		return all
	}
	if filepath.Base(dir) != "bin" {
		for at := dir; !c.private(at); at = filepath.Dir(at) {
			for _, marker := range []string{"package.json", "pyproject.toml"} {
				if _, err := os.Stat(filepath.Join(at, marker)); err == nil {
					return []string{at}
				}
			}
		}
		return []string{real}
	}
	all := []string{real}
	if prefix := filepath.Dir(dir); !c.private(prefix) { // its own installation
		for _, name := range []string{"bin", "lib", "lib64", "libexec", "share", "include", "pyvenv.cfg"} {
			if _, err := os.Stat(filepath.Join(prefix, name)); err == nil {
				all = append(all, filepath.Join(prefix, name))
			}
		}
	}
	return all
}

// shims returns what a script of pyenv, rbenv or nodenv needs to find its program: the scripts and the
// installed versions; nil if dir has no such scripts.
func shims(dir string) (all []string) {
	if filepath.Base(dir) != "shims" {
		return nil
	}
	for _, name := range []string{"libexec", "versions", "shims", "version", "plugins"} {
		path := filepath.Join(filepath.Dir(dir), name)
		if _, err := os.Stat(path); err == nil {
			all = append(all, path)
		} else if len(all) < 2 {
			return nil
		}
	}
	return all
}

// private reports whether a directory contains more than one program's files: a root directory, one in
// which people put their programs, or a home or other hidden directory.
func (c *code) private(dir string) bool {
	if slices.Contains([]string{"/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/opt", "/mnt", "/srv"}, dir) {
		return true
	}
	return slices.ContainsFunc(c.hidden, func(hidden string) bool {
		if !filepath.IsAbs(hidden) {
			return false
		}
		real := resolved(hidden)
		return within(dir, real) || dir == filepath.Join(real, ".local") || dir == filepath.Join(real, ".cargo")
	})
}

// interpreter returns the program in the first line of a script; for env, its argument.
func interpreter(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 512).ReadSlice('\n')
	if err != nil || !strings.HasPrefix(string(line), "#!") {
		return ""
	}
	words := strings.Fields(string(line[2:]))
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
				return w
			}
		}
	}
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
