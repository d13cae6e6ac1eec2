package ahp

// ReduceRoot is the root channel's state after a. An action of another channel
// or an Unknown changes nothing.
func ReduceRoot(s RootState, a Action) RootState { panic("not yet") }

// ReduceTerminal is the terminal's state after a. It copies the last part's
// text for each terminal/data: fold many of them with a TerminalFold, and keep
// a host's own retention apart.
func ReduceTerminal(s TerminalState, a Action) TerminalState { panic("not yet") }

// ReduceLayout is the layout's state after a.
func ReduceLayout(s LayoutState, a Action) LayoutState { panic("not yet") }
