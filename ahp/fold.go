package ahp

// TerminalFold folds actions into a terminal's state in time linear in their
// length, which ReduceTerminal, a pure function over strings, cannot. It is
// changed in place and is not safe for concurrent use.
type TerminalFold struct {
	// Limit bounds the text kept, in bytes; the oldest goes first (G16). 0
	// keeps everything.
	Limit int

	state TerminalState
	tail  []byte
}

// NewTerminalFold starts from a snapshot's state.
func NewTerminalFold(s TerminalState, limit int) *TerminalFold { panic("not yet") }

// Apply folds one action.
func (f *TerminalFold) Apply(a Action) { panic("not yet") }

// State is the state now. It shares no memory that Apply changes.
func (f *TerminalFold) State() TerminalState { panic("not yet") }
