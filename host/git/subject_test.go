package git

import (
	"strings"
	"testing"
)

// TestSubject: a message's first line is one line, of printable characters, bounded.
func TestSubject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"fix it":                   "fix it",
		"\n\n  fix\tthis \r\nmore": "fix this",
		"---\n# Fix it":            "# Fix it",
		"a\x1b[31mb\u202ec\x00d":   "a[31mbcd",
		"\xff\xfe":                 "",
		strings.Repeat("word ", 9): strings.TrimSpace(strings.Repeat("word ", 3)) + "…",
		strings.Repeat("ü", 40):    strings.Repeat("ü", 19) + "…",
	} {
		if got := Subject(text, 20); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
