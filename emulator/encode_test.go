package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/engine"
)

// sgrCases are transitions with the sequence they must give.
var sgrCases = []struct {
	name     string
	from, to emulator.Style
	want     string
}{
	{"same", emulator.Style{Attrs: emulator.Bold}, emulator.Style{Attrs: emulator.Bold}, ""},
	{"reset", emulator.Style{Attrs: emulator.Bold, FG: emulator.Indexed(1)}, emulator.Style{}, "\x1b[m"},
	{"bold", emulator.Style{}, emulator.Style{Attrs: emulator.Bold}, "\x1b[1m"},
	{"bold to faint", emulator.Style{Attrs: emulator.Bold}, emulator.Style{Attrs: emulator.Faint}, "\x1b[0;2m"},
	{"bold ends, faint stays", emulator.Style{Attrs: emulator.Bold | emulator.Faint, FG: emulator.Indexed(200)}, emulator.Style{Attrs: emulator.Faint, FG: emulator.Indexed(200)}, "\x1b[22;2m"},
	{"faint ends, bold stays", emulator.Style{Attrs: emulator.Bold | emulator.Faint, FG: emulator.Indexed(200)}, emulator.Style{Attrs: emulator.Bold, FG: emulator.Indexed(200)}, "\x1b[22;1m"},
	{"bold and faint end", emulator.Style{Attrs: emulator.Bold | emulator.Faint, FG: emulator.Indexed(200)}, emulator.Style{FG: emulator.Indexed(200)}, "\x1b[22m"},
	{"curly", emulator.Style{}, emulator.Style{Underline: emulator.Curly}, "\x1b[4:3m"},
	{"curly to single", emulator.Style{Underline: emulator.Curly, BG: emulator.Indexed(200)}, emulator.Style{Underline: emulator.Single, BG: emulator.Indexed(200)}, "\x1b[4m"},
	{"underline ends", emulator.Style{Underline: emulator.Dashed, BG: emulator.Indexed(200)}, emulator.Style{BG: emulator.Indexed(200)}, "\x1b[24m"},
	{"underline colour", emulator.Style{}, emulator.Style{UnderlineColor: emulator.Indexed(1)}, "\x1b[58:5:1m"},
	{"underline true colour", emulator.Style{}, emulator.Style{UnderlineColor: emulator.RGB(1, 2, 3)}, "\x1b[58:2::1:2:3m"},
	{"underline colour ends", emulator.Style{UnderlineColor: emulator.Indexed(1), BG: emulator.Indexed(200)}, emulator.Style{BG: emulator.Indexed(200)}, "\x1b[59m"},
	{"overline", emulator.Style{}, emulator.Style{Attrs: emulator.Overline}, "\x1b[53m"},
	{"overline ends", emulator.Style{Attrs: emulator.Overline, BG: emulator.RGB(1, 2, 3)}, emulator.Style{BG: emulator.RGB(1, 2, 3)}, "\x1b[55m"},
	{"basic", emulator.Style{}, emulator.Style{FG: emulator.Indexed(1), BG: emulator.Indexed(4)}, "\x1b[31;44m"},
	{"bright", emulator.Style{}, emulator.Style{FG: emulator.Indexed(9), BG: emulator.Indexed(15)}, "\x1b[91;107m"},
	{"256", emulator.Style{}, emulator.Style{FG: emulator.Indexed(16), BG: emulator.Indexed(255)}, "\x1b[38;5;16;48;5;255m"},
	{"true", emulator.Style{}, emulator.Style{FG: emulator.RGB(0, 0, 7)}, "\x1b[38;2;0;0;7m"},
	{"foreground ends", emulator.Style{FG: emulator.Indexed(1), BG: emulator.Indexed(200)}, emulator.Style{BG: emulator.Indexed(200)}, "\x1b[39m"},
	{"background ends", emulator.Style{BG: emulator.Indexed(1), FG: emulator.Indexed(200)}, emulator.Style{FG: emulator.Indexed(200)}, "\x1b[49m"},
	{"a fresh start is shorter", emulator.Style{Attrs: emulator.Bold | emulator.Italic | emulator.Reverse | emulator.Strike}, emulator.Style{FG: emulator.Indexed(1)}, "\x1b[0;31m"},
	{"protected alone", emulator.Style{}, emulator.Style{Attrs: emulator.Protected}, "\x1b[1\"q"},
	{"protection ends", emulator.Style{Attrs: emulator.Protected | emulator.Bold}, emulator.Style{}, "\x1b[0\"q\x1b[m"},
}

