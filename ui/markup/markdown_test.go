package markup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/soak"
	"tandemux/ui/look"
	"tandemux/ui/words"
)

var testGlyphs = func() *Glyphs {
	g := GlyphsOf(&look.Look{Glyphs: look.Unicode})
	return &g
}()

// marks are how the roles and attributes of runs are written in goldens.
var marks = map[Role]string{
	Muted: "m", Accent: "a", heading: "h", codeText: "c", LinkText: "l", quote: "q", keyword: "k", literal: "s",
	comment: "o", callee: "f", Added: "+", Removed: "-", Passed: "p", Failed: "x",
}

// dump writes lines as text, each run that is not plain with its role.
func dump(m *Markdown, w int) string {
	var b strings.Builder
	n := m.Render(w, testGlyphs)
	for i := range n {
		for _, r := range m.Line(i).Runs {
			mark := marks[r.Role]
			for _, a := range []struct {
				attr Attr
				mark string
			}{{Bold, "B"}, {Italic, "I"}, {Underline, "U"}, {Strike, "S"}} {
				if r.Attr&a.attr != 0 {
					mark += a.mark
				}
			}
			if mark == "" {
				b.WriteString(r.Text)
				continue
			}
			fmt.Fprintf(&b, "<%s>%s</>", mark, r.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func render(text string, w int) string {
	m := &Markdown{}
	m.Append(words.Lines(text))
	return dump(m, w)
}

// TestMarkdown compares what texts are rendered as with goldens.
func TestMarkdown(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []int{76, 30} {
			golden := fmt.Sprintf("%s.%d", strings.TrimSuffix(name, ".md"), w)
			checkGolden(t, golden, render(string(text), w))
		}
	}
}

// pieces cuts a text at random characters.
func pieces(text string, r *rand.Rand) []string {
	var out []string
	for text != "" {
		n := 1 + r.IntN(min(len(text), 1+r.IntN(40)))
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// checkSplit renders a text whole, and in pieces with drawings in between.
func checkSplit(t *testing.T, text string, seed uint64) {
	t.Helper()
	text = strings.ToValidUTF8(text, "?")
	r := rand.New(rand.NewPCG(seed, 1))
	w := 1 + r.IntN(90)
	whole := render(text, w)
	m := &Markdown{}
	for _, p := range pieces(text, r) {
		m.Append(words.Lines(p))
		switch r.IntN(3) {
		case 0:
			m.Render(w, testGlyphs)
		case 1:
			if r.IntN(20) == 0 {
				m.Render(1+r.IntN(90), testGlyphs)
			}
		}
	}
	if got := dump(m, w); got != whole {
		t.Fatalf("in pieces it is rendered otherwise (width %d, seed %d):\n%q\nwhole:\n%s\nin pieces:\n%s", w, seed, text, whole, got)
	}
	for i := range m.Render(w, testGlyphs) {
		if n := Width(m.Line(i).Runs); n > w && !(w == 1 && n == 2) {
			t.Fatalf("line %d has %d cells of %d: %q", i, n, w, m.Line(i).Text())
		}
	}
}

// TestSplit is the property on the goldens' texts.
func TestSplit(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.md")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(soak.Short(8, 40)) {
			checkSplit(t, string(text), seed)
		}
	}
	long := strings.Repeat("word ", 1000) + "\n" + strings.Repeat("x", 5000) + "\n\n```go\n" + strings.Repeat("y", 5000) + " z\n```\n\n- " +
		strings.Repeat("a longer item of a list that goes on and on\n- ", 300) + "\n\n" + strings.Repeat("a line\n", 1000)
	for seed := range uint64(soak.Short(1, 2)) {
		checkSplit(t, long, seed)
	}
}

// FuzzSplit is the property on any text.
func FuzzSplit(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.md")
	for i, name := range files {
		text, _ := os.ReadFile(name)
		f.Add(string(text), uint64(i))
	}
	f.Fuzz(checkSplit)
}
