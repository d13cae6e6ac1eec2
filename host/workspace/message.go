package workspace

import (
	"cmp"
	"context"
	"strings"

	"tandemux/host/git"
)

const (
	// maxSubject bounds the first line of a message that we make, in characters.
	maxSubject = 72
	// maxSubjects bounds the commits that a merge's message names.
	maxSubjects = 20
)

// about is what the work since the last merge is about: the first line of a message, and
// what follows it.
func (w *Workspace) about(ctx context.Context, r *record) (subject, body string) {
	if w.store.options.About != nil {
		subject, body = w.store.options.About(ctx, r.ID, r.Merged)
	}
	return cmp.Or(subject, "Work of task "+r.name()), body
}

// message joins what a message has, with an empty line between.
func message(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}

// mergeMessage is that of the merge of a task's branch: what it is about, and the commits
// that the agent made.
func mergeMessage(ctx context.Context, w *Workspace, r *record, g git.Git, into, head, tip string) string {
	subject, body := w.about(ctx, r)
	first := "Merge " + r.Branch + ": " + subject
	if subject == "Work of task "+r.name() {
		first = "Merge " + r.Branch + " into " + into
	}
	var commits strings.Builder
	out, _ := g.Run(ctx, "log", "--no-show-signature", "--no-merges", "--reverse", "--format=%s", "--max-count=1000", head+".."+tip, "--") // a message can do without
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		if i == maxSubjects {
			break
		}
		if line = git.Subject(line, maxSubject); line != "" {
			commits.WriteString("* " + line + "\n")
		}
	}
	if len(lines) < 2 {
		commits.Reset() // its subject says it
	}
	return message(git.ClipWords(first, maxSubject), commits.String(), body)
}
