package shell

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Program is the name of the program that a command line runs, of a pipeline those of
// all its programs; "" where the line alone doesn't tell: it is empty or a list, begins
// with a keyword, or has a name that the shell has yet to expand. Assignments in front are
// skipped, and so are sudo, env and their like where no option follows them.
func Program(line string) string {
	if strings.Contains(line, "\\") {
		return program(line)
	}
	var names []string
	quote, from := rune(0), 0
	for i, c := range line + "|" {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '|':
			name := program(line[from:i])
			if name == "" {
				return ""
			}
			names, from = append(names, name), i+1
		}
	}
	if quote != 0 {
		return program(line)
	}
	return strings.Join(names, " | ")
}

// program is Program of a line that is no pipeline.
func program(line string) string {
	if strings.ContainsAny(line, separators) {
		return ""
	}
	name := ""
	for _, word := range strings.Fields(line) {
		if name != "" && strings.HasPrefix(word, "-") {
			break
		}
		if isAssignment(word) {
			continue
		}
		if name = word; !wrappers[word] {
			break
		}
	}
	if keywords[name] || strings.ContainsAny(name, "$\"'\\{}<>*?[]!#~") {
		return ""
	}
	if name = path.Base(name); name == "." || name == "/" {
		return ""
	}
	return name
}

// separators are between the commands of a list or a pipeline, or stand around it.
const separators = "&|;()`\n"

// FirstProgram is Program of the first command of a list or a pipeline.
func FirstProgram(line string) string {
	if i := strings.IndexAny(line, separators); i >= 0 {
		line = line[:i]
	}
	return program(line)
}

// wrappers run the program that follows.
var wrappers = map[string]bool{
	"sudo": true, "doas": true, "env": true, "time": true, "nohup": true, "exec": true, "command": true, "builtin": true,
}

var keywords = map[string]bool{
	"if": true, "for": true, "while": true, "until": true, "case": true, "select": true, "function": true, "begin": true, "switch": true,
}

// isAssignment reports whether a word is NAME=VALUE.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// Find is the user's shell: the configured one, $SHELL, the passwd
// entry's, or sh.
func Find(configured string) string {
	for _, s := range []string{configured, os.Getenv("SHELL"), fromPasswd("/etc/passwd", os.Getuid())} {
		if info, err := os.Stat(s); err == nil && filepath.IsAbs(s) && !info.IsDir() && info.Mode()&0o111 != 0 {
			return s
		}
	}
	return "/bin/sh"
}

func fromPasswd(path string, uid int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}

// maxAsked bounds the processes that are looked at for one that waits for input.
const maxAsked = 32

// Waits reports whether a process, or one below it, reads a terminal, or, where one edits a
// line, waits for any of several things.
func Waits(pid int, edits bool) bool {
	asked := []string{fmt.Sprint(pid)}
	for i := 0; i < len(asked) && i < maxAsked; i++ {
		at := "/proc/" + asked[i]
		switch wait, _ := os.ReadFile(at + "/wchan"); {
		case string(wait) == "n_tty_read", string(wait) == "wait_woken" && readsTerminal(at):
			return true
		case edits && (strings.Contains(string(wait), "poll") || strings.Contains(string(wait), "select")):
			return true
		}
		children, _ := os.ReadFile(at + "/task/" + asked[i] + "/children")
		asked = append(asked, strings.Fields(string(children))...)
	}
	return false
}

// readsTerminal reports whether the system call that a process, of which at is the directory
// in /proc, is in is of a terminal; where that is not told, whether its input is one.
func readsTerminal(at string) bool {
	fd := 0
	if call, err := os.ReadFile(at + "/syscall"); err == nil {
		var nr int
		if _, err := fmt.Sscanf(string(call), "%d %v", &nr, &fd); err != nil {
			return false
		}
	}
	to, err := os.Readlink(fmt.Sprintf("%s/fd/%d", at, fd))
	return err == nil && (strings.HasPrefix(to, "/dev/pts/") || to == "/dev/tty" || to == "/dev/console")
}
