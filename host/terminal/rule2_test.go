package terminal

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
	"tandemux/host/keeper"
	"tandemux/internal/soak"
)

// viewer is a subscriber: an emulator fed with a snapshot and the actions after
// it, and the content that a client's reducer holds.
type viewer struct {
	name    string
	emu     emulator.Emulator
	state   ahp.TerminalState
	resized bool
	cleared bool
}

func (v *viewer) apply(actions []ahp.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case ahp.TerminalData:
			v.emu.Write([]byte(a.Data))
		case ahp.TerminalResized:
			v.emu.Resize(a.Cols, a.Rows)
			v.resized = true
		case ahp.TerminalCleared:
			v.cleared = true
		}
		v.state = ahp.ReduceTerminal(v.state, a)
	}
}

func (v *viewer) feed(parts []ahp.Part) {
	for _, p := range parts {
		v.emu.Write([]byte(p.Text()))
	}
	v.state.Content = append([]ahp.Part{}, parts...)
}

func text(parts []ahp.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text())
	}
	return b.String()
}

// trial is a random life of a terminal, with viewers that come and go.
type trial struct {
	new      emutest.New
	features emutest.Features
	clears   bool
	commands bool // the shell marks its commands
	content  int  // MaxContent
	sizes    bool // programs may set the size
	// cut: the engine does not reflow, it cuts lines. What is beyond the screen
	// is not in a snapshot, so after a resize only the screen is compared.
	cut bool
	pty keeper.Process
}

const trialHistory = 30

func (tr trial) options(cols, rows int) emulator.Options {
	return emulator.Options{Cols: cols, Rows: rows, History: trialHistory}
}

// run plays one life and reports the first viewer that sees something else.
func (tr trial) run(seed uint64) (err error) {
	r := rand.New(rand.NewPCG(seed, 99))
	cols, rows := 2+r.IntN(30), 1+r.IntN(10)
	o := tr.options(cols, rows)
	if tr.sizes {
		o.Allow = emulator.Resizes
	}
	t := build(Config{
		Process: tr.pty, Cols: cols, Rows: rows, Emulator: tr.new(o), MaxContent: tr.content, Resizes: tr.sizes,
		Child: Child{Nonce: "n"}, delays: delays{time.Hour, time.Hour},
	})
	viewers := []*viewer{{name: "from the start", emu: tr.new(tr.options(cols, rows))}}
	var log []string
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("seed %d: after %s: %w", seed, strings.Join(log, ", "), err)
		}
	}()
	for range 3 + r.IntN(14) {
		switch op := r.IntN(20); {
		case op < 9:
			p := emutest.Program(r, cols, rows, 1+r.IntN(20), tr.features)
			if tr.commands {
				p = shellLike(r, p)
			}
			log = append(log, fmt.Sprintf("write %q", p))
			for len(p) > 0 {
				n := 1 + r.IntN(len(p))
				t.process(append(make([]byte, headroom), p[:n]...))
				p = p[n:]
			}
		case op < 12:
			cols, rows = 2+r.IntN(30), 1+r.IntN(10)
			log = append(log, fmt.Sprintf("resize %dx%d", cols, rows))
			if err := t.Resize(cols, rows); err != nil {
				return err
			}
		case op < 13 && tr.clears:
			log = append(log, "clear")
			t.Clear()
		case op < 14:
			log = append(log, "flush")
			t.flushEscape()
		case op < 16:
			actions := taken(t)
			for _, v := range viewers {
				v.apply(actions)
			}
		default:
			actions, _, parts := t.Content(MaxWire)
			for _, v := range viewers {
				v.apply(actions)
			}
			v := &viewer{name: fmt.Sprint("from ", len(log)), emu: tr.new(tr.options(sizeOf(t)))}
			v.feed(parts)
			log = append(log, fmt.Sprintf("join %q", text(parts)))
			viewers = append(viewers, v)
			if err := tr.compare(t, viewers); err != nil {
				return err
			}
		}
	}
	actions := taken(t)
	for _, v := range viewers {
		v.apply(actions)
	}
	return tr.compare(t, viewers)
}

// compare holds each viewer against the host's emulator. With trimmed content a
// late viewer may have less history, but what it has must be the newest; and
// after a resize it can bring back to the screen, and rewrap, only what it has.
func (tr trial) compare(t *Terminal, viewers []*viewer) error {
	whole := emutest.Dump(t.emu)
	for _, v := range viewers {
		got, want := emutest.Dump(v.emu), whole
		if tr.content > 0 && v.resized {
			continue
		}
		if tr.content > 0 {
			if h, all := emutest.History(v.emu), emutest.History(t.emu); !strings.HasSuffix(all, h) {
				return fmt.Errorf("viewer %s: history %q is no end of %q", v.name, h, all)
			}
			got, want = visible(v.emu), visible(t.emu)
		}
		if tr.cut && viewers[0].resized {
			got, want = visible(v.emu), visible(t.emu)
		}
		if err := sameCommands(t, v); err != nil {
			return fmt.Errorf("viewer %s: %w", v.name, err)
		}
		if d := emutest.Diff(got, want); d != "" {
			return fmt.Errorf("viewer %s sees something else:\n%s", v.name, d)
		}
	}
	return nil
}

