package player

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/internal/asciicast"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

var epoch = time.Unix(1_700_000_000, 0)

// recording prints a line a second for a minute, with a marker every ten and a
// long pause at its end.
func recording() Recording {
	r := Recording{Header: asciicast.Header{Version: asciicast.V3, Cols: 40, Rows: 10, Title: "a\x1b demo"}}
	add := func(at time.Duration, e asciicast.Event) {
		e.At = at
		r.Events = append(r.Events, e)
	}
	for i := range 60 {
		at := time.Duration(i) * time.Second
		if i%10 == 0 {
			add(at, asciicast.Event{Kind: asciicast.Marker, Data: "make " + string(rune('a'+i/10))})
		}
		add(at, asciicast.Event{Kind: asciicast.Output, Data: "line " + time.Duration(i).String() + "\r\n"})
	}
	add(70*time.Second, asciicast.Event{Kind: asciicast.Resize, Cols: 60, Rows: 12})
	add(600*time.Second, asciicast.Event{Kind: asciicast.Output, Data: "\x1b]0;evil\x07\x1b]52;c;ZXZpbA==\x07\x07\x1b[?1000h\x1b[6nthe end"})
	add(601*time.Second, asciicast.Event{Kind: asciicast.Exit})
	return r
}

// outer is what an outer terminal of 80×24 shows of a player.
type outer struct {
	canvas  paint.Canvas
	painter *paint.Painter
	em      emulator.Emulator
	raw     string
	look    look.Look
}

func newOuter(t *testing.T, w, h int, utf8 bool) *outer {
	t.Helper()
	pair, err := themes.Choose("", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &outer{painter: paint.NewPainter(paint.Options{Profile: emulator.Full}), em: native.New(emulator.Options{Cols: w, Rows: h}), look: look.New(pair.For(true), utf8, true)}
	o.canvas.Resize(w, h)
	return o
}

func (o *outer) show(p *Player) string {
	b := o.painter.Frame(nil, &o.canvas, p.Draw(&o.canvas, o.look))
	o.raw += string(b)
	o.em.Write(b)
	return emulator.ScreenText(o.em)
}

func has(t *testing.T, screen string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			t.Errorf("the screen does not show %q:\n%s", s, screen)
		}
	}
}

// TestPlay: what is due shows at its time, pauses and speeds count, the end stays.
func TestPlay(t *testing.T) {
	p, o := New(recording(), Options{}), newOuter(t, 80, 24, true)
	now := epoch
	p.Play(now)
	if wait := p.Advance(now); wait != time.Second {
		t.Errorf("the next output is due in %v", wait)
	}
	now = now.Add(3500 * time.Millisecond)
	p.Advance(now)
	has(t, o.show(p), "line 3ns", " playing ", "0:03/10:01", "make a")
	p.Key("space", now)
	if wait := p.Advance(now.Add(time.Hour)); wait != 0 {
		t.Errorf("a paused player wakes in %v", wait)
	}
	has(t, o.show(p), " paused ", "0:03")
	now = now.Add(time.Hour)
	p.Key("space", now)
	p.Advance(now.Add(20 * time.Second))
	has(t, o.show(p), "0:23/10:01", "line 23ns", "make c")
	now = now.Add(time.Hour)
	if wait := p.Advance(now); wait != 0 || p.playing {
		t.Errorf("at the end it wakes in %v", wait)
	}
	has(t, o.show(p), " end ", "the end")
	p.Key("space", now)
	p.Advance(now)
	has(t, o.show(p), " playing ", "0:00/")
}

