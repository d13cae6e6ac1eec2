package terminals

import (
	"errors"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
)

// MayRun decides whether an agent may run a command, or a line, in a session. A refusal is
// a *guard.Refusal.
func (ts *Terminals) MayRun(tx core.Tx, session ahp.URI, argv []string, line string) error {
	return ts.Belt.MayRun(session, argv, line, ts.answerable(tx, session))
}

// Judge is MayRun for a line, regardless of what people have allowed before.
func (ts *Terminals) Judge(tx core.Tx, session ahp.URI, line string) error {
	return ts.Belt.Judge(nil, line, ts.answerable(tx, session))
}

// answerable reports whether a person can be asked what a session's agent may run, in the
// session's chat or at an interface.
func (ts *Terminals) answerable(tx core.Tx, session ahp.URI) bool {
	if ts.Host.SessionOwner(tx, session) != "" {
		return true
	}
	for cl := range tx.Clients() {
		for l := range cl.Links() {
			if cl.Owner == auth.Operator.ID && IsInterface(l) {
				return true
			}
		}
	}
	return false
}

// IsInterface reports whether a connection belongs to a person's interface: it watches the
// activity channel. Interfaces on other machines and phones do so too, without a layout of
// this host. Commands watch it for a moment at most.
func IsInterface(l *core.Link) bool { return l.Watches(ahp.ActivityURI) }

// mayEnter judges the line that an agent types into a shell, when it types Enter. It does so
// also while a command runs that does not read the input. The line's earlier parts were kept.
func (t *Terminal) mayEnter(tx core.Tx, data string) (refusal string) {
	next, entered := t.line.Type(data)
	_, busy := t.Term.Running()
	if t.shell == "" || busy && entered != "" && t.Term.WantsInput(t.PresentLine(tx)) {
		t.line = guard.Typed{}
		return ""
	}
	if err := t.ts.MayRun(tx, t.Value.Claim.Session, nil, entered); err != nil {
		return Denied(err).Error()
	}
	t.line = next
	return ""
}

// Entered is the whole line that an agent has typed, of which end is the last part.
func (t *Terminal) Entered(_ core.Tx, end string) string { return t.line.With(end) }

// Denied is err as an AHP error.
func Denied(err error) error {
	if r, is := errors.AsType[*guard.Refusal](err); is {
		return ahp.PermissionDenied("%s", r.Asked())
	}
	return err
}
