package workspace

import (
	"cmp"
	"context"
)

// about is what the work since the last merge is about: the first line of a message, and
// what follows it.
func (w *Workspace) about(ctx context.Context, r *record) (subject, body string) {
	if w.store.options.About != nil {
		subject, body = w.store.options.About(ctx, r.ID, r.Merged)
	}
	return cmp.Or(subject, "Work of task "+r.name()), body
}
