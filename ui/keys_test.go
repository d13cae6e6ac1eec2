package ui_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/soak"
	"tandemux/keymap"
	"tandemux/ui"
	"tandemux/ui/command"
	"tandemux/ui/layout"
)

// TestRandomKeys presses at random, with resizes, output, other people's deeds and
// a host that refuses and vanishes between, and checks that nothing breaks, that
// the layout stays in order, and that all comes to rest.
func TestRandomKeys(t *testing.T) {
	seeds := uint64(soak.Short(1, 8))
	long, first := soak.Time(t), uint64(0)
	if long > 0 {
		first = soak.Seed(t) >> 1
	}
	began, steps := time.Now(), 0
	seed := first
	for ; seed < first+seeds || time.Since(began) < long; seed++ {
		w := newWalk(t, seed)
		w.run(150)
		w.rest()
		steps += len(w.log)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d seeds, %d keys and events in %v", seed-first, steps, time.Since(began).Round(time.Second))
}

// walk is one run through the interface.
type walk struct {
	t    *testing.T
	seed uint64
	r    *rand.Rand
	u    *UI
	keys []string
	look func(*ui.Config)
	log  []string
	// denied says that a change of the layout was refused, which no host does to
	// one that is in order: panes of terminals that are gone may stay then.
	denied bool
}

// newWalk starts an interface with a preset, a terminal and a crowd that depend on
// the seed.
func newWalk(t *testing.T, seed uint64) *walk {
	w := &walk{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 7))}
	preset := keymap.Presets()[seed%3]
	alt, emacs, ascii := seed%2 == 1, seed%5 == 1, seed%4 == 2
	w.keys = alphabet(preset, alt, emacs)
	w.look = func(c *ui.Config) {
		c.Keymap, c.AltKeys, c.LongCommand = preset, alt, time.Second
		c.Notify, c.Notifications = []string{"note", "waiting", "command"}, "osc777"
		if emacs {
			c.ModeKeys = "emacs"
		}
	}
	o := Options{Config: w.look, Host: crowd}
	if ascii {
		o.Env = []string{"TERM=vt100", "LANG=C", "HOME=/home/ann"}
	}
	w.u = New(t, o)
	return w
}

// alphabet has every key of a preset, and what is typed into overlays and
// programs.
func alphabet(preset string, alt, emacs bool) []string {
	table, _ := keymap.Preset(preset)
	if alt {
		table = table.WithAlt()
	}
	if emacs {
		table, _ = table.WithModeKeys("emacs")
	}
	var keys []string
	for _, m := range []keymap.Mode{keymap.Normal, keymap.Copy} {
		for _, b := range table.Following(m) {
			keys = append(keys, b.Keys)
		}
	}
	for range len(keys) / 3 { // so that they come as often as the bindings
		keys = append(keys, "esc", "enter", "y", "n", "q", "up", "down", "a", "5", "tab", "backspace", "/", "ctrl+c", table.Prefix().String())
	}
	return keys
}