// shellLike puts marks around and into output, mostly as a shell does.
func shellLike(r *rand.Rand, p []byte) []byte {
	mark := func(s string) string { return "\x1b]7501;n;" + s + "\x07" }
	usual := []string{
		mark("A") + "$ " + mark("B"), "ls" + mark("E;ls") + "\r\n" + mark("C;1"), "out\r\n", mark("D;0") + mark("A") + "$ " + mark("B") + "x\r\n" + mark("C;2"),
		mark("D;1"), mark("C;3"), mark("A") + mark("B"), "\x1b]133;C\x07", "\x1b]133;D;7\x07", mark("D"), mark("P;Cwd=/tmp/a"), mark("A"),
	}
	for range r.IntN(4) {
		at := 0
		if r.IntN(3) == 0 && len(p) > 0 {
			at = r.IntN(len(p))
			for at > 0 && p[at]&0xc0 == 0x80 {
				at--
			}
		}
		p = append(p[:at:at], append([]byte(usual[r.IntN(len(usual))]), p[at:]...)...)
	}
	return p
}

// sameCommands holds what a viewer folded against what one that comes now gets:
// the same commands, the running one last and open in both. The newcomer may
// miss those whose lines are gone.
func sameCommands(t *Terminal, v *viewer) error {
	now := t.parts(MaxWire)
	known := map[string]ahp.Part{}
	for _, p := range v.state.Content {
		if p.Type == ahp.PartCommand {
			if _, twice := known[p.CommandID]; twice {
				return fmt.Errorf("command %s twice", p.CommandID)
			}
			known[p.CommandID] = p
		}
	}
	last := 0
	for i, p := range now {
		if p.Type != ahp.PartCommand {
			if p.Value == "" {
				return fmt.Errorf("part %d is empty", i)
			}
			continue
		}
		k, ok := known[p.CommandID]
		k.Output, p.Output = "", ""
		if !ok || !reflect.DeepEqual(k, p) {
			return fmt.Errorf("newcomers get %+v; known is %+v", p, k)
		}
		if n := number(p.CommandID); n <= last {
			return fmt.Errorf("command %s comes after number %d", p.CommandID, last)
		} else {
			last = n
		}
		if !p.IsComplete && i != len(now)-1 {
			return fmt.Errorf("the open command %s is not the last part", p.CommandID)
		}
	}
	open := func(parts []ahp.Part) string {
		if n := len(parts); n > 0 && parts[n-1].Type == ahp.PartCommand && !parts[n-1].IsComplete {
			return parts[n-1].CommandID
		}
		return ""
	}
	if a, b := open(now), open(v.state.Content); a != b {
		return fmt.Errorf("newcomers get the open command %q; %q is open", a, b)
	}
	if t.kept.whole && !v.cleared && v.name == "from the start" && !reflect.DeepEqual(now, []ahp.Part(v.state.Content)) && len(now)+len(v.state.Content) > 0 {
		return fmt.Errorf("newcomers get\n%+v; known is\n%+v", now, v.state.Content)
	}
	return nil
}

// visible is a screen's text, cursor and modes.
func visible(e emulator.Emulator) string {
	return fmt.Sprintf("%s\n%+v\n%s", emulator.ScreenText(e), e.Cursor(), emutest.Modes(e.Modes()))
}

// idlePty is a pty that no process uses, for terminals that are fed by hand.
func idlePty(t testing.TB) keeper.Process {
	t.Helper()
	master, slave := openPair(t)
	t.Cleanup(func() {
		master.Close()
		unix.Close(slave)
	})
	return keeper.Process{ID: "idle", Pty: master}
}

// A snapshot at any point and what follows show the same as the host's own
// emulator, for all viewers (G15; docs/contributing/decisions.md §32).
func TestRule2(t *testing.T) {
	t.Parallel()
	const simple = emutest.Styles | emutest.AltScreen | emutest.Private | emutest.Strings | emutest.Reports
	for _, tt := range []struct {
		name  string
		trial trial
		lives int
	}{
		{"native", trial{new: native.New, features: emutest.All, clears: true}, 40},
		{"native, trimmed", trial{new: native.New, features: emutest.All, clears: true, content: 600}, 16},
		{"native, sized by programs", trial{new: native.New, features: emutest.All, clears: true, commands: true, sizes: true}, 40},
		{"native, commands", trial{new: native.New, features: emutest.All, clears: true, commands: true}, 40},
		{"native, commands, trimmed", trial{new: native.New, features: emutest.All, clears: true, commands: true, content: 600}, 16},
		{"vt10x, commands", trial{new: vt10x.New, features: simple, clears: true, commands: true, cut: true}, 10},
		{"vt10x", trial{new: vt10x.New, features: simple, clears: true, cut: true}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.trial.pty = idlePty(t)
			for seed := range uint64(soak.Size(t, tt.lives, 20*tt.lives)) {
				if err := tt.trial.run(seed); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// FuzzRule2 plays more lives than a test has time for.
func FuzzRule2(f *testing.F) {
	f.Add(uint64(1), false)
	f.Fuzz(func(t *testing.T, seed uint64, trimmed bool) {
		tr := trial{new: native.New, features: emutest.All, clears: true, commands: seed%2 == 0, sizes: seed%3 == 0, pty: idlePty(t)}
		if trimmed {
			tr.content = 600
		}
		if err := tr.run(seed); err != nil {
			t.Fatal(err)
		}
	})
}

func sizeOf(t *Terminal) (cols, rows int) {
	t.screen.Lock()
	defer t.screen.Unlock()
	return t.cols, t.rows
}
