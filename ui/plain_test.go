package ui_test

import (
	"testing"

	"tandemux/ui"
)

// Marks, badges and the list say the same without colours, with sixteen, and
// without more than ASCII.
func TestPlainTerminals(t *testing.T) {
	for name, env := range map[string][]string{
		"plain-ascii":    {"TERM=xterm", "LANG=C", "HOME=/home/ann"},
		"plain-16":       {"TERM=xterm", "LANG=C.UTF-8", "HOME=/home/ann"},
		"plain-no-color": {"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=/home/ann", "NO_COLOR=1"},
	} {
		u := New(t, Options{Env: env, Host: crowd, Silent: true, Config: func(c *ui.Config) { c.LongCommand = 1 }})
		u.Press("ctrl+space c", "ctrl+space 1")
		u.Host.Terminal("sh2").Begin("make")
		u.Host.Terminal("sh2").End(2, 20_000)
		u.WaitIdle()
		u.Press("ctrl+space w", "up")
		u.GoldenStyled(name)
	}
}