func TestAppendStyle(t *testing.T) {
	for _, c := range sgrCases {
		if got := string(emulator.AppendStyle(nil, c.from, c.to)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestProfile has what poorer terminals get for one rich style.
func TestProfile(t *testing.T) {
	rich := emulator.Style{
		FG: emulator.RGB(255, 0, 0), BG: emulator.Indexed(21), UnderlineColor: emulator.RGB(1, 2, 3),
		Underline: emulator.Curly, Attrs: emulator.Bold | emulator.Overline | emulator.Protected,
	}
	for _, c := range []struct {
		p    emulator.Profile
		want string
	}{
		{emulator.Profile{}, "\x1b[1;4m"},
		{emulator.Profile{Colors: emulator.Colors16}, "\x1b[1;4;91;44m"},
		{emulator.Profile{Colors: emulator.Colors256}, "\x1b[1;4;38;5;196;48;5;21m"},
		{emulator.Profile{Colors: emulator.TrueColor}, "\x1b[1;4;38;2;255;0;0;48;5;21m"},
		{emulator.Profile{Colors: emulator.Colors256, Underlines: true, Overline: true}, "\x1b[1;53;4:3;38;5;196;48;5;21;58:5:16m"},
	} {
		if got := string(c.p.AppendStyle(nil, emulator.Style{}, rich)); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.p, got, c.want)
		}
	}
	p := emulator.Profile{Colors: emulator.Colors16}
	if got := p.AppendStyle(nil, emulator.Style{FG: emulator.RGB(255, 0, 0)}, emulator.Style{FG: emulator.RGB(254, 1, 0)}); len(got) != 0 {
		t.Errorf("two reds that look alike: got %q", got)
	}
}

// TestDownSampling brings exact palette colours to themselves.
func TestDownSampling(t *testing.T) {
	p := emulator.Profile{Colors: emulator.Colors256}
	for i := 16; i < 256; i++ {
		r, g, b := emulator.PaletteRGB(uint8(i))
		got, _ := p.Style(emulator.Style{FG: emulator.RGB(r, g, b)}).FG.Index()
		gr, gg, gb := emulator.PaletteRGB(got)
		if gr != r || gg != g || gb != b {
			t.Errorf("palette %d (%d,%d,%d) became %d", i, r, g, b, got)
		}
	}
}

// engines are all there are; what encodes must decode in each.
func engines(t testing.TB, o emulator.Options) map[string]emulator.Emulator {
	t.Helper()
	all := map[string]emulator.Emulator{}
	for _, name := range engine.Names() {
		e, err := engine.New(name, o)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = e
	}
	return all
}

func randomStyle(r *rand.Rand) emulator.Style {
	color := func() emulator.Color {
		switch r.IntN(5) {
		case 0:
			return emulator.Indexed(uint8(r.IntN(16)))
		case 1:
			return emulator.Indexed(uint8(r.Uint32()))
		case 2:
			return emulator.RGB(uint8(r.IntN(2)), uint8(r.IntN(2)), uint8(r.Uint32()))
		default:
			return 0
		}
	}
	return emulator.Style{
		FG: color(), BG: color(), UnderlineColor: color(),
		Underline: emulator.Underline(r.IntN(6)),
		Attrs:     emulator.Attrs(r.Uint32()) & (emulator.Protected - 1) & emulator.Attrs(r.Uint32()),
	}
}

// randomLine is a row as an engine could hold it.
func randomLine(r *rand.Rand, cols int) []emulator.Cell {
	var cells []emulator.Cell
	var c emulator.Cell
	for len(cells) < cols {
		if r.IntN(4) == 0 {
			c = emulator.Cell{Style: randomStyle(r)}
			if r.IntN(4) == 0 {
				c.Link = "https://example.org/" + string(rune('a'+r.IntN(3)))
				c.LinkID = []string{"", "one", "two"}[r.IntN(3)]
			}
		}
		x := c
		x.Width = 1
		switch k := r.IntN(10); {
		case k < 5:
			x.Rune = rune('!' + r.IntN(90))
		case k == 5:
			x.Rune = ' '
		case k == 6 && len(cells)+2 <= cols:
			x.Rune, x.Width = []rune("世界漢字")[r.IntN(4)], 2
		case k == 7:
			x.Rune = []rune("éßñж→")[r.IntN(5)]
		default:
			blank := emulator.Cell{Width: 1, Style: emulator.Style{BG: x.Style.BG}}
			for range 1 + r.IntN(min(12, cols-len(cells))) {
				cells = append(cells, blank)
			}
			continue
		}
		cells = append(cells, x)
		if x.Width == 2 {
			x.Rune, x.Width = 0, 0
			cells = append(cells, x)
		}
	}
	return cells
}

// TestLineRoundTrip: the encoding of any line, written over anything, gives
// back the line.
func TestLineRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 4000 {
		cols := 1 + r.IntN(40)
		line := randomLine(r, cols)
		on := emulator.Ground(i % 3)
		var pen emulator.Pen
		var b []byte
		if on != emulator.OnBlank {
			b = emulator.AppendLine(b, randomLine(r, cols), emulator.OnBlank, &pen)
			b = append(b, '\r')
		}
		b = emulator.AppendLine(b, line, on, &pen)
		for name, e := range engines(t, emulator.Options{Cols: cols, Rows: 2}) {
			e.Write(b)
			got := e.Line(0, nil)
			for x := range line {
				if !sameCell(got[x], line[x]) {
					t.Fatalf("%s: case %d, on %d: cell %d is %+v, want %+v\n%q", name, i, on, x, got[x], line[x], b)
				}
			}
		}
	}
}

