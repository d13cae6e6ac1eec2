package command

import (
	"strings"
	"testing"
)

// Each command of tmux's that is known with a flag is one of ours.
func TestFromTmux(t *testing.T) {
	for their := range flagged {
		words := strings.Fields(their)
		ours, args, err := FromTmux(words)
		if _, is := Find(ours); !is || err != nil || theirs[words[0]] == "" {
			t.Errorf("%s: %s %q, %v", their, ours, args, err)
		}
	}
	for line, want := range map[string]string{
		"split-window -h -- htop -d 5": "split-right htop -d 5", "rotate-window": "rotate up", "kill-pane": "close-pane",
		"next-window x": "next-tab x", "select-window": "go-tab", "select-pane": "", "choose-tree": "", "split-right -h": "", "zoom": "",
		"zoom ; split-window -h -- htop": "zoom ; split-right htop", "kill-pane ; zoom": "close-pane ; zoom", "zoom ; even": "",
		"split-window -h ; new-window ;": "split-right ; new-tab ;", "; kill-pane": "", "zoom ; split-window -h -d": "!",
		"split-window -h -d": "!", "kill-pane -a": "!", "choose-tree -Z": "!",
	} {
		ours, args, err := FromTmux(strings.Fields(line))
		got := strings.Join(append([]string{ours}, args...), " ")
		if err != nil {
			got = "!"
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, %v; want %q", line, got, err, want)
		}
	}
}
