package approval

import "tandemux/ahp"

// interrupted is the code of the error of a call whose end nobody has told.
const interrupted = `"tandemux/interrupted"`

// Interrupted reports whether nobody has told how a call ended: Outcome says what is
// known.
func Interrupted(t *ahp.ToolCall) bool {
	return t.Error != nil && string(t.Error.Code) == interrupted
}

// Outcome words how a call ended that did not do what it was there for, "" for others.
// A call that was not confirmed was not run; of one that its turn has ended with,
// nobody knows but who has said so.
func Outcome(t *ahp.ToolCall) string {
	switch {
	case Interrupted(t):
		return OneLine(t.Error.Message)
	case t.Status != ahp.ToolCancelled:
		return ""
	case t.Reason == ahp.ReasonDenied:
		return "rejected"
	case t.Reason == ahp.ReasonResultDenied:
		return "result rejected"
	case t.ReasonMessage != nil && t.ReasonMessage.Text != "":
		return OneLine(t.ReasonMessage.Text)
	}
	return "may have run"
}
