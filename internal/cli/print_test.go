package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/internal/plaintext"
)

// TestClean: what does something to a terminal is taken out, however the text is cut.
func TestClean(t *testing.T) {
	const in, want = "a\x1b]0;t\x07\tbé\u009b6n\u202e界\u2028\n\U0001f600\u061c\x7f.", "a]0;t\tbé6n界\n\U0001f600."
	for n := 1; n <= len(in); n++ {
		var out strings.Builder
		w := &clean{to: &out}
		for at := 0; at < len(in); at += n {
			if wrote, err := w.Write([]byte(in[at:min(at+n, len(in))])); err != nil || wrote != min(n, len(in)-at) {
				t.Fatalf("wrote %d, %v", wrote, err)
			}
		}
		if out.String() != want {
			t.Fatalf("in pieces of %d: %q", n, out.String())
		}
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var back string
	if out := escaped(text); strings.ContainsFunc(string(out), plaintext.Hidden) || json.Unmarshal(out, &back) != nil || back != in {
		t.Errorf("as JSON: %q", out)
	}
}

// TestCutLine: lines of a table are cut to a terminal's columns, wide characters too.
func TestCutLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{{"short", 5, "short"}, {"longer", 5, "long…"}, {"界界界", 6, "界界界"}, {"界界界", 5, "界界…"}, {"界界界", 4, "界…"}, {"", 2, ""}} {
		if got := cutLine(c.in, c.width); got != c.want {
			t.Errorf("%q in %d columns: %q", c.in, c.width, got)
		}
	}
}

// TestShort: what stood in several lines doesn't run together in one.
func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"import time\nold = 1": "import time old = 1", "a\tb\r\nc": "a b c", "x\x1b[31my": "x[31my",
	} {
		if got := Short(in); got != want {
			t.Errorf("Short(%q) = %q, want %q", in, got, want)
		}
	}
}
