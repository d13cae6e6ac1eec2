package layoutfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/endpoint"
	"tandemux/ui/layout"
)

const layoutExample = `
[[tab]]
name = "edit"
split = "row"
  [[tab.pane]]
  size = 2
  command = ["vim", "a b.go"]
  cwd = "~/src"
  [[tab.pane]]
  split = "column"
    [[tab.pane.pane]]
    name = "log"
    [[tab.pane.pane]]
    focus = true
  [[tab.float]]
  place = [12.5, 10, 50, 33.33]

[[tab]]
active = true
  [[tab.pane]]
`

// load makes a layout of a file, with the panes that it starts.
func load(t *testing.T, doc string) (layout.Layout, map[ahp.URI]Pane, error) {
	t.Helper()
	f, err := Parse(strings.NewReader(doc))
	if err != nil {
		return layout.Layout{}, nil, err
	}
	opened := map[ahp.URI]Pane{}
	ld := Loading{Open: func(p Pane) ahp.URI {
		uri := endpoint.NewTerminalURI()
		opened[uri] = p
		return uri
	}}
	l, err := ld.Tabs(f)
	return l, opened, err
}

func TestLayoutFile(t *testing.T) {
	l, opened, err := load(t, layoutExample)
	if err != nil {
		t.Fatal(err)
	}
	panes := l.Tabs[0].Panes()
	if len(l.Tabs) != 2 || l.Active != 1 || len(panes) != 4 || l.Tabs[0].Focus != panes[2].Pane || opened[panes[1].Terminal].Name != "log" {
		t.Errorf("it is %s", l.Encode())
	}
	if p := opened[panes[0].Terminal]; !reflect.DeepEqual(p.Command, []string{"vim", "a b.go"}) || p.Cwd != "~/src" {
		t.Errorf("the first pane starts %+v", p)
	}
	// What is saved of it loads as the same, again and again.
	s := Saving{Describe: func(uri ahp.URI) Pane {
		return Pane{Name: opened[uri].Name, Cwd: opened[uri].Cwd, Command: opened[uri].Command}
	}}
	doc, err := s.File(l).Format()
	if err != nil {
		t.Fatal(err)
	}
	l, opened, err = load(t, string(doc))
	if err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	again, err := s.File(l).Format()
	if err != nil || string(again) != string(doc) {
		t.Errorf("%v; saved again\n%s\nit was\n%s", err, again, doc)
	}
	if f := l.Tabs[0].Floats; len(f) != 1 || f[0].X != 1250 || f[0].H != 3333 {
		t.Errorf("floats %+v", f)
	}
}

func TestLayoutFileSaysWhatIsWrong(t *testing.T) {
	for doc, want := range map[string]string{
		"":                    "it has no [[tab]]",
		"[[tab]]":             "tab 1: a split has no [[pane]]",
		"[[tab]]\ncolour = 1": `line 2: "tab.colour" means nothing in a layout`,
		"[[tab]]\nname = 1":   "line 2: ",
		"[[tab":               "line 1: ",
		"[[tab]]\nsplit = \"x\"\npane = [{}, {}]":                                                `axis is "x"`,
		"[[tab]]\npane = [{}, {size = 99999999}]":                                                "weight 99999999 is not within",
		"[[tab]]\nsplit = \"stack\"\npane = [{}, {pane = [{}, {}]}]":                             "a stack has panes alone",
		"[[tab]]\npane = [{}, {split = \"row\"}]":                                                "a split has no [[pane]]",
		"[[tab]]\npane = [{}, {cwd = \"/\", pane = [{}, {}]}]":                                   "belong to those",
		"[[tab]]\npane = [{}]\nfloat = [{place = [1, 2, 3]}]":                                    "left, top, width and height",
		"[[tab]]\npane = [{}]\nfloat = [{place = [1, 2, 3, nan]}]":                               "NaN in a float's place",
		"[[tab]]\npane = [{}]\nfloat = [{pane = [{}]}]":                                          "a float can't be split",
		"[[tab]]\npane = [{" + strings.Repeat("pane = [{", 40) + strings.Repeat("}]", 40) + "}]": "levels deep",
		"# " + strings.Repeat("x", layout.MaxBytes):                                              "larger than 256 KiB",
	} {
		if _, _, err := load(t, doc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", doc, err, want)
		}
	}
}

// TestRandomLayoutsComeBack: what is saved of a layout loads as the same tabs, splits,
// sizes, floats, names and focus, and what of it shows.
func TestRandomLayoutsComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	area := layout.Rect{W: 200, H: 60}
	for range 200 {
		l := layout.New("main")
		made := 0
		uri := func() string { made++; return fmt.Sprintf("ahp-terminal:/%d", made) }
		l, _, _ = l.NewTab(uri())
		for range random.IntN(25) {
			tab, _ := l.Tab()
			panes := tab.Panes()
			at := panes[random.IntN(len(panes))].Pane
			var next layout.Layout
			var err error
			switch random.IntN(13) {
			case 0:
				next, _, err = l.NewTab(uri())
			case 1:
				next, _, err = l.NewFloat(uri())
			case 2:
				next = l.Resize(area, at, layout.Direction(random.IntN(4)), random.IntN(20))
			case 3:
				next = l.RenameTab(random.IntN(len(l.Tabs)), fmt.Sprintf("tab \"%d'\\", made))
			case 4:
				next = l.PlaceFloat(area, at, layout.Rect{X: random.IntN(100), Y: random.IntN(40), W: random.IntN(90), H: random.IntN(30)})
			case 5:
				next = l.FocusPane(at)
			case 6:
				next = l.Zoom()
			case 7:
				next = l.HideFloats()
			case 8:
				next, err = l.Stack(area, at)
			case 9:
				next, _, err = l.NewStacked(area, at, uri())
			default:
				next, _, err = l.Split(area, at, layout.Direction(random.IntN(4)), uri())
			}
			if err == nil {
				l = next
			}
		}
		describe := func(u ahp.URI) Pane { return Pane{Name: "pane " + u, Cwd: "/" + u, Command: []string{"cat", u}} }
		f := Saving{Describe: describe}.File(l)
		doc, err := f.Format()
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse(bytes.NewReader(doc))
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		ld := Loading{Open: func(p Pane) ahp.URI { return p.Command[1] }}
		back, err := ld.Tabs(read)
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if was, is := drawn(l, area), drawn(back, area); was != is {
			t.Fatalf("this came back\n%s\nas\n%s\nby\n%s", was, is, doc)
		}
	}
}

// drawn says where everything of a layout is.
func drawn(l layout.Layout, area layout.Rect) string {
	text := fmt.Sprintf("tab %d of %d is active\n", l.Active, len(l.Tabs))
	for _, t := range l.Tabs {
		text += fmt.Sprintf("%q %v %v\n", t.Name, t.Zoom, t.Hidden)
		a := t.Arrange(area)
		for _, p := range append(a.Panes, a.Bars...) {
			text += fmt.Sprintf("%s %+v %+v %v\n", p.Terminal, p.Body, p.Frame, p.Focused)
		}
	}
	return text
}
