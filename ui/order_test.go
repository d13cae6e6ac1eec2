package ui_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/ui"
	"tandemux/ui/command"
	"tandemux/ui/layout"
)

// order hands a command to the interface as the host does, and gives its answer.
func (u *UI) order(p palette.Params) (done palette.Result, err error) {
	u.t.Helper()
	if p.Channel == "" {
		p.Channel = ahp.LayoutScheme + "/main"
	}
	text, _ := json.Marshal(p)
	answers := 0
	if !u.sink.Asked(palette.MethodOrder, text, func(result any, e error) {
		answers++
		if err = e; err == nil && len(p.Args) > 0 && (p.Command == "switch-layout" || p.Command == "rename-layout") && u.Host.Follows(p.Channel) {
			u.t.Error("it was answered before it was done")
		}
		if r, ok := result.(palette.Result); ok {
			done = r
		}
	}) {
		u.t.Fatal("the interface takes no orders")
	}
	u.WaitIdle()
	if answers != 1 {
		u.t.Fatalf("%s was answered %d times", p.Command, answers)
	}
	return done, err
}

// TestEveryOrder: each command of the palette is done on a layout, or in an interface from
// elsewhere as from its palette: the screen is the same then, or the answer says why not, in
// the words that the palette has for it.
func TestEveryOrder(t *testing.T) {
	if _, err := New(t, Options{}).order(palette.Params{Command: "no-such"}); err == nil || !strings.Contains(err.Error(), "there is no command") {
		t.Errorf("a command that is none: %v", err)
	}
	refused := 0
	for i, c := range command.All() {
		if i%9 > 0 && testing.Short() {
			continue
		}
		if c.Group == "Chats" && c.Name != "chat-send" {
			continue // as TestEveryCommand
		}
		words := strings.Fields(sample(c))
		by := [2]*UI{scene(t, 80, 24), scene(t, 80, 24)}
		for _, u := range by {
			if c.Group == "Copy mode" {
				u.Press("ctrl+space [")
			}
		}
		by[0].Press("ctrl+space :")
		by[0].Paste(sample(c))
		by[0].Press("enter")
		_, err := by[1].order(palette.Params{Command: c.Name, Args: words[1:]})
		switch {
		case err == nil && by[0].Screen() != by[1].Screen():
			t.Errorf("%s shows\n%s\nfrom elsewhere; from the palette\n%s", c.Name, by[1].Screen(), by[0].Screen())
		case err == nil:
		default:
			refused++
			_, why, ok := strings.Cut(err.Error(), ": ")
			if q, _, is := strings.Cut(why, " Say --yes"); is {
				why = q
			}
			if !strings.HasPrefix(err.Error(), c.Name+" asks: ") && !strings.HasPrefix(err.Error(), c.Name+": ") || !ok || !strings.Contains(by[0].Screen(), strings.TrimSpace(why)) {
				t.Errorf("%s is refused with %q; the palette shows\n%s", c.Name, err, by[0].Screen())
			}
		}
	}
	if refused > 40 {
		t.Errorf("%d commands were refused", refused)
	}
	t.Logf("%d refused", refused)
}

