package acptest

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// parts are those of a script.
type parts struct {
	version, caps, auth, session string
	on                           map[string]string
	prompts                      [][]string
}

func (a *scripted) parse(script string) {
	live := true
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		if word == "once" {
			_, err := os.Stat(rest)
			if live = err != nil; live {
				os.WriteFile(rest, nil, 0o600)
			}
			continue
		}
		if word == "task" {
			live = os.Getenv("TANDEMUX_TASK") != ""
			continue
		}
		if word == "always" {
			live = true
			continue
		}
		if line == "" || line[0] == '#' || !live {
			continue
		}
		if n := len(a.prompts); n > 0 && word != "prompt" {
			a.prompts[n-1] = append(a.prompts[n-1], line)
			continue
		}
		switch word {
		case "caps":
			a.caps = rest
		case "auth":
			a.auth = rest
		case "version":
			a.version = rest
		case "session":
			a.session = rest
		case "on":
			method, what, _ := strings.Cut(rest, " ")
			a.on[method] = what
		case "prompt":
			a.prompts = append(a.prompts, nil)
		case "refuse":
			if slices.Contains(os.Args[1:], rest) {
				die("unknown argument: %s", rest)
			}
		case "deaf":
			a.stopListening()
		case "stderr":
			fmt.Fprintln(os.Stderr, rest)
		case "garbage":
			a.garbage(rest)
		case "raw":
			a.write(rest)
		default:
			die("line %q is not understood", line)
		}
	}
}