// raw are bytes of an outer terminal that are no keys: focus, reports, mouse,
// pastes, and what makes no sense.
var raw = []string{
	"\x1b[I", "\x1b[O", "\x1b[?997;1n", "\x1b[?997;2n", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b[?62;22c", "\x1b[200~pasted\nlines\x1b[201~",
	"\x1b[<0;999;999M", "\x1b[<64;1;1M", "\x1b[57441;1:3u", "\x1b[97;5:2u", "\x1b[<35;3;3M", "\x1b", "\x1b[", "\x1b]", "\x1bP", "\xff\xfe", "\x00", "日本", "\x1b[M\x20\x21\x21",
}

func (w *walk) run(steps int) {
	for range steps {
		if _, quit := w.u.Ended(); quit {
			w.u = w.u.Again(Options{Config: w.look})
		}
		w.step()
		if w.t.Failed() {
			w.t.Fatalf("seed %d: %v", w.seed, w.log)
		}
		w.invariants()
	}
}

func (w *walk) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

// step is one thing that happens.
func (w *walk) step() {
	u, r := w.u, w.r
	defer func() {
		if p := recover(); p != nil {
			w.t.Errorf("seed %d: %v after %v", w.seed, p, w.log)
			panic(p)
		}
	}()
	switch r.IntN(14) {
	case 0:
		cols, rows := 1+r.IntN(250), 1+r.IntN(70)
		w.note("%dx%d", cols, rows)
		u.Resize(cols, rows)
	case 1, 2:
		if all := u.Host.Terminals(); len(all) > 0 {
			w.program(u.Host.Terminal(all[r.IntN(len(all))]))
		}
	case 3:
		w.mouse()
	case 4:
		u.Advance(time.Duration(r.IntN(2000)) * time.Millisecond)
	case 5:
		s := raw[r.IntN(len(raw))]
		w.note("%q", s)
		u.Read(s)
	case 6:
		w.host()
	case 7:
		all := command.All()
		c := all[r.IntN(len(all))]
		if c.Name == "stop" || c.Name == "suspend" {
			return
		}
		w.note(":%s", c.Name)
		u.Press("esc", "esc", w.palette())
		u.Type(c.Name + "\r")
	default:
		k := w.keys[r.IntN(len(w.keys))]
		w.note("%s", k)
		u.Press(k)
	}
}

// palette is the key of the command palette.
func (w *walk) palette() string {
	table, _ := keymap.Preset(keymap.Presets()[w.seed%3])
	return table.Prefix().String() + " :"
}

// program is something that a terminal's program or its holder does.
func (w *walk) program(sh *Terminal) {
	r := w.r
	w.note("program")
	switch r.IntN(9) {
	case 0:
		sh.Begin("make")
	case 1:
		sh.Begin("go test\n./...")
		sh.Print(strings.Repeat("line\r\n", r.IntN(80)))
		sh.End(r.IntN(3), int64(r.IntN(5000)))
	case 2:
		sh.Attend(func(a *ahp.Attention) {
			a.Bell = w.u.Host.Now
			a.Note = &ahp.Note{At: w.u.Host.Now, Title: "t", Body: "b"}
		})
	case 3:
		sh.Attend(func(a *ahp.Attention) {
			a.Status = &ahp.ProgramStatus{State: []string{"blocked", "done", "working"}[r.IntN(3)], At: w.u.Host.Now}
		})
	case 4:
		sh.Claim([]ahp.Claim{running, parked, other, ours}[r.IntN(4)])
	case 5:
		sh.Resize(1+r.IntN(200), 1+r.IntN(60))
	case 6:
		if r.IntN(3) == 0 {
			sh.Exit(r.IntN(2), "")
		}
	default:
		sh.Print("\x1b[31moutput\r\n日本\x1b[m\x1b[5;5H\x1b[?1000h\x1b[?1049h")
		if r.IntN(2) == 0 {
			sh.Print("\x1b[?1049l\x1b[?1000l")
		}
	}
	w.u.WaitIdle()
}

func (w *walk) mouse() {
	u, r := w.u, w.r
	cols, rows := u.Outer().Size()
	w.note("mouse")
	u.Drag(r.IntN(cols), r.IntN(rows), r.IntN(cols), r.IntN(rows))
	u.Wheel(r.IntN(2) == 0, r.IntN(cols), r.IntN(rows))
	press(u, 16*r.IntN(2), r.IntN(cols), r.IntN(rows))
	u.Read(fmt.Sprintf("\x1b[<%d;%d;%dM", 35+16*r.IntN(2), 1+r.IntN(cols), 1+r.IntN(rows)))
	for range r.IntN(4) {
		u.Click(cols-1, rows/2)
	}
}

// host is something that the host does.
func (w *walk) host() {
	h := w.u.Host
	switch w.r.IntN(4) {
	case 0:
		w.note("reconnect")
		h.Reconnect(nil)
	case 1:
		w.note("refuse")
		h.Refuse = func(_ ahp.URI, a ahp.Action) string {
			if _, ok := a.(ahp.LayoutChanged); ok {
				w.denied = true
			}
			return "not today"
		}
		w.u.Press(w.keys[w.r.IntN(len(w.keys))])
		h.Refuse = nil
	case 2:
		w.note("watched")
		h.Watched("main", w.r.IntN(4))
	default:
		w.note("added")
		h.Add(fmt.Sprint("t", w.r.IntN(1000)), parked)
	}
	w.u.WaitIdle()
}

// invariants checks the layout as the host has it.
func (w *walk) invariants() {
	doc := w.u.Host.Layout("main")
	if doc.Rev == 0 {
		return
	}
	l, err := layout.Decode(doc.Doc)
	if err != nil {
		w.t.Fatalf("seed %d: the host's layout after %v: %v", w.seed, w.log, err)
	}
	seen := map[layout.PaneID]bool{}
	cols, rows := w.u.Outer().Size()
	area := layout.Rect{W: cols, H: max(rows-1, 0)}
	for _, tab := range l.Tabs {
		for _, leaf := range tab.Panes() {
			if seen[leaf.Pane] {
				w.t.Fatalf("seed %d: pane %s is there twice after %v", w.seed, leaf.Pane, w.log)
			}
			seen[leaf.Pane] = true
		}
		for _, p := range tab.Arrange(area).Panes {
			if b := p.Body; b.W < 0 || b.H < 0 || b.X < 0 || b.Y < 0 || b.X+b.W > area.W || b.Y+b.H > area.H {
				w.t.Fatalf("seed %d: pane %s lies at %v of %v after %v", w.seed, p.Pane, b, area, w.log)
			}
		}
	}
	if x, y := w.u.Outer().Cursor().X, w.u.Outer().Cursor().Y; x < 0 || y < 0 || x >= cols || y >= rows {
		w.t.Fatalf("seed %d: the cursor is at %d,%d", w.seed, x, y)
	}
}

// rest ends what runs and checks that nothing happens any more.
func (w *walk) rest() {
	u := w.u
	for _, name := range u.Host.Terminals() {
		u.Host.Terminal(name).End(0, 1)
	}
	u.WaitIdle()
	u.Advance(time.Minute)
	n := u.Written
	u.Advance(time.Minute)
	if u.Written != n || u.Timers() != 0 {
		w.t.Errorf("seed %d: not at rest after %v: %d bytes, %d timers", w.seed, w.log, u.Written-n, u.Timers())
	}
	if _, quit := u.Ended(); quit || w.denied {
		return
	}
	l, err := layout.Decode(u.Host.Layout("main").Doc)
	if err != nil {
		return // invariants has said so, or it was never written
	}
	for _, uri := range l.Terminals() {
		if !strings.HasPrefix(uri, ahp.ChatScheme) && !slices.Contains(u.Host.URIs(), uri) {
			w.t.Errorf("seed %d: after %v the layout shows %s, which is gone", w.seed, w.log, uri)
		}
	}
}
