package ui_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/leak"
	"tandemux/ui"
	"tandemux/ui/command"
	"tandemux/ui/layout"
)

func TestMain(m *testing.M) { leak.Main(m) }

func start(t *testing.T) *UI {
	t.Helper()
	return New(t, Options{})
}

// small is a window of 40×12.
func small(t *testing.T) *UI {
	t.Helper()
	return New(t, Options{W: 40, H: 12})
}

// tab is the active tab as the host has it.
func tab(t *testing.T, u *UI) (layout.Layout, layout.Tab) {
	t.Helper()
	l, err := layout.Decode(u.Host.Layout("main").Doc)
	if err != nil {
		t.Fatalf("the host's layout: %v", err)
	}
	tab, ok := l.Tab()
	if !ok {
		t.Fatal("the host's layout has no tab")
	}
	return l, tab
}

// focusTitle is the title of the focused pane's terminal.
func focusTitle(t *testing.T, u *UI) string {
	t.Helper()
	_, tb := tab(t, u)
	for _, name := range u.Host.Terminals() {
		if u.Host.Terminal(name).URI == tb.Focused().Terminal {
			return name
		}
	}
	return ""
}

func TestEveryCommandHasAnAction(t *testing.T) {
	have := start(t).Model.Actions()
	for _, c := range command.All() {
		if !slices.Contains(have, c.Name) && c.Group != "Chats" { // which package chat has
			t.Errorf("command %s does nothing", c.Name)
		}
	}
	for _, name := range have {
		if _, ok := command.Find(name); !ok {
			t.Errorf("action %s is no command", name)
		}
	}
}

func TestFirstPane(t *testing.T) {
	u := start(t)
	u.Golden("first")
	u.Type("echo hi")
	u.Shows("$ echo hi")
	if got := u.Host.Terminal("sh1").Typed(); got != "echo hi" {
		t.Errorf("typed %q", got)
	}
	if cols, rows := u.Host.Terminal("sh1").Size(); cols != 80 || rows != 23 {
		t.Errorf("the terminal is %dx%d", cols, rows)
	}
	small(t).Golden("first-small")
}

func TestSplits(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	u.Golden("split")
	u.Press("ctrl+space -")
	u.Type("third")
	u.GoldenStyled("split-twice")
	for name, want := range map[string][2]int{"sh1": {40, 22}, "sh2": {39, 11}, "sh3": {39, 10}} {
		cols, rows := u.Host.Terminal(name).Size()
		if cols != want[0] || rows < want[1]-1 || rows > want[1]+1 {
			t.Errorf("%s is %dx%d, want %v", name, cols, rows, want)
		}
	}
	u = small(t)
	u.Press("ctrl+space |", "ctrl+space -")
	u.Golden("split-small")
}

func TestNoRoomToSplitSaysSo(t *testing.T) {
	u := New(t, Options{W: 3, H: 4})
	u.Press("ctrl+space |", "ctrl+space |", "ctrl+space |")
	if n := len(u.Host.Terminals()); n > 2 {
		t.Errorf("%d terminals in 3 columns", n)
	}
	u.Resize(80, 24)
	u.Resize(5, 24)
	u.Press("ctrl+space |", "ctrl+space |", "ctrl+space |")
	u.Resize(80, 24)
	u.Shows("Split right: this pane is too narrow to split")
}

func TestFocus(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space -")
	for _, step := range []struct{ keys, want string }{
		{"ctrl+space h", "sh1"},
		{"ctrl+space l", "sh3"},
		{"ctrl+space k", "sh2"},
		{"ctrl+space j", "sh3"},
		{"ctrl+space left", "sh1"},
		{"ctrl+space o", "sh2"},
		{"ctrl+space ;", "sh1"},
	} {
		u.Press(step.keys)
		if got := focusTitle(t, u); got != step.want {
			t.Errorf("after %s the focus is on %s, want %s", step.keys, got, step.want)
		}
	}
	u.Press("ctrl+space k")
	u.Shows("Focus up: no pane above")
	u.Type("here")
	if got := u.Host.Terminal("sh1").Typed(); got != "here" {
		t.Errorf("the focused pane got %q", got)
	}
}

