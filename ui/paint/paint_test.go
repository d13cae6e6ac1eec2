package paint_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/internal/pace"
	"tandemux/ui/paint"
)

func screen(t testing.TB, w, h int) emulator.Emulator {
	t.Helper()
	e, err := engine.New("native", emulator.Options{Cols: w, Rows: h, History: -1})
	if err != nil {
		t.Fatal(err)
	}
	e.Write([]byte("\x1b[?7l"))
	return e
}

var full = paint.Options{Profile: emulator.Profile{
	Colors: emulator.TrueColor, Underlines: true, Overline: true, Hyperlinks: true,
}}

// look is what a canvas should have made of a screen: text and style by cell.
func look(e emulator.Emulator) string {
	w, h := e.Size()
	var b strings.Builder
	var cells []emulator.Cell
	for y := range h {
		cells = e.Line(y, cells[:0])
		for x := range w {
			c := cells[x]
			if c.Rune == 0 && c.Width == 1 {
				c.Rune = ' '
			}
			if c.Rune == ' ' && c.Style.Attrs&(emulator.Reverse|emulator.Strike|emulator.Overline) == 0 && c.Style.Underline == 0 {
				c.Style = emulator.Style{BG: c.Style.BG} // no ink
			}
			if c.Width == 0 {
				continue
			}
			fmt.Fprintf(&b, "%q%s%d%v%s,", c.Rune, c.Combining, c.Width, c.Style, c.Link)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var alphabet = []string{"a", "Z", " ", "~", "é", "日", "本", "e\u0301", "─", "👍", "👩‍👩‍👧", "น้ำ", "क्षि", "☁\ufe0f", "🇩🇪", "👍🏽", "𝌀"}

func randomStyle(r *rand.Rand) emulator.Style {
	colours := []emulator.Color{0, 0, emulator.Indexed(1), emulator.Indexed(200), emulator.RGB(1, 2, 3)}
	return emulator.Style{
		FG: colours[r.IntN(len(colours))], BG: colours[r.IntN(len(colours))],
		Attrs:     emulator.Attrs(r.IntN(1<<8)) & (emulator.Bold | emulator.Reverse | emulator.Italic | emulator.Strike),
		Underline: emulator.Underline(r.IntN(4)),
	}
}

// TestFrameShowsCanvas draws at random, frame after frame, and compares what
// an emulator shows with what a fresh painter makes of the same canvas.
func TestFrameShowsCanvas(t *testing.T) {
	for seed := range uint64(90) {
		// A terminal that measures clusters and is known to, one of which that isn't
		// known, and one that draws their characters side by side.
		opt, mode := full, "\x1b[?2027h"
		opt.Clusters = seed%3 == 0
		if seed%3 == 2 {
			mode = "\x1b[?2027l"
		}
		r := rand.New(rand.NewPCG(seed, 1))
		w, h := 2+r.IntN(30), 1+r.IntN(8)
		var c paint.Canvas
		c.Resize(w, h)
		e := screen(t, w, h)
		e.Write([]byte(mode))
		p := paint.NewPainter(opt)
		for frame := range 30 {
			for range 1 + r.IntN(6) {
				draw(r, &c, w, h)
			}
			cur := paint.Cursor{X: r.IntN(w), Y: r.IntN(h), Visible: r.IntN(3) > 0, Default: true}
			out := p.Frame(nil, &c, cur)
			e.Write(out)
			fresh := screen(t, w, h)
			fresh.Write([]byte(mode))
			fresh.Write(paint.NewPainter(opt).Frame(nil, &c, cur))
			if got, want := look(e), look(fresh); got != want {
				t.Fatalf("seed %d frame %d: a difference shows\n%s\na whole frame shows\n%s\nbytes %q", seed, frame, got, want, out)
			}
			if got := e.Cursor(); got.Visible != cur.Visible || cur.Visible && (got.X != cur.X || got.Y != cur.Y) {
				t.Fatalf("seed %d frame %d: cursor %+v, want %+v; bytes %q", seed, frame, got, cur, out)
			}
			if out := p.Frame(nil, &c, cur); len(out) > 0 {
				t.Fatalf("seed %d frame %d: nothing changed, but %q was written", seed, frame, out)
			}
		}
	}
}

// On a terminal that draws the characters of a cluster side by side, what is beside
// the cluster shows in its own cells all the same, at once and when the cluster has
// gone.
func TestClusterSpillsOver(t *testing.T) {
	var c paint.Canvas
	c.Resize(12, 2)
	e := screen(t, 12, 2)
	e.Write([]byte("\x1b[?2027l"))
	p := paint.NewPainter(full)
	show := func(want string, texts ...string) {
		t.Helper()
		c.Fill(c.Bounds(), 0, emulator.Style{})
		for i, s := range texts {
			c.Text(0, i, 12, s, emulator.Style{})
		}
		e.Write(p.Frame(nil, &c, paint.Cursor{}))
		if got := strings.TrimRight(emulator.ScreenText(e), "\n"); got != want {
			t.Errorf("it shows %+q, want %+q", got, want)
		}
	}
	show("one\ntwo", "one", "two")
	show("\U0001f469\u200dx\nabc", "\U0001f469\u200d\U0001f469\u200d\U0001f467x", "abc")
	show("\n☁ b", "", "☁\ufe0fb")
	show("a\nb", "a", "b")
	show("abcdefghij\U0001f469", "abcdefghij\U0001f469\u200d\U0001f469")
}

func draw(r *rand.Rand, c *paint.Canvas, w, h int) {
	s := randomStyle(r)
	if r.IntN(2) == 0 {
		s = emulator.Style{}
	}
	switch r.IntN(4) {
	case 0:
		c.Fill(paint.Rect{X: r.IntN(w), Y: r.IntN(h), W: 1 + r.IntN(w), H: 1 + r.IntN(h)}, ' ', s)
	case 1:
		c.Restyle(paint.Rect{X: r.IntN(w), Y: r.IntN(h), W: 1 + r.IntN(w), H: 1}, func(emulator.Style) emulator.Style { return s })
	case 2:
		text := ""
		for range r.IntN(12) {
			text += alphabet[r.IntN(len(alphabet))]
		}
		c.Text(r.IntN(w), r.IntN(h), w, text, s)
	default:
		var cells []emulator.Cell
		for range r.IntN(w) {
			switch r.IntN(5) {
			case 0:
				cells = append(cells, emulator.Cell{Rune: '語', Width: 2, Style: s}, emulator.Cell{Width: 0, Style: s})
			case 1:
				cells = append(cells, emulator.Cell{Rune: 'x', Width: 1, Style: s, Link: "http://a", LinkID: "1"})
			case 2:
				cells = append(cells, emulator.Cell{Width: 1})
			default:
				cells = append(cells, emulator.Cell{Rune: 'k', Width: 1, Style: s})
			}
		}
		// Cells may start or end with half a wide character.
		if len(cells) > 2 {
			cells = cells[r.IntN(2) : len(cells)-r.IntN(2)]
		}
		c.Line(r.IntN(w), r.IntN(h), cells)
	}
}

func TestOneKeyIsOneByteAndCursor(t *testing.T) {
	var c paint.Canvas
	c.Resize(80, 24)
	p := paint.NewPainter(full)
	c.Text(0, 3, 80, "$ l", emulator.Style{})
	p.Frame(nil, &c, paint.Cursor{X: 3, Y: 3, Visible: true, Default: true})
	c.Text(3, 3, 77, "s", emulator.Style{})
	if got := string(p.Frame(nil, &c, paint.Cursor{X: 4, Y: 3, Visible: true, Default: true})); got != "s" {
		t.Errorf("a typed character is written as %q", got)
	}
}

func TestSyncWrapsFrames(t *testing.T) {
	var c paint.Canvas
	c.Resize(10, 2)
	o := full
	o.Sync = true
	p := paint.NewPainter(o)
	c.Text(0, 0, 10, "x", emulator.Style{})
	out := string(p.Frame(nil, &c, paint.Cursor{}))
	if !strings.HasPrefix(out, "\x1b[?2026h") || !strings.HasSuffix(out, "\x1b[?2026l") {
		t.Errorf("frame %q is not synchronised", out)
	}
	if out := string(p.Frame(nil, &c, paint.Cursor{X: 1, Visible: true, Default: true})); strings.Contains(out, "2026") {
		t.Errorf("a cursor move alone is %q", out)
	}
}

func TestProfiles(t *testing.T) {
	var c paint.Canvas
	for _, k := range []struct {
		name         string
		opt          paint.Options
		want, forbid string
	}{
		{"true colour", full, "38;2;10;20;30", ""},
		{"256", paint.Options{Profile: emulator.Profile{Colors: emulator.Colors256}}, "38;5;", "38;2"},
		{"16", paint.Options{Profile: emulator.Profile{Colors: emulator.Colors16}}, "\x1b[30m", "38;"},
		{"none", paint.Options{}, "日", "38;"},
		{"ascii", paint.Options{ASCII: true}, "? |-", "日"},
	} {
		t.Run(k.name, func(t *testing.T) {
			c.Resize(8, 1)
			c.Line(0, 0, []emulator.Cell{
				{Rune: '日', Width: 2, Style: emulator.Style{FG: emulator.RGB(10, 20, 30)}, Link: "http://x"},
				{Width: 0},
				{Rune: '│', Width: 1},
				{Rune: '–', Width: 1},
			})
			out := string(paint.NewPainter(k.opt).Frame(nil, &c, paint.Cursor{}))
			if !strings.Contains(out, k.want) {
				t.Errorf("%q lacks %q", out, k.want)
			}
			if k.forbid != "" && strings.Contains(out, k.forbid) {
				t.Errorf("%q has %q", out, k.forbid)
			}
			if links := strings.Contains(out, "http://x"); links != k.opt.Profile.Hyperlinks {
				t.Errorf("hyperlink written: %v, in %q", links, out)
			}
		})
	}
}

func TestControlCharactersAreNotPassedOn(t *testing.T) {
	var c paint.Canvas
	c.Resize(20, 2)
	c.Text(0, 0, 20, "a\x1b[2J\x07b\u0085c", emulator.Style{})
	c.Line(0, 1, []emulator.Cell{{Rune: 0x1b, Width: 1}, {Rune: 'x', Combining: "\x1b\u009b", Width: 1}, {Rune: 0x9b, Width: 1}})
	p := paint.NewPainter(paint.Options{})
	p.Frame(nil, &c, paint.Cursor{})
	p.Forget()
	out := string(p.Frame(nil, &c, paint.Cursor{}))
	out = strings.ReplaceAll(out, "\x1b[m\x1b[H\x1b[J", "")
	out = strings.ReplaceAll(out, "\x1b[?25l", "")
	out = strings.ReplaceAll(out, "\x1b[2;3H", "") // the cursor's place behind a cluster
	if strings.ContainsAny(out, "\x1b\x07\u0085\u009b") {
		t.Errorf("control characters got through: %q", out)
	}
}

func TestExtrasAreBounded(t *testing.T) {
	var c paint.Canvas
	c.Resize(10, 1)
	for i := range 70000 {
		c.Line(0, 0, []emulator.Cell{{Rune: 'x', Width: 1, Link: fmt.Sprint("http://", i)}})
	}
	if !c.Lost() {
		t.Fatal("70000 different links fit")
	}
	c.Clear()
	if c.Lost() {
		t.Error("clearing does not make room")
	}
}

func TestCursorShape(t *testing.T) {
	var c paint.Canvas
	c.Resize(10, 1)
	e := screen(t, 10, 1)
	p := paint.NewPainter(full)
	cur := paint.Cursor{X: 1, Visible: true, Shape: emulator.CursorBar, Blink: true}
	e.Write(p.Frame(nil, &c, cur))
	if got := e.Cursor(); got.Shape != emulator.CursorBar || !got.Blink || got.X != 1 || !got.Visible {
		t.Errorf("cursor %+v", got)
	}
	cur.Visible = false
	e.Write(p.Frame(nil, &c, cur))
	if e.Cursor().Visible {
		t.Error("the cursor still shows")
	}
	cur = paint.Cursor{Visible: true, Default: true}
	e.Write(p.Frame(nil, &c, cur))
	if got := e.Cursor(); !got.Default || !got.Visible {
		t.Errorf("cursor %+v, want the terminal's own", got)
	}
}

// TestPace: after a rest a few frames are painted at once, then one each interval.
func TestPace(t *testing.T) {
	now := time.Unix(1000, 0)
	var p paint.Pace
	for i := range pace.Burst {
		if w := p.Next(now); w != 0 {
			t.Errorf("frame %d of the first waits %v", i, w)
		}
		p.Painted(now)
	}
	now = now.Add(3 * time.Millisecond)
	if w := p.Next(now); w != 5*time.Millisecond {
		t.Errorf("a frame 3 ms after the first ones waits %v", w)
	}
	if w := p.Next(now); w >= 0 {
		t.Errorf("a second timer of %v is asked for", w)
	}
	p.Fired()
	now = now.Add(5 * time.Millisecond)
	if w := p.Next(now); w != 0 {
		t.Errorf("the interval's end waits %v", w)
	}
	p.Painted(now)
	if w := p.Next(now); w != paint.FrameInterval {
		t.Errorf("what comes behind a flood's frame waits %v", w)
	}
	p.Fired()
	if w := p.Next(now.Add(-time.Hour)); w != 0 {
		t.Errorf("with the clock set back a frame waits %v", w)
	}
	p.Painted(now.Add(-time.Hour))
	if w := p.Next(now.Add(-time.Hour)); w > paint.FrameInterval {
		t.Errorf("with the clock set back the second frame waits %v", w)
	}
}

// TestWideInTheLastColumn: a terminal of one column has wide characters in cells
// of one; where there is no room for them they are blanks.
func TestWideInTheLastColumn(t *testing.T) {
	for _, opt := range []paint.Options{{}, {Clusters: true}, full} {
		var c paint.Canvas
		c.Resize(3, 1)
		c.Line(1, 0, []emulator.Cell{{Rune: 'a', Width: 1}, {Rune: '世', Width: 1}})
		e := screen(t, 3, 2)
		e.Write([]byte("\x1b[?7h"))
		e.Write(paint.NewPainter(opt).Frame(nil, &c, paint.Cursor{}))
		if got := strings.TrimSpace(emulator.ScreenText(e)); got != "a" {
			t.Errorf("%+v shows %q", opt, got)
		}
	}
}

// TestJoinerAtTheEdge: what has no room in the last columns leaves no joiner behind, which a
// terminal that measures no clusters puts the next row's text to.
func TestJoinerAtTheEdge(t *testing.T) {
	from := screen(t, 4, 2)
	from.Write([]byte("ab👩\u200d💻\r\nL"))
	var c paint.Canvas
	c.Resize(4, 2)
	for y := range 2 {
		c.Line(0, y, from.Line(y, nil))
	}
	out := string(paint.NewPainter(paint.Options{}).Frame(nil, &c, paint.Cursor{}))
	if !strings.Contains(out, "👩") || strings.Contains(out, "\u200d") {
		t.Errorf("it writes %q", out)
	}
}

// Characters of a line of double width are drawn apart, also where one of them changes.
func TestDoubleWidth(t *testing.T) {
	from, outer := screen(t, 20, 3), screen(t, 20, 3)
	var c paint.Canvas
	c.Resize(20, 3)
	p := paint.NewPainter(full)
	for _, step := range []struct{ in, want string }{
		{"\x1b#3Hé l世\r\n\x1b#4Hé l世\r\n\x1b#6wide", "H é   l 世\n\nw i d e"},
		{"\x1b[3;2Hx\x1b[1;3Hxy", "H é x y 世\n\nw x d e"},
		{"\x1b[1;1H\x1b#5\x1b[2;1H\x1b#5", "Héxy世\nHé l世\nw x d e"},
	} {
		from.Write([]byte(step.in))
		for y := range 3 {
			c.Line(0, y, from.Line(y, nil))
		}
		outer.Write(p.Frame(nil, &c, paint.Cursor{}))
		if got := emulator.ScreenText(outer); got != step.want {
			t.Errorf("%q shows\n%s", step.in, got)
		}
	}
	if got := emulator.ScreenText(from); got != "Héxy世\nHé l世\nwxde" {
		t.Errorf("its text is\n%s", got)
	}
}
