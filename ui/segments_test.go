package ui_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ui"
	"tandemux/ui/segments"
)

// gauges is what the machine says in tests.
type gauges struct{ branches, batteries, scripts []string }

func (g *gauges) Branch(_ context.Context, dir ahp.URI) string {
	g.branches = append(g.branches, dir)
	return fmt.Sprint("branch", len(g.branches))
}

func (g *gauges) Battery(context.Context) string {
	g.batteries = append(g.batteries, "")
	return "battery 50%"
}

func (g *gauges) Script(_ context.Context, line string, at segments.Place) string {
	g.scripts = append(g.scripts, line+" "+at.Layout+" "+at.Dir)
	return fmt.Sprint("run\x1b[31m ", len(g.scripts))
}

// TestSegments: what the status line shows of the machine is asked for when it is due, and
// not while nobody looks or nothing shows it.
func TestSegments(t *testing.T) {
	g := &gauges{}
	u := New(t, Options{W: 120, H: 10, Config: func(c *ui.Config) {
		c.Desk.Segments = g
		c.StatusRight = []string{"git", "battery", "script"}
		c.Script, c.Every = "uptime", 15*time.Second
	}})
	u.Read("\x1b[I")
	sees := func(want string) {
		t.Helper()
		u.WaitIdle()
		if got := u.Screen(); !strings.Contains(got, want) {
			t.Errorf("the screen lacks %q:\n%s", want, got)
		}
	}
	asked := func(branches, batteries, scripts int) {
		t.Helper()
		if len(g.branches) != branches || len(g.batteries) != batteries || len(g.scripts) != scripts {
			t.Errorf("asked for %d branches, %d batteries, %d scripts; want %d, %d, %d", len(g.branches), len(g.batteries), len(g.scripts), branches, batteries, scripts)
		}
	}
	u.Advance(time.Second)
	asked(1, 1, 1)
	sees("branch1  battery 50%  run[31m 1")
	if g.scripts[0] != "uptime main "+g.branches[0] || !strings.HasPrefix(g.branches[0], "file:///") {
		t.Errorf("asked about %q, %q", g.scripts[0], g.branches[0])
	}
	u.Type("some keys")
	u.Advance(10 * time.Second)
	asked(1, 1, 1)
	u.Advance(5 * time.Second)
	asked(1, 1, 2)
	sees("run[31m 2")
	u.Advance(46 * time.Second)
	asked(1, 2, 5)

	// A command that ends may have changed the branch; so may what ran elsewhere meanwhile.
	sh := u.Host.Terminal("sh1")
	sh.Run("git switch other", "Switched to branch 'other'", 0)
	u.Advance(time.Second)
	if n := len(g.branches); n < 2 || n > 3 {
		t.Errorf("after a command the branch was asked for %d times", n)
	}
	before := *g
	u.Read("\x1b[O")
	u.Advance(time.Hour)
	if len(g.scripts) != len(before.scripts) || len(g.batteries) != len(before.batteries) {
		t.Errorf("nobody looks, and the script ran %d times", len(g.scripts)-len(before.scripts))
	}
	u.Read("\x1b[I")
	u.WaitIdle()
	asked(len(before.branches)+1, len(before.batteries)+1, len(before.scripts)+1)

	// A line without them asks for nothing.
	before = *g
	quiet := New(t, Options{Config: func(c *ui.Config) { c.Desk.Segments = g }})
	quiet.Advance(time.Hour)
	asked(len(before.branches), len(before.batteries), len(before.scripts))
}

// TestStatusOnTop: the status line at the top, the panes below it, the mouse with them.
func TestStatusOnTop(t *testing.T) {
	u := New(t, Options{W: 60, H: 10, Config: func(c *ui.Config) { c.Position = "top" }})
	u.Press("ctrl+space c", "ctrl+space |")
	u.Golden("status-top")
	u.Read("\x1b[<0;9;1M\x1b[<0;9;1m") // the first tab
	u.WaitIdle()
	if top := strings.SplitN(u.Screen(), "\n", 2)[0]; !strings.Contains(top, "main") {
		t.Errorf("the first row is %q", top)
	}
	u.Type("echo there\r")
	if first := strings.Split(u.Screen(), "\n")[1]; strings.Contains(first, "│") {
		t.Errorf("a click on the first tab shows %q", first)
	}

	// The mouse selects what is under it; a floating pane stays below the line.
	u = New(t, Options{W: 60, H: 12, Host: func(h *Host) { h.Program = silent }, Config: func(c *ui.Config) { c.Position = "top" }})
	u.Host.Terminal("sh1").Print("first\r\nsecond\r\n")
	u.WaitIdle()
	u.Drag(0, 2, 5, 2)
	if got := copied(t, u); got != "second" {
		t.Errorf("a drag over the second row copied %q", got)
	}
	u.Press("ctrl+space f")
	for range 10 {
		u.Press("ctrl+space shift+up")
	}
	if row := u.Row(0); !strings.Contains(row, "main") || strings.ContainsAny(row, "╭─") {
		t.Errorf("the first row is %q", row)
	}
	if row := u.Row(1); !strings.Contains(row, "╭") {
		t.Errorf("the floating pane is not at the top: %q", row)
	}
}
