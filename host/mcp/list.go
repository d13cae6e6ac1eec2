package mcp

import "context"

type listOutput struct {
	Terminals []terminal `json:"terminals"`
}

// text is the bare array of the document (T3); a structured answer has to be an
// object.
func (l listOutput) text() any { return l.Terminals }

// listTerminals is T3 and T4.
// Those whose process has ended are left out (docs/contributing/decisions.md §17).
func listTerminals(ctx context.Context, c call, _ struct{}) (listOutput, error) {
	out := listOutput{Terminals: []terminal{}}
	all, err := c.list(ctx)
	for _, t := range all {
		if !t.Lifecycle.Exited() {
			out.Terminals = append(out.Terminals, c.describe(&t))
		}
	}
	return out, err
}