// sameCell leaves open what a second half carries.
func sameCell(a, b emulator.Cell) bool {
	if a.Width == 0 && b.Width == 0 {
		return a.Rune == b.Rune
	}
	return a == b
}

// TestLineLooksSame: a poorer profile without empty cells gives the same
// picture: text and, where they can be seen, styles.
func TestLineLooksSame(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, p := range []emulator.Profile{
		{},
		{Colors: emulator.Colors16, BCE: true},
		{Colors: emulator.Colors256},
		{Colors: emulator.TrueColor, Underlines: true, Overline: true, Hyperlinks: true, BCE: true},
	} {
		for i := range 500 {
			cols := 1 + r.IntN(40)
			line, old := randomLine(r, cols), randomLine(r, cols)
			var pen emulator.Pen
			b := p.AppendLine(nil, old, emulator.OnBlank, &pen)
			b = p.AppendLine(append(b, '\r'), line, emulator.OnOld, &pen)
			e, err := engine.New("vt10x", emulator.Options{Cols: cols, Rows: 2})
			if err != nil {
				t.Fatal(err)
			}
			e.Write(b)
			got := e.Line(0, nil)
			if g, w := emulator.LineText(got), emulator.LineText(line); g != w {
				t.Fatalf("%+v: text %q, want %q", p, g, w)
			}
			for x := range line {
				want := p.Style(line[x].Style)
				if line[x].Rune == 0 || line[x].Rune == ' ' {
					if got[x].Style.BG != want.BG {
						t.Fatalf("%+v: case %d: blank %d has background %x, want %x\n%q", p, i, x, got[x].Style.BG, want.BG, b)
					}
					continue
				}
				if got[x].Style != want {
					t.Fatalf("%+v: cell %d has %+v, want %+v", p, x, got[x].Style, want)
				}
			}
		}
	}
}

// TestHostileCells: nothing of a cell can become a control of the receiver's.
func TestHostileCells(t *testing.T) {
	var pen emulator.Pen
	b := emulator.AppendLine(nil, []emulator.Cell{
		{Rune: 0x1b, Width: 1},
		{Rune: 0x9b, Width: 1, Combining: "\x1b[31m\u009b\u0301"},
		{Rune: 'a', Width: 1, Combining: "\a\u0301", Link: "http://x\x1b\\\x1b[31m", LinkID: "a\a"},
		{Rune: 'b', Width: 1, Link: "http://y", LinkID: "a;b"},
		{Rune: '世', Width: 2},
	}, emulator.OnBlank, &pen)
	want := "  \x1b]8;;\x1b\\a\u0301\x1b]8;;http://y\x1b\\b\x1b]8;;\x1b\\ "
	if string(b) != want {
		t.Errorf("got %q, want %q", b, want)
	}
}

func TestEncodeAllocs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	line := randomLine(r, 200)
	buf := make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() {
		var pen emulator.Pen
		buf = emulator.AppendLine(buf[:0], line, emulator.OnOld, &pen)
	}); n > 0 {
		t.Errorf("AppendLine allocates %v times", n)
	}
}

func BenchmarkAppendLine(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	plain := make([]emulator.Cell, 200)
	for i := range plain {
		plain[i] = emulator.Cell{Rune: 'x', Width: 1}
	}
	for name, line := range map[string][]emulator.Cell{"plain": plain, "styled": randomLine(r, 200)} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 1<<16)
			b.ReportAllocs()
			for b.Loop() {
				var pen emulator.Pen
				buf = emulator.AppendLine(buf[:0], line, emulator.OnOld, &pen)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func ExampleAppendStyle() {
	red := emulator.Style{FG: emulator.Indexed(1), Attrs: emulator.Bold}
	fmt.Printf("%q\n", emulator.AppendStyle(nil, emulator.Style{}, red))
	// Output: "\x1b[1;31m"
}