func TestResizePanes(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	// The prefix may be left out while the key is repeated.
	u.Press("ctrl+space H", "H", "H")
	if cols, _ := u.Host.Terminal("sh2").Size(); cols != 45 {
		t.Errorf("after three steps to the left the right pane has %d columns", cols)
	}
	u.Advance(time.Second)
	u.Press("H")
	if got := u.Host.Terminal("sh2").Typed(); got != "H" {
		t.Errorf("long after, H types %q", got)
	}
	u.Press("ctrl+space =")
	if cols, _ := u.Host.Terminal("sh2").Size(); cols != 39 && cols != 40 {
		t.Errorf("evened out the right pane has %d columns", cols)
	}
}

func TestZoom(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space z")
	u.Golden("zoom")
	if cols, rows := u.Host.Terminal("sh2").Size(); cols != 80 || rows != 23 {
		t.Errorf("zoomed it is %dx%d", cols, rows)
	}
	u.Press("ctrl+space z")
	u.Shows("│")
	if cols, _ := u.Host.Terminal("sh2").Size(); cols == 80 {
		t.Error("the size of the zoom stays")
	}
}

func TestArrangements(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space |", "ctrl+space space")
	_, before := tab(t, u)
	u.Press("ctrl+space space")
	_, after := tab(t, u)
	if before.Preset == after.Preset {
		t.Errorf("the arrangement stays %q", after.Preset)
	}
	u.Press("ctrl+space :")
	u.Type("arrange tiled\r")
	if _, tb := tab(t, u); tb.Preset != layout.Tiled {
		t.Errorf("the arrangement is %q", tb.Preset)
	}
	u.Press("ctrl+space <")
	u.Press("ctrl+space >")
	u.Press("ctrl+space !")
	if l, _ := tab(t, u); len(l.Tabs) != 2 {
		t.Errorf("%d tabs after breaking out", len(l.Tabs))
	}
}

func TestClosePane(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space x")
	u.Golden("close-asks")
	u.Press("n")
	u.Hides("y/n")
	u.Press("ctrl+space x", "y")
	if got := u.Host.Terminals(); !slices.Equal(got, []string{"sh1"}) {
		t.Errorf("terminals %v", got)
	}
	u.Hides("│", "sh2")
	u.Press("ctrl+space x", "y")
	exit, quit := u.Ended()
	if !quit || exit.Reason != ui.Emptied || exit.Note == "" {
		t.Errorf("ended %v with %+v", quit, exit)
	}
	if l := u.Host.Layout("main"); len(l.Terminals) != 0 {
		t.Errorf("the layout still shows %v", l.Terminals)
	}
}

func TestRename(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space ,")
	u.Type("build")
	u.Golden("rename-pane")
	u.Press("enter", "ctrl+space .")
	u.Paste("server\nlogs")
	u.Press("enter")
	u.Shows("─ build: sh2 ─", "1 server logs")
	if name := u.Host.Terminal("build").Name(); name != "build" {
		t.Errorf("the terminal's name is %q", name)
	}
	u.Press("ctrl+space ,", "ctrl+u", "enter")
	u.Shows("─ sh2 ─")
	u.Press("ctrl+space .")
	u.Type("x")
	u.Press("esc")
	u.Shows("1 server logs ")
}

func TestTabs(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space c")
	u.Golden("tabs")
	for _, step := range []struct{ keys, want string }{
		{"ctrl+space p", "sh2"},
		{"ctrl+space n", "sh3"},
		{"ctrl+space n", "sh1"},
		{"ctrl+space tab", "sh3"},
		{"ctrl+space 2", "sh2"},
	} {
		u.Press(step.keys)
		if got := focusTitle(t, u); got != step.want {
			t.Errorf("after %s %s shows, want %s", step.keys, got, step.want)
		}
	}
	u.Press("ctrl+space 7")
	u.Shows("there is no tab 7")
	u.Click(8, 23)
	if got := focusTitle(t, u); got != "sh1" {
		t.Errorf("a click on the first tab shows %s", got)
	}
	u.Press("ctrl+space X", "y")
	if got := u.Host.Terminals(); !slices.Equal(got, []string{"sh2", "sh3"}) {
		t.Errorf("terminals %v", got)
	}
}