// TestKeys: each key goes where it says.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys string
		want time.Duration
	}{
		{"right", 25 * time.Second},
		{"left", 15 * time.Second},
		{"left left left left left", 0},
		{"]", 30 * time.Second},
		{"] ]", 40 * time.Second},
		{"[", 10 * time.Second},
		{"[ [ [", 0},
		{"x", 20 * time.Second},
	} {
		p := New(recording(), Options{Start: 20 * time.Second})
		p.Play(epoch)
		for _, k := range strings.Fields(c.keys) {
			if p.Key(k, epoch) {
				t.Fatalf("%s ends it", k)
			}
		}
		if p.pos != c.want {
			t.Errorf("%s goes from 20s to %v, want %v", c.keys, p.pos, c.want)
		}
	}
	for _, k := range []string{"q", "esc", "ctrl+c"} {
		if !New(recording(), Options{}).Key(k, epoch) {
			t.Errorf("%s does not end it", k)
		}
	}
}

// TestSeekIsPlaying: going to a place shows what playing up to it does.
func TestSeekIsPlaying(t *testing.T) {
	straight := New(recording(), Options{})
	for _, to := range []time.Duration{59 * time.Second, 12 * time.Second, 75 * time.Second, 0, 601 * time.Second, 33 * time.Second} {
		jumping := New(recording(), Options{})
		jumping.Seek(500*time.Second, epoch)
		jumping.Seek(to, epoch)
		if to < straight.pos {
			straight = New(recording(), Options{})
		}
		for at := straight.pos; at <= to; at += 100 * time.Millisecond {
			straight.seek(at)
		}
		a, b := newOuter(t, 80, 24, true).show(jumping), newOuter(t, 80, 24, true).show(straight)
		if jumping.Pause(); a != b {
			t.Errorf("at %v it shows\n%s\nwant\n%s", to, a, b)
		}
	}
}

// TestIdleLimit: pauses are cut, as the recording or its player wants.
func TestIdleLimit(t *testing.T) {
	r := recording()
	if p := New(r, Options{IdleLimit: 2 * time.Second}); p.total != 64*time.Second {
		t.Errorf("with pauses of 2 s at most it takes %v", p.total)
	}
	r.Header.IdleLimit = 500 * time.Millisecond
	if p := New(r, Options{}); p.total != 31*time.Second {
		t.Errorf("with the recording's own limit it takes %v", p.total)
	}
}

// TestSpeed: it plays as fast as it is to; one without events is over at once.
func TestSpeed(t *testing.T) {
	p := New(recording(), Options{Speed: 4})
	p.Play(epoch)
	if p.Advance(epoch.Add(5 * time.Second)); p.pos != 20*time.Second {
		t.Errorf("after 5 s it is at %v", p.pos)
	}
	empty := New(Recording{Header: asciicast.Header{Cols: 10, Rows: 2}}, Options{})
	empty.Play(epoch)
	if wait := empty.Advance(epoch); wait != 0 {
		t.Errorf("an empty recording wakes in %v", wait)
	}
}

// TestNothingGetsOut: what a recording prints reaches the outer terminal as cells
// only.
func TestNothingGetsOut(t *testing.T) {
	p, o := New(recording(), Options{}), newOuter(t, 80, 24, true)
	p.Seek(time.Hour, epoch)
	has(t, o.show(p), "the end")
	for _, bad := range []string{"evil", "\x1b]52", "\x1b]0", "\x07", "\x1b[?1000h", "\x1b[6n"} {
		if strings.Contains(o.raw, bad) {
			t.Errorf("%q got out", bad)
		}
	}
}

// TestScreens: goldens at three sizes, smaller than the recording too.
func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		utf8 bool
	}{{"80", 80, 24, true}, {"200", 200, 50, true}, {"40", 40, 12, true}, {"small", 20, 5, false}} {
		p, o := New(recording(), Options{}), newOuter(t, c.w, c.h, c.utf8)
		p.Seek(42*time.Second, epoch)
		o.show(p)
		got := strings.TrimRight(emutest.Screen(o.em), "\n") + "\n"
		path := filepath.Join("testdata", c.name+".txt")
		if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != got {
			t.Errorf("the screen is not %s (%v):\n%s", path, err, got)
		}
	}
}
