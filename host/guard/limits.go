package guard

import "time"

// Limits is what one agent may do (docs/contributing/decisions.md §23–§25).
type Limits struct {
	Policy Policy
	// Spawns a minute and Terminals at once are for the background terminals of one
	// agent, Calls at once for those in which a tool call runs; 0 means any number.
	Spawns, Terminals, Calls int
	// Idle is how long an agent's background terminal may be without input and
	// output before it is ended; 0 means for ever.
	Idle time.Duration
}

// DefaultLimits are those of the documents (T10–T13, T38).
func DefaultLimits() Limits {
	return Limits{Policy: Default(), Spawns: 3, Terminals: 5, Calls: 20, Idle: 5 * time.Minute}
}
