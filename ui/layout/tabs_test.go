package layout

import (
	"strings"
	"testing"
)

// tabsOf is a layout with n tabs of one pane each, the last one active.
func tabsOf(t *testing.T, n int) Layout {
	l := New("main")
	for i := range n {
		l = must(t)(l.NewTab(uri(i)))
	}
	return l
}

func TestGoingThroughTabs(t *testing.T) {
	l := tabsOf(t, 3)
	for _, c := range []struct {
		name string
		got  Layout
		want int
	}{
		{"next goes around", l.NextTab(1), 0},
		{"previous", l.NextTab(-1), 1},
		{"by number", l.GoTab(1), 1},
		{"beyond the last stays", l.GoTab(3), 2},
		{"before the first stays", l.GoTab(-1), 2},
		{"last", l.GoTab(0).LastTab(), 2},
		{"last twice", l.GoTab(0).LastTab().LastTab(), 0},
		{"next of none", New("").NextTab(1).LastTab().FocusNext(1).Zoom().Even(), 0},
	} {
		if c.got.Active != c.want {
			t.Errorf("%s: tab %d, want %d", c.name, c.got.Active, c.want)
		}
		check(t, c.got)
	}
}

func TestCloseTab(t *testing.T) {
	l := tabsOf(t, 4).GoTab(1).GoTab(3)
	ids := func(l Layout) string {
		var out []string
		for i, tab := range l.Tabs {
			id := tab.ID
			if i == l.Active {
				id = "*" + id
			}
			out = append(out, id)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		name string
		got  Layout
		want string
	}{
		{"active goes back to the one before", l.CloseTab(3), "t2 *t4 t6"},
		{"another one leaves it", l.CloseTab(0), "t4 t6 *t8"},
		{"out of range", l.CloseTab(4).CloseTab(-1), "t2 t4 t6 *t8"},
		{"all", l.CloseTab(3).CloseTab(0).CloseTab(0).CloseTab(0), ""},
	} {
		if got := ids(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		check(t, c.got)
	}
	l.Recent = nil
	if got := ids(l.CloseTab(3)); got != "t2 t4 *t6" {
		t.Errorf("without a past: %s", got)
	}
	if got := ids(l.GoTab(0).CloseTab(0)); got != "t4 t6 *t8" {
		t.Errorf("the first: %s", got)
	}
}

func TestNames(t *testing.T) {
	l := tabsOf(t, 1)
	for name, want := range map[string]string{
		" build ":                      "build",
		"a\x1b[31mb\nc":                "a[31mbc",
		"left\u202eright":              "leftright",
		strings.Repeat("é", 100):       strings.Repeat("é", MaxName/2),
		strings.Repeat("a", 127) + "é": strings.Repeat("a", 127),
		"\x80":                         "",
		"日本":                           "日本",
	} {
		l = l.RenameTab(0, name).RenamePane("p1", name)
		if l.Tabs[0].Name != want || l.Tabs[0].Root.Name != want {
			t.Errorf("%q became %q and %q, want %q", name, l.Tabs[0].Name, l.Tabs[0].Root.Name, want)
		}
	}
	if got := l.RenameTab(1, "x").RenameTab(-1, "x").RenamePane("p9", "x"); !got.Equal(l) {
		t.Error("naming what isn't there changed the layout")
	}
}

func TestAppend(t *testing.T) {
	l := floating(t)
	both, err := l.Append(l)
	if err != nil {
		t.Fatal(err)
	}
	check(t, both)
	if len(both.Tabs) != 2 || both.Active != 1 || both.total() != 6 || len(both.Tabs[1].Floats) != 1 || !both.Tabs[1].Floating(both.Tabs[1].Focus) {
		t.Errorf("appended to itself it is %s", both.Encode())
	}
	alone, err := New("x").Append(l)
	check(t, alone)
	if err != nil || alone.Active != 0 || len(alone.Recent) != 0 || alone.Name != "x" {
		t.Errorf("appended to nothing it is %s, %v", alone.Encode(), err)
	}
	for range 6 {
		both, err = both.Append(both)
	}
	check(t, both)
	if err == nil || len(both.Tabs) != MaxTabs {
		t.Errorf("%d tabs, %v", len(both.Tabs), err)
	}
}
