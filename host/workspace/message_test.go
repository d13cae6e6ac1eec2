package workspace

import (
	"context"
	"testing"
	"time"
)

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
