package status_test

import (
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/paint"
	"tandemux/ui/status"
)

func draw(t *testing.T, w int, d status.Data) (string, []status.Hit) {
	t.Helper()
	var c paint.Canvas
	c.Resize(w, 1)
	hits, _ := status.Draw(&c, paint.Rect{W: w, H: 1}, d, look.New(themes.Theme{}, true, true))
	e, err := engine.New("", emulator.Options{Cols: w, Rows: 1})
	if err != nil {
		t.Fatal(err)
	}
	e.Write(paint.NewPainter(paint.Options{}).Frame(nil, &c, paint.Cursor{}))
	return emulator.ScreenText(e), hits
}

func TestBarGivesRoomAway(t *testing.T) {
	d := status.Data{
		Layout: "main", Active: 1, Focused: status.Focused{Badge: "mine", Cwd: "~/src/house/ui"},
		Tabs: []status.Tab{{Name: "vim"}, {Name: "build"}, {Name: "a very long name of a tab that goes on"}},
	}
	for _, c := range []struct {
		w    int
		want string
	}{
		{90, " main  1 vim  2 build  3 a very long name of…                        mine  ~/src/house/ui"},
		{50, " main <2 build >             mine  ~/src/house/ui"},
		{30, " main  2 build  mine …rc/house/ui"},
	} {
		got, _ := draw(t, c.w, d)
		for _, part := range []string{"main", "2 build", "mine"} {
			if !strings.Contains(got, part) {
				t.Errorf("%d cells: %q lacks %q", c.w, got, part)
			}
		}
		if c.w == 90 && strings.TrimRight(got, " ") != c.want {
			t.Errorf("%d cells:\n%q, want\n%q", c.w, got, c.want)
		}
	}
}

func TestBarInAnyWidth(t *testing.T) {
	for w := 1; w < 120; w++ {
		for _, d := range []status.Data{
			{Layout: "main"},
			{Layout: "main", Tabs: []status.Tab{{Name: "日本語"}, {Zoom: true}}, Focused: status.Focused{Badge: "claude: make test", Cwd: "~/日本/語"}},
			{Layout: "main", Tabs: make([]status.Tab, 30), Active: 17, Pending: "ctrl+space", Message: "something went wrong", Kind: status.Error},
			{Layout: "main", Tabs: make([]status.Tab, 3), Mode: "copy", Message: strings.Repeat("long ", 60)},
		} {
			_, hits := draw(t, w, d)
			for i, h := range hits {
				if h.From < 0 || h.To > w || h.From > h.To || i > 0 && h.From < hits[i-1].To || h.Tab >= len(d.Tabs) {
					t.Fatalf("%d cells: tab hits %+v", w, hits)
				}
			}
		}
	}
}

// TestWarningStandsBeforeTheDirectory: what is wrong with the configuration is said
// whole where it has room beside the claim, however long the directory is.
func TestWarningStandsBeforeTheDirectory(t *testing.T) {
	d := status.Data{
		Layout: "main", Tabs: []status.Tab{{Name: "sh"}}, Alarm: true, Hints: []string{"config.toml:2: there is no option \"colour\"", "config.toml:2: the…"},
		Focused: status.Focused{Badge: "mine", Cwd: "~/a/directory/that/has/a/name/as/long/as/many"},
	}
	got, _ := draw(t, 100, d)
	if !strings.Contains(got, d.Hints[0]) || !strings.Contains(got, "mine") {
		t.Errorf("the line is %q", got)
	}
}
