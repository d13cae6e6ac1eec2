package tmux

import (
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ui/layout"
)

// example is a world of two layouts: "main" has a tab with the leader and two teammates, and
// one with a shell; "side" has one pane. The command runs in the leader's.
func example(t testing.TB) world {
	t.Helper()
	var all []ahp.TerminalInfo
	add := func(id string) ahp.URI {
		uri := ahp.TerminalScheme + "/" + id
		all = append(all, ahp.TerminalInfo{Resource: uri, Title: id, Meta: &ahp.TerminalMeta{Pid: 7, Cwd: "file:///srv/code"}})
		return uri
	}
	must := func(l layout.Layout, _ layout.PaneID, err error) layout.Layout {
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	area := layout.Rect{W: 100, H: 31}
	main := must(layout.New("main").NewTab(add("leader")))
	main = must(main.Split(area, "p1", layout.Right, add("one")))
	main = must(main.Split(area, "p3", layout.Down, add("two")))
	main = main.RenamePane("p3", "researcher").RenameTab(0, "team").FocusPane("p1")
	main = must(main.NewTab(add("shell"))).GoTab(0)
	side := must(layout.New("side").NewTab(add("elsewhere")))
	gone, zero := add("gone"), 0
	all[len(all)-1].Lifecycle = ahp.Lifecycle{Status: ahp.StatusExited, ExitCode: &zero}
	side = must(side.NewTab(gone))
	w := see([]layout.Layout{main, side}, []string{"main", "side"}, all, "")
	w.own = w.sessions[0].windows[0].panes[0].id
	return w
}

func TestExpand(t *testing.T) {
	w := example(t)
	at, err := w.here()
	if err != nil {
		t.Fatal(err)
	}
	v := view{at, layout.Rect{W: 100, H: 31}}
	for _, c := range []struct{ format, want string }{
		{"#{session_name}:#{window_index}.#{pane_index}", "main:1.0"},
		{"#S:#I #W #P #T ##", "main:1 team 0 leader #"},
		{"#{pane_width}x#{pane_height} #{window_width}x#{window_height}", "50x30 100x31"},
		{"#{pane_left} #{pane_top} #{pane_right} #{pane_bottom}", "0 1 49 30"},
		{"#{?pane_active,yes,no} #{?pane_dead,dead,} #{?#{==:#{pane_index},0},first,later}", "yes  first"},
		{"#{&&:#{pane_active},#{pane_dead}} #{||:#{pane_active},#{pane_dead}} #{!=:a,b}", "0 1 1"},
		{"#{b:pane_current_path} #{d:pane_current_path} #{=2:window_name} #{=-2:window_name} #{l:#S}", "code /srv te am #S"},
		{"#[fg=red,bold] #{pane_title} #[default]", " leader "},
		{"#{window_panes} #{session_windows} #{pane_pid} #{client_control_mode}", "3 2 7 0"},
		{"100%", "100%"},
		{"#{pane_mode}", "error: format #{pane_mode} is not known here"},
		{"#{pane_id", "error: a } is missing"},
		{"#(date)", "error: format #( is not known here"},
		{"#{?pane_active}", "error: want a condition"},
		{"#{t:pane_id}", "error: format #{t:…} is not known here"},
		{strings.Repeat("#{?pane_active,", 60) + strings.Repeat("}", 60), "error: more than 50"},
	} {
		got, err := v.expand(c.format, 0)
		if want, fails := strings.CutPrefix(c.want, "error: "); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", c.format, err, want)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.format, got, err, c.want)
		}
	}
}

func TestTargets(t *testing.T) {
	w := example(t)
	main, side := w.sessions[0], w.sessions[1]
	two := main.windows[0].panes[2].id
	for _, c := range []struct{ target, want string }{
		{"", "leader"},
		{two, "two"},
		{main.windows[1].id, "shell"},
		{main.windows[0].id + ".1", "one"},
		{side.id, "elsewhere"},
		{"side", "elsewhere"},
		{"si", "elsewhere"},
		{"=side:", "elsewhere"},
		{":2", "shell"},
		{"main:team.2", "two"},
		{"main:1." + two, "two"},
		{"team", "leader"},
		{"team.1", "one"},
		{"2", "two"},
		{"=si", "error: can't find session: si"},
		{"nope", "error: can't find session: nope"},
		{"main:7", "error: can't find window: 7"},
		{"main:1.7", "error: can't find pane: 7"},
		{"%7", "error: can't find pane: %7"},
		{"@7", "error: can't find window: @7"},
		{"{last}", "error: tokens in braces"},
	} {
		at, err := w.target(c.target)
		if want, fails := strings.CutPrefix(c.want, "error: "); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want error %q", c.target, err, want)
			}
		} else if err != nil || at.pane.terminal.Title != c.want {
			t.Errorf("%s: %+v, %v; want %s", c.target, at.pane, err, c.want)
		}
	}
	if n := len(side.windows); n != 1 {
		t.Errorf("%d windows: a program that ended well leaves none", n)
	}
	w.own = "%0"
	if _, err := w.target(""); err == nil {
		t.Error("a pane that no layout shows was found")
	}
}

// TestWide: a pane gets the cells that are asked for, or as many as there are.
func TestWide(t *testing.T) {
	w, area := example(t), layout.Rect{W: 100, H: 31}
	l := w.sessions[0].layout
	for _, c := range []struct {
		pane layout.PaneID
		axis layout.Axis
		want int
		got  [2]int // of the pane
	}{
		{"p1", layout.Row, 30, [2]int{30, 30}},
		{"p1", layout.Row, 70, [2]int{70, 30}},
		{"p3", layout.Row, 69, [2]int{69, 15}},
		{"p4", layout.Column, 5, [2]int{49, 5}},
		{"p3", layout.Column, 5, [2]int{49, 5}},
		{"p1", layout.Row, 1000, [2]int{97, 30}},
		{"p1", layout.Column, 5, [2]int{50, 30}},
	} {
		next := wide(l, area, c.pane, c.axis, c.want)
		p, _ := next.Tabs[0].Arrange(area).Pane(c.pane)
		if got := [2]int{p.Body.W, p.Body.H}; got != c.got {
			t.Errorf("%s %s %d: %v, want %v", c.pane, c.axis, c.want, got, c.got)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("#{?#{==:#{pane_index},0},#{b:pane_current_path},#[fg=red]x}", "main:1.0")
	f.Add("#{=-3:pane_title}##,#}", "{last}")
	w := example(f)
	at, err := w.here()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, format, target string) {
		view{at, layout.Rect{W: 100, H: 31}}.expand(format, 0) //nolint:errcheck // it must end, and not panic
		if found, err := w.target(target); err == nil && found.pane == nil {
			t.Errorf("%q leads nowhere", target)
		}
	})
}
