package status_test

import (
	"strings"
	"testing"

	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/paint"
	"tandemux/ui/status"
)

// full has something to say in every segment.
var full = status.Data{
	Layout: "main", Active: 1, Tabs: []status.Tab{{Name: "vim"}, {Name: "build"}}, Host: "box",
	Focused: status.Focused{
		Title: "make", Pane: 2, Panes: 4, Cols: 80, Rows: 23, Scroll: 12, History: 300,
		Badge: "mine", Command: "ok 1.5s", Cwd: "~/src",
	},
	Time: "12:34", Date: "2026-11-20", Pending: "ctrl+space", Mode: "copy",
	Alert: "! 3: bell", Clients: 5, Asked: status.Asked{Git: "trunk*", Script: "3 users", Battery: "battery 83%"},
}

// says is what each segment shows of full.
var says = map[string]string{
	"layout": "main", "tabs": "2 build", "prefix": "ctrl+space", "mode": "copy", "title": "make", "claim": "mine", "command": "ok 1.5s",
	"cwd": "~/src", "host": "box", "panes": "2/4", "size": "80x23", "scroll": "12/300", "time": "12:34", "date": "2026-11-20",
	"attention": "! 3: bell", "clients": "5 clients",
	"git": "trunk*", "script": "3 users", "battery": "battery 83%",
}

// TestEverySegment shows each alone, on either side.
func TestEverySegment(t *testing.T) {
	for _, seg := range status.Segments() {
		want, ok := says[seg.Name]
		if !ok {
			t.Errorf("%s is not tested", seg.Name)
			continue
		}
		for side, list := range [2][2][]string{{{seg.Name}, {}}, {{}, {seg.Name}}} {
			line, err := status.Compose(list[0], list[1])
			if err != nil {
				t.Fatal(err)
			}
			d := full
			d.Line = line
			got, hits := draw(t, 60, d)
			if !strings.Contains(got, want) {
				t.Errorf("%s shows %q, want %q", seg.Name, got, want)
			}
			if left := strings.HasPrefix(got, " "+want) || strings.HasPrefix(got, " 1 vim  2"); left != (side == 0) {
				t.Errorf("%s on side %d shows %q", seg.Name, side, got)
			}
			for other, text := range says {
				if other != seg.Name && strings.Contains(got, text) {
					t.Errorf("%s shows %q, which is of %s", seg.Name, got, other)
				}
			}
			if (len(hits) == 2) != (seg.Name == "tabs") {
				t.Errorf("%s gives hits %v", seg.Name, hits)
			}
			// Nothing to say takes no room.
			if got, _ = draw(t, 60, status.Data{Line: line}); strings.TrimSpace(got) != "" {
				t.Errorf("%s shows %q of nothing", seg.Name, got)
			}
		}
	}
	if n := len(status.Segments()); n != len(says) {
		t.Errorf("%d segments, %d tested", n, len(says))
	}
}

func TestCompose(t *testing.T) {
	line, err := status.Compose([]string{"prefix|layout"}, []string{"time", "tabs", "host"})
	if err != nil || !line.Has("time") {
		t.Fatalf("has the time %v, %v", line.Has("time"), err)
	}
	d := full
	d.Line = line
	if got, _ := draw(t, 50, d); strings.TrimRight(got, " ") != " ctrl+space            12:34  1 vim  2 build  box" {
		t.Errorf("shows %q", got)
	}
	d.Pending = ""
	got, hits := draw(t, 50, d)
	if strings.TrimRight(got, " ") != " main                  12:34  1 vim  2 build  box" {
		t.Errorf("shows %q", got)
	}
	for _, h := range hits {
		if label := got[h.From:h.To]; label != [2]string{" 1 vim ", " 2 build "}[h.Tab] {
			t.Errorf("tab %d is at %q", h.Tab, label)
		}
	}
	if line, _ := status.Compose(status.Left, status.Right); line.Has("time", "date") {
		t.Error("the default line ticks")
	}
	for _, c := range []struct {
		left, right []string
		want        string
	}{
		{[]string{"layuot"}, nil, `there is no segment "layuot"; there are layout, tabs`},
		{[]string{"tabs"}, []string{"tabs"}, "tabs can be shown once only"},
		{[]string{"mode|tabs"}, nil, "can't share a place"},
		{make([]string, 33), nil, "at most 32"},
		{[]string{""}, nil, `there is no segment ""`},
	} {
		if _, err := status.Compose(c.left, c.right); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: %v, want %s", c.left, c.right, err, c.want)
		}
	}
}

// TestComposedInAnyWidth: all segments at once leave the line in order in every
// width, with the claim before the rest.
func TestComposedInAnyWidth(t *testing.T) {
	line, err := status.Compose(
		[]string{"prefix", "mode", "layout", "tabs", "title"},
		[]string{"command", "claim", "cwd", "host", "panes", "size", "scroll", "time", "date"})
	if err != nil {
		t.Fatal(err)
	}
	d := full
	d.Line = line
	for w := 1; w < 200; w++ {
		got, hits := draw(t, w, d)
		for i, h := range hits {
			if h.From < 0 || h.To > w || h.From > h.To || i > 0 && h.From < hits[i-1].To {
				t.Fatalf("%d cells: hits %+v", w, hits)
			}
		}
		if w >= 80 && !strings.Contains(got, "mine") || w >= 180 && !strings.HasSuffix(strings.TrimRight(got, " "), "ok 1.5s  mine  ~/src  box  2/4  80x23  12/300  12:34  2026-11-20") {
			t.Errorf("%d cells: %q", w, got)
		}
	}
}

// TestHints: the longest hint that leaves everything else its place, or in that of
// the right side.
func TestHints(t *testing.T) {
	d := status.Data{Layout: "main", Tabs: []status.Tab{{Name: "sh"}}, Focused: status.Focused{Badge: "mine"}, Hints: []string{"press ctrl+space and wait", "ctrl+space ?"}}
	for w, want := range map[int]string{
		60: "press ctrl+space and wait  mine", 38: "1 sh        ctrl+space ?  mine", 28: "1 sh    ctrl+space ?", 20: "mine",
	} {
		if got, _ := draw(t, w, d); !strings.HasSuffix(strings.TrimRight(got, " "), want) || !strings.Contains(got, "1 sh") {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
	d.Cwd = "/a/directory/of/many/parts/far/away"
	if got, _ := draw(t, 60, d); !strings.Contains(got, "ctrl+space ?  mine  …") {
		t.Errorf("a long directory does not give way: %q", got)
	}
	d.Message = "done"
	if got, _ := draw(t, 60, d); !strings.Contains(got, " done  mine ") || strings.Contains(got, "press") {
		t.Errorf("a message does not come before a hint: %q", got)
	}
}

func BenchmarkDraw(b *testing.B) {
	var c paint.Canvas
	c.Resize(200, 1)
	l := look.New(themes.Theme{}, true, true)
	b.ReportAllocs()
	for b.Loop() {
		status.Draw(&c, paint.Rect{W: 200, H: 1}, full, l)
	}
}
