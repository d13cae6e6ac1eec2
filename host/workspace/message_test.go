package workspace

import (
	"context"
	"strings"
	"testing"
	"time"
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

// TestMessages: what is committed and merged says what it is about; what the person says
// is the message as it is.
func TestMessages(t *testing.T) {
	t.Parallel()
	var since time.Time
	repo, w := behind(t, map[string]string{"new": "n\n"}, map[string]string{"b": "bb\n"})
	w.store.options.About = func(_ context.Context, task string, at time.Time) (string, string) {
		since = at
		return "fix " + task, "Done it.\n\nTask: n\n"
	}
	m := must(w.Merge(background, MergeOptions{}))(t)
	if got, want := run(t, repo, "git", "log", "-1", "--format=%B", m.Commit), "Merge tandemux/n: fix t1\n\n* the agent's\n* fix t1\n\nDone it.\n\nTask: n\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := run(t, repo, "git", "log", "-1", "--format=%B", m.Commit+"^2"); got != "fix t1\n\nDone it.\n\nTask: n\n\n" {
		t.Errorf("the work's: %q", got)
	}
	if !since.IsZero() {
		t.Errorf("since %v, before the first merge", since)
	}
	write(t, w.Dir(), map[string]string{"new": "nn\n"})
	must(w.Merge(background, MergeOptions{Message: "mine\n\nas it is"}))(t)
	if got := run(t, repo, "git", "log", "-1", "--format=%B"); got != "mine\n\nas it is\n\n" {
		t.Errorf("said: %q", got)
	}
	write(t, w.Dir(), map[string]string{"new": "nnn\n"})
	must(w.Merge(background, MergeOptions{}))(t)
	if since.IsZero() {
		t.Error("the work of another merge is told again")
	}
}