func TestManyTabsFit(t *testing.T) {
	u := small(t)
	for range 7 {
		u.Press("ctrl+space c")
	}
	u.Golden("many-tabs-small")
	u.Press("ctrl+space 1")
	if row := u.Row(-1); !strings.Contains(row, "1 sh1") || !strings.Contains(row, ">") {
		t.Errorf("status line %q", row)
	}
}

func TestPrefix(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space")
	u.Shows("ctrl+space")
	u.Hides("Split right")
	u.Advance(600 * time.Millisecond)
	u.GoldenStyled("hint")
	// Nothing is left out: what does not fit is on another page.
	all := u.Screen()
	for range 5 {
		if !strings.Contains(u.Screen(), " more\n") {
			break
		}
		u.Press("pgdown")
		all += u.Screen()
	}
	for _, want := range []string{"n Next tab", "p Previous tab", "] Paste", "k Focus up", "C All commands", "Swap with the previous pane"} {
		if !strings.Contains(all, want) {
			t.Errorf("no page has %q", want)
		}
	}
	u.Shows("back to the first")
	u.Press("pgdown")
	u.Shows("Split right")
	u.Press("esc")
	u.Hides("Split right", "ctrl+space")
	u.Press("ctrl+space Z")
	u.Shows("ctrl+space Z is bound to nothing")
	u.Press("ctrl+space ctrl+space")
	if got := u.Host.Terminal("sh1").Typed(); got != "\x00" {
		t.Errorf("the prefix twice types %q", got)
	}
	u = small(t)
	u.Press("ctrl+space")
	u.Advance(600 * time.Millisecond)
	u.Golden("hint-small")
}

func TestMessagesGoAway(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space k")
	u.Shows("no pane above")
	u.Advance(5 * time.Second)
	u.Hides("no pane above")
	u.Press("ctrl+space k")
	u.Type("x")
	u.Hides("no pane above")
}

// The help filters by what is typed; nothing of it reaches the program, and only Esc
// leaves.
func TestHelp(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space ?")
	u.Golden("help")
	u.Press("end")
	u.Golden("help-more")
	u.Type("qquit")
	u.Shows("› qquit", "nothing matches")
	u.Press("ctrl+u")
	u.Type("previous tab")
	u.Shows("p  Previous tab")
	u.Hides("Split right", "nothing matches")
	u.Press("esc")
	u.Hides("Previous tab")
	u.Press("ctrl+space ?")
	u.Type("split d\r")
	if got := u.Host.Terminals(); len(got) != 2 {
		t.Errorf("terminals %v", got)
	}
	for _, name := range u.Host.Terminals() {
		if got := u.Host.Terminal(name).Typed(); got != "" {
			t.Errorf("keys for the help were typed: %q", got)
		}
	}
	u = small(t)
	u.Press("ctrl+space ?")
	u.Golden("help-small")
}

func TestPalette(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space :")
	u.Golden("palette")
	u.Type("spl")
	u.GoldenStyled("palette-filter")
	u.Press("down", "enter")
	if got := u.Host.Terminals(); len(got) != 2 {
		t.Errorf("terminals %v", got)
	}
	u.Press("ctrl+space :")
	u.Type("rename-pane two words\r")
	u.Shows("─ two words: sh2 ─")
	u.Press("ctrl+space :")
	u.Type("zzz")
	u.Shows("nothing matches")
	u.Press("esc")
	u.Hides("nothing matches")
	for theirs, ours := range map[string]string{
		"synchronize-panes": "Type into all panes", "split-window -h": "Split right", "detach-client": "Detach",
		"split-window -h -p 30": "is not understood here", "select-pane": "Focus left",
	} {
		u.Press("ctrl+space :")
		u.Type(theirs)
		u.Shows(ours)
		u.Press("esc")
	}
	u.Press("ctrl+space :")
	u.Type(`rename-window it's "mine"` + "\r")
	u.Shows(`it's "mine"`)
	u.Press("ctrl+space :")
	u.Type(`new-window htop -d "a \"b c\""` + "\r")
	if !slices.ContainsFunc(u.Host.URIs(), func(uri ahp.URI) bool {
		return slices.Equal(u.Host.terms[uri].meta.Command, []string{"htop", "-d", `a "b c"`})
	}) {
		t.Error("new-window did not run its program")
	}
	u.Press("ctrl+space :")
	u.Type("new-window 'vi\r")
	u.Shows("the quote ' is not closed")
	u = small(t)
	u.Press("ctrl+space :")
	u.Golden("palette-small")
}

