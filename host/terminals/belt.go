package terminals

import (
	"errors"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
)

// MayRun says with a *guard.Refusal why an agent may not run a command in a session, or a
// line.
func (ts *Terminals) MayRun(tx core.Tx, session ahp.URI, argv []string, line string) error {
	return ts.Belt.MayRun(session, argv, line, ts.answerable(tx, session))
}

// Judge is MayRun of a line that nobody has allowed yet.
func (ts *Terminals) Judge(tx core.Tx, session ahp.URI, line string) error {
	return ts.Belt.Judge(nil, line, ts.answerable(tx, session))
}

// answerable reports whether a person can be asked what a session's agent may run: in its
// chat, else at an interface.
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

// IsInterface reports whether a person looks through a connection: it follows the activity,
// as interfaces of other machines and phones do that show no layout of this host. A command
// does so for a moment at most.
func IsInterface(l *core.Link) bool { return l.Watches(ahp.ActivityURI) }

// mayEnter judges what an agent types into a shell once it presses Enter, also ahead while a
// command runs that does not read it; what came before is kept by then.
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

// Entered is the whole line of which an agent has typed the end just now.
func (t *Terminal) Entered(_ core.Tx, end string) string { return t.line.With(end) }

// Denied is an error in AHP's words.
func Denied(err error) error {
	if r, is := errors.AsType[*guard.Refusal](err); is {
		return ahp.PermissionDenied("%s", r.Asked())
	}
	return err
}
