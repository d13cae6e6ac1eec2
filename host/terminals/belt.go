package terminals

import (
	"errors"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/guard"
)

// mayEnter judges what an agent types into a shell that waits for a line, once it presses
// Enter; what came before is kept by then.
func (t *Terminal) mayEnter(data string) (refusal string) {
	if _, busy := t.Term.Running(); t.shell == "" || busy {
		t.line = guard.Typed{}
		return ""
	}
	next, entered := t.line.Type(data)
	if err := t.ts.Belt.MayRun(t.Value.Claim.Session, nil, entered); err != nil {
		return Denied(err).Error()
	}
	t.line = next
	return ""
}

// Entered is the whole line of which an agent has typed the end just now.
func (t *Terminal) Entered(_ core.Tx, end string) string { return t.line.With(end) }

// Denied is an error in AHP's words.
func Denied(err error) error {
	var r *guard.Refusal
	if errors.As(err, &r) {
		return ahp.PermissionDenied("%s", r.Asked())
	}
	return err
}
