package command

import (
	"fmt"
	"slices"
	"strings"
)

// theirs is our commands by tmux's.
var theirs = map[string]string{
	"split-window": "split-down or split-right", "new-window": "new-tab", "select-window": "go-tab", "next-window": "next-tab",
	"previous-window": "previous-tab", "last-window": "last-tab", "kill-window": "close-tab", "rename-window": "rename-tab",
	"move-window": "move-tab", "swap-window": "move-tab-left or move-tab-right", "find-window": "terminals",
	"kill-pane": "close-pane", "select-pane": "focus-left, -down, -up, -right, -next or -pane", "last-pane": "focus-last", "break-pane": "break-out",
	"swap-pane": "swap-next, swap-previous or swap-marked", "resize-pane": "resize-left, -down, -up, -right or zoom", "rotate-window": "rotate",
	"select-layout": "arrange or even", "display-popup": "popup", "move-pane": "join-pane", "switch-client": "switch-layout or layouts",
	"command-prompt": "palette", "display-panes": "pane-numbers", "choose-tree": "layouts or terminals", "choose-session": "layouts",
	"show-messages": "messages", "display-message": "pane-info", "display-menu": "menu",
	"synchronize-panes": "type-to-all", "respawn-pane": "run-again", "detach-client": "detach", "suspend-client": "suspend",
	"refresh-client": "redraw", "rename-session": "rename-layout", "new-session": "layouts", "kill-session": "layouts",
	"kill-server": "stop", "list-keys": "help", "list-buffers": "choose-buffer", "source-file": "reload-config",
}

// flagged is our commands and arguments by tmux's commands, alone or with their first flag. The
// remaining words follow them.
var flagged = map[string]string{
	"split-window": "split-down", "split-window -v": "split-down", "split-window -h": "split-right",
	"select-window -t": "go-tab", "select-window -n": "next-tab", "select-window -p": "previous-tab", "select-window -l": "last-tab",
	"move-window -t": "move-tab", "select-pane -t": "focus-pane", "select-pane -l": "focus-last", "select-pane -m": "mark-pane",
	"select-pane -L": "focus-left", "select-pane -D": "focus-down", "select-pane -U": "focus-up", "select-pane -R": "focus-right",
	"swap-pane": "swap-marked", "swap-pane -U": "swap-previous", "swap-pane -D": "swap-next",
	"resize-pane -L": "resize-left", "resize-pane -D": "resize-down", "resize-pane -U": "resize-up", "resize-pane -R": "resize-right",
	"resize-pane -Z": "zoom", "rotate-window": "rotate up", "rotate-window -U": "rotate up", "rotate-window -D": "rotate down",
	"select-layout": "arrange", "select-layout -E": "even", "select-layout -n": "next-layout", "display-popup -E": "popup",
	"switch-client -n": "switch-layout next", "switch-client -p": "switch-layout previous", "switch-client -l": "switch-layout last",
	"switch-client -t": "layouts",
}

// OfTmux reports whether a name is only tmux's.
func OfTmux(name string) bool {
	_, is := Find(name)
	return theirs[name] != "" && !is
}

// FromTmux translates a line with commands of tmux, also after Then. It returns "" for other
// lines, and for a name alone that may mean several of our commands.
func FromTmux(words []string) (name string, args []string, err error) {
	own, next := Cut(words)
	name, args, err = fromTmux(own)
	if err != nil || len(own) == len(words) {
		return name, args, err
	}
	after, rest, err := FromTmux(next)
	if err != nil || name == "" && after == "" || len(own) == 0 {
		return "", nil, err
	}
	if name == "" {
		name, args = own[0], own[1:]
	}
	if after != "" {
		next = append([]string{after}, rest...)
	}
	return name, slices.Concat(args, []string{Then}, next), nil
}

func fromTmux(words []string) (name string, args []string, err error) {
	if len(words) == 0 || !OfTmux(words[0]) {
		return "", nil, nil
	}
	their, args := words[0], words[1:]
	if len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" {
		their, args = their+" "+args[0], args[1:]
	}
	ours := flagged[their]
	if _, is := Find(theirs[their]); ours == "" && is {
		ours = theirs[their]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		ours = ""
	}
	switch {
	case ours == "" && len(words) == 1:
		return "", nil, nil
	case ours == "":
		return "", nil, fmt.Errorf("%s is not understood here: it is %s", strings.Join(words, " "), theirs[words[0]])
	}
	ourWords := strings.Fields(ours)
	return ourWords[0], append(ourWords[1:], args...), nil
}
