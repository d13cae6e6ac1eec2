package tmux

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shownCall is a call as text: its name, flags and words.
func shownCall(c call) string {
	var b strings.Builder
	b.WriteString(c.name)
	for f := byte(0); f < 128; f++ {
		for _, v := range c.flags[f] {
			fmt.Fprintf(&b, " -%c", f)
			if v != "" {
				fmt.Fprintf(&b, "=%s", v)
			}
		}
	}
	for _, a := range c.args {
		fmt.Fprintf(&b, " %q", a)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"split-window -d -t %1 -h -l 70% -P -F #{pane_id} -- cat", `split-window -F=#{pane_id} -P -d -h -l=70% -t=%1 "cat"`},
		{"splitw -dPt%1", "split-window -P -d -t=%1"},
		{"split-w", "split-window"},
		{"lsp ; lsw -a", "list-panes | list-windows -a"},
		{"send -t %1 a\\; b; has -t x", `send-keys -t=%1 "a;" "b" | has-session -t=x`},
		{"new-session -d -e A=1 -e B=2 -s x", "new-session -d -e=A=1 -e=B=2 -s=x"},
		{"send-keys -l -- -x", `send-keys -l "-x"`},
		{"; ;", ""},
		{"select", "error: ambiguous command: select"},
		{"frobnicate", "error: unknown command: frobnicate"},
		{"list-panes -Q", "error: command list-panes: unknown flag -Q"},
		{"list-panes -t", "error: command list-panes: -t expects an argument"},
		{"list-panes a", "error: command list-panes: too many arguments (need at most 0)"},
		{"-Z ls", "error: unknown flag -Z"},
	} {
		l, err := parse(strings.Fields(c.line))
		var calls []string
		for _, one := range l.calls {
			calls = append(calls, shownCall(one))
		}
		got := strings.Join(calls, " | ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// TestElsewhere: what is for another tmux is left to that.
func TestElsewhere(t *testing.T) {
	const runtime, ours = "/run/user/1/tandemux", "/run/user/1/tandemux/host.sock,12,0"
	for _, c := range []struct {
		line, env string
		want      bool
	}{
		{"ls", ours, false},
		{"-S /run/user/1/tandemux/host.sock ls", ours, false},
		{"-S /run/user/1/tandemux/../tandemux/host.sock ls", ours, false},
		{"-V", ours, false},
		{"", ours, false},
		{"-L other ls", ours, true},
		{"-S /tmp/tmux-1/default ls", ours, true},
		{"-CC attach", ours, true},
		{"ls", "", true},
		{"ls", "/tmp/tmux-1/default,7,0", true},
		{"ls", "/home/x/host.sock,7,0", true},
	} {
		l, err := parse(strings.Fields(c.line))
		if err != nil && c.line != "-CC attach" {
			t.Fatal(c.line, err)
		}
		if got := elsewhere(l, runtime, c.env); got != c.want {
			t.Errorf("tmux %s with TMUX=%q: elsewhere %v, want %v", c.line, c.env, got, c.want)
		}
	}
}

// TestTable: names are alike only in their beginnings, and flags are getopt's.
func TestTable(t *testing.T) {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
		if c.alias != "" {
			names = append(names, c.alias)
		}
		if strings.Contains(c.flags, "::") || strings.HasPrefix(c.flags, ":") || c.do == nil {
			t.Errorf("%s: flags %q", c.name, c.flags)
		}
	}
	slices.Sort(names)
	if n := len(names); len(slices.Compact(names)) != n {
		t.Error("two commands have one name")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("split-window -d -t %1 -h -- cat ; lsp")
	f.Add("-L x -VV send -lH \\; ;;")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, " ")
		l, err := parse(words)
		if err != nil {
			return
		}
		for _, c := range l.calls {
			if c.do == nil || c.most >= 0 && len(c.args) > c.most {
				t.Errorf("%q: %s", words, shownCall(c))
			}
		}
	})
}