// TestEveryDoable: each command is of a layout, or of an interface; those of an interface are
// no longer refused for more than that.
func TestEveryDoable(t *testing.T) {
	all := ui.Doable()
	if len(all) != len(command.All()) {
		t.Errorf("%d of %d commands can be done", len(all), len(command.All()))
	}
	for _, c := range all {
		words := strings.Fields(sample(c))
		err := ui.CheckOrder(words[0], words[1:])
		if _, needs := err.(*ui.NeedsInterfaceError); needs == ui.OnLayout(c) || err != nil && !needs { //nolint:errorlint // it is not wrapped
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// TestOrder: what an interface answers, and what it refuses: another layout's commands, those
// that a key could not be pressed for now, and what would be asked.
func TestOrder(t *testing.T) {
	u := New(t, Options{})
	u.Host.Terminal("sh1").Print("one error here\r\nand more\r\n")
	u.Press("ctrl+space |")
	u.WaitIdle()
	first, second := u.Host.Terminal("sh1").URI, u.Host.Terminal("sh2").URI
	got, err := u.order(palette.Params{Command: "search", Args: []string{"err.r"}, Pane: first})
	if err != nil || got.Terminal != first || got.Pane == "" || got.Tab == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	u.Shows("1/1")
	if got, err := u.order(palette.Params{Command: "search", Args: []string{"nowhere"}}); err != nil || got.Said != `"nowhere" is not there` {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := u.order(palette.Params{Command: "focus-right"}); err != nil || got.Terminal != second {
		t.Errorf("%+v, %v", got, err)
	}
	for why, p := range map[string]palette.Params{
		"this interface shows layout main":    {Command: "help", Channel: ahp.LayoutScheme + "/work"},
		"layout main has no pane p99":         {Command: "copy-mode", Pane: "p99"},
		"resize-left: cells must be a number": {Command: "resize-left", Args: []string{"x"}},
		"neither keepFocus nor with":          {Command: "copy-mode", KeepFocus: true},
		"close-pane asks: end":                {Command: "close-pane"},
		"copy-left: ":                         {Command: "copy-left"},
	} {
		if _, err := u.order(p); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%+v: %v, want %q", p, err, why)
		}
	}
	u.Press("ctrl+space ?")
	before := u.Screen()
	if _, err := u.order(palette.Params{Command: "zoom"}); err == nil || !strings.Contains(err.Error(), "something is open in this interface") || u.Screen() != before {
		t.Errorf("with help open: %v", err)
	}
	if _, err := u.order(palette.Params{Command: "detach"}); err != nil {
		t.Error(err)
	}
	if exit, ended := u.Ended(); !ended || exit.Reason != ui.Detached {
		t.Errorf("it ended: %v, %+v", ended, exit)
	}
}

// TestOrdersOneAfterAnother: a command that comes while the terminal of the one before is being
// made is done after it, as a key would be.
func TestOrdersOneAfterAnother(t *testing.T) {
	u := start(t)
	u.Host.Hold()
	answers := 0
	for _, c := range []string{`"split-right"`, `"split-down"`, `"zoom"`} {
		u.sink.Asked(palette.MethodOrder, json.RawMessage(`{"channel": "x-tandemux-layout:/main", "command": `+c+`}`), func(_ any, err error) {
			if answers++; err != nil {
				t.Errorf("%s: %v", c, err)
			}
		})
		u.WaitIdle()
	}
	if answers != 0 {
		t.Errorf("%d were answered before they were done", answers)
	}
	u.Host.Let()
	u.WaitIdle()
	if n := len(u.Host.Terminals()); n != 3 || answers != 3 {
		t.Errorf("%d terminals and %d answers, want 3 of each", n, answers)
	}
}

// TestOrderToSwitch: one to switch, or to give the layout another name, is answered when the host
// knows that the interface shows the other layout and the one before no more: whoever asks next
// finds it there.
func TestOrderToSwitch(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) {
		h.Other("other", layout.New("other").Encode(), []ahp.URI{h.Add("job", ahp.Claim{}).URI})
	}})
	_, err := u.order(palette.Params{Command: "switch-layout", Args: []string{"next"}})
	if err != nil || u.Host.Follows(ahp.LayoutScheme+"/main") || !u.Host.Follows(ahp.LayoutScheme+"/other") {
		t.Errorf("%v; it follows main: %v", err, u.Host.Follows(ahp.LayoutScheme+"/main"))
	}
	_, err = u.order(palette.Params{Channel: ahp.LayoutScheme + "/other", Command: "rename-layout", Args: []string{"work"}})
	if err != nil || u.Host.Follows(ahp.LayoutScheme+"/other") || !u.Host.Follows(ahp.LayoutScheme+"/work") {
		t.Errorf("renamed: %v; it follows other: %v", err, u.Host.Follows(ahp.LayoutScheme+"/other"))
	}
}

// TestLayoutRenamedByAnother: an interface goes on with its layout under the name that another
// client has given it, and back; it does not end.
func TestLayoutRenamedByAnother(t *testing.T) {
	u := start(t)
	for _, names := range [][2]string{{"main", "home"}, {"home", "main"}} {
		l, err := layout.Decode(u.Host.Layout(names[0]).Doc)
		if err != nil {
			t.Fatal(err)
		}
		l.Name = names[1]
		gone := layout.New(names[0])
		gone.Renamed = names[1]
		u.Host.Other(names[1], l.Encode(), l.Terminals())
		u.Host.Other(names[0], gone.Encode(), nil)
		u.WaitIdle()
		if exit, ended := u.Ended(); ended {
			t.Fatalf("it ended: %+v", exit)
		}
		u.Shows(" "+names[1]+" ", "this layout is called "+names[1]+" now")
		if a, b := shownIn(t, u, names[0]), shownIn(t, u, names[1]); a != 0 || b != 1 {
			t.Errorf("%s shows %d terminals, %s %d", names[0], a, names[1], b)
		}
		u.Type("x")
	}
	typed(t, u, map[string]string{"sh1": "xx"})
}
