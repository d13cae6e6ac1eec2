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

// TestStyleRoundTrip: what encodes a style gives it to an engine that has them all,
// whatever it had.
func TestStyleRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	e := engines(t, emulator.Options{Cols: 3, Rows: 2})["native"]
	for i := range 4000 {
		from, to := randomStyle(r), randomStyle(r)
		b := append(emulator.AppendStyle([]byte("\x1b[m\r"), emulator.Style{}, from), 'x')
		if from != to {
			b = emulator.AppendStyleFast(b, &from, &to)
		}
		b = append(emulator.AppendStyle(append(b, 'y'), to, from), 'z')
		e.Write(b)
		for x, want := range []emulator.Style{from, to, from} {
			if got := e.Line(0, nil)[x].Style; got != want {
				t.Fatalf("case %d: cell %d is %+v, want %+v\n%q", i, x, got, want, b)
			}
		}
	}
}

func ExampleAppendStyle() {
	red := emulator.Style{FG: emulator.Indexed(1), Attrs: emulator.Bold}
	fmt.Printf("%q\n", emulator.AppendStyle(nil, emulator.Style{}, red))
	// Output: "\x1b[1;31m"
}
