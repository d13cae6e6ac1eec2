package chat

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ui/look"
	"tandemux/ui/words"
)

var testGlyphs = func() *glyphs {
	g := glyphsOf(&look.Look{Glyphs: look.Unicode})
	return &g
}()

// marks are how the roles and attributes of runs are written in goldens.
var marks = map[role]string{
	muted: "m", accent: "a", heading: "h", codeText: "c", linkText: "l", quote: "q", keyword: "k", literal: "s",
	comment: "o", callee: "f", added: "+", removed: "-", passed: "p", failed: "x",
}

// dump writes lines as text, each run that is not plain with its role.
func dump(m *markdown, w int) string {
	var b strings.Builder
	n := m.render(w, testGlyphs)
	for i := range n {
		for _, r := range m.line(i).runs {
			mark := marks[r.role]
			for _, a := range []struct {
				attr attr
				mark string
			}{{bold, "B"}, {italic, "I"}, {underline, "U"}, {strike, "S"}} {
				if r.attr&a.attr != 0 {
					mark += a.mark
				}
			}
			if mark == "" {
				b.WriteString(r.text)
				continue
			}
			fmt.Fprintf(&b, "<%s>%s</>", mark, r.text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func render(text string, w int) string {
	m := &markdown{}
	m.append(words.Lines(text))
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
	m := &markdown{}
	for _, p := range pieces(text, r) {
		m.append(words.Lines(p))
		switch r.IntN(3) {
		case 0:
			m.render(w, testGlyphs)
		case 1:
			if r.IntN(20) == 0 {
				m.render(1+r.IntN(90), testGlyphs)
			}
		}
	}
	if got := dump(m, w); got != whole {
		t.Fatalf("in pieces it is rendered otherwise (width %d, seed %d):\n%q\nwhole:\n%s\nin pieces:\n%s", w, seed, text, whole, got)
	}
	for i := range m.render(w, testGlyphs) {
		if n := width(m.line(i).runs); n > w && !(w == 1 && n == 2) {
			t.Fatalf("line %d has %d cells of %d: %q", i, n, w, m.line(i).text())
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
		for seed := range uint64(40) {
			checkSplit(t, string(text), seed)
		}
	}
	long := strings.Repeat("word ", 1000) + "\n" + strings.Repeat("x", 5000) + "\n\n```go\n" + strings.Repeat("y", 5000) + " z\n```\n\n- " +
		strings.Repeat("a longer item of a list that goes on and on\n- ", 300) + "\n\n" + strings.Repeat("a line\n", 1000)
	for seed := range uint64(2) {
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