func TestPaletteSaysWhatIsWrong(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space :")
	u.Type("go-tab none\r")
	u.Shows("number must be a number from 1 to 64")
	u.Press("ctrl+space :")
	u.Type("focus-left\r")
	u.Shows("no pane to the left", "Commands")
}

func TestDetachAndAttach(t *testing.T) {
	u := start(t)
	u.Type("one")
	u.Press("ctrl+space |")
	u.Type("two")
	u.Press("ctrl+space c")
	u.Type("three")
	u.Press("ctrl+space .")
	u.Type("work\r")
	u.Press("ctrl+space d")
	if exit, quit := u.Ended(); !quit || exit.Reason != ui.Detached {
		t.Errorf("ended %v with %+v", quit, exit)
	}
	again := u.Again(Options{W: 60, H: 20})
	again.Shows("$ three", "2 work")
	again.Press("ctrl+space p")
	again.Golden("attached")
	if cols, rows := u.Host.Terminal("sh1").Size(); cols != 30 && cols != 29 || rows != 18 {
		t.Errorf("attached from 60x20 the left terminal is %dx%d", cols, rows)
	}
	if got := u.Host.Terminals(); len(got) != 3 {
		t.Errorf("attaching made terminals: %v", got)
	}
}

func TestCreationFails(t *testing.T) {
	u := start(t)
	u.Host.FailCreate = errors.New("no more terminals")
	u.Press("ctrl+space |")
	u.Shows("create terminal: no more terminals")
	u.Host.FailCreate = errors.New("create terminal: this token may not") // as the host words it
	u.Press("ctrl+space |")
	u.Shows("create terminal: this token")
	u.Hides("create terminal: create terminal")
	// What has no room in the status line is told whole, for as long.
	u.Host.FailCreate = errors.New(`create terminal: this token lacks the scope "terminal:create": ask the host's owner for one that has it`)
	u.Press("ctrl+space |")
	u.Shows(`lacks the scope "terminal:create": ask the host's`)
	u.Shows("owner for one that has it")
	u.Type("x")
	if got := u.Host.Terminal("sh1").Typed(); got != "x" {
		t.Errorf("typed %q", got)
	}
	u.Hides("one that has it")
	f := New(t, Options{Host: func(h *Host) { h.FailCreate = errors.New("no shell") }})
	if exit, quit := f.Ended(); !quit || !strings.Contains(exit.Note, "no shell") {
		t.Errorf("without a first terminal: ended %v with %+v", quit, exit)
	}
}

func TestKeysWaitForTheNewPane(t *testing.T) {
	u := start(t)
	u.Host.Hold()
	u.Press("ctrl+space |")
	u.Type("ls")
	u.Host.Let()
	u.WaitIdle()
	if got := u.Host.Terminal("sh2").Typed(); got != "ls" {
		t.Errorf("the new pane got %q, the old one %q", got, u.Host.Terminal("sh1").Typed())
	}
}

func TestKeysOfOneReadFollowTheFocus(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	u.Read("\x1b[32;5uhone\x1b[32;5ultwo\x1b[32;5ucthree")
	for name, want := range map[string]string{"sh1": "one", "sh2": "two", "sh3": "three"} {
		if got := u.Host.Terminal(name).Typed(); got != want {
			t.Errorf("%s got %q, want %q", name, got, want)
		}
	}
}

func TestKeysWaitForTheFirstPane(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Hold() }})
	u.Type("early")
	u.Host.Let()
	u.WaitIdle()
	if got := u.Host.Terminal("sh1").Typed(); got != "early" {
		t.Errorf("the first pane got %q", got)
	}
}

func TestConnectionLost(t *testing.T) {
	u := start(t)
	if _, quit := u.Ended(); quit {
		t.Fatal("ended at once")
	}
	u.Host.Reconnect(func() {
		u.WaitIdle()
		u.Shows("connection lost, reconnecting")
	})
	u.WaitIdle()
	u.Shows("connected again")
	u.Hides("connection lost")
}
