package terminals

import (
	"strings"
	"testing"

	"tandemux/host/params"
)

func TestURIs(t *testing.T) {
	for uri, ok := range map[string]bool{
		"ahp-terminal:/1": true, "terminal:/5C0F-A": true, "x-my.own+scheme:anything?at#all": true, "ahp-terminal:/ü": true,
		"": false, ":": false, "/path": false, "1x:/y": false, "ahp-terminal:": false, "ahp-terminal:/a\nb": false,
		"ahp-root://": false, "AHP-CHAT:/1": false, "x-tandemux-layout:/m": false, "ahp-terminal:/" + strings.Repeat("x", params.MaxURI): false,
		"ahp-terminal:/\xff": false,
	} {
		if err := params.CheckURI(uri); (err == nil) != ok {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

// TestEnvironment: the client's values win, ours are true, and nothing of the
// outer terminal is left.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"TMUX": "x", "TMUX_PANE": "%1", "STY": "1", "TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3", "VTE_VERSION": "7000",
		"LINES": "3", "COLUMNS": "4", "KITTY_WINDOW_ID": "1", "PATH": "/host/bin", "ONLY_HOST": "1", "TERM": "screen",
		"TANDEMUX_PANE": "stale", "TANDEMUX_PANE_COMMAND": "stale",
	} {
		t.Setenv(name, value)
	}
	ts := &Terminals{Options: Options{Runtime: "/run/tandemux", Version: "9"}}
	env := map[string]string{}
	for _, kv := range ts.environ(nil, map[string]string{"PATH": "/client/bin", "LINES": "5", "TMUX": "y", "EMPTY": "", "TANDEMUX_PANE": "ahp-terminal:/0"}, "ahp-terminal:/1", "/work", false) {
		name, value, _ := strings.Cut(kv, "=")
		if _, twice := env[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		env[name] = value
	}
	for name, want := range map[string]string{
		"PATH": "/client/bin", "ONLY_HOST": "1", "EMPTY": "", "TANDEMUX_PANE": "ahp-terminal:/0", "TANDEMUX": "/run/tandemux/host.sock", "TANDEMUX_TERMINAL": "ahp-terminal:/1",
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "tandemux", "TERM_PROGRAM_VERSION": "9", "PWD": "/work",
	} {
		if got, ok := env[name]; !ok || got != want {
			t.Errorf("%s is %q, %v; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"TMUX", "TMUX_PANE", "STY", "VTE_VERSION", "LINES", "COLUMNS", "KITTY_WINDOW_ID", "TANDEMUX_PANE_COMMAND"} {
		if value, ok := env[name]; ok {
			t.Errorf("%s=%s is left", name, value)
		}
	}
}
