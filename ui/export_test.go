package ui

import (
	"maps"
	"slices"

	"tandemux/ui/outer"
)

// Outer is what is known of the outer terminal.
func (m *Model) Outer() *outer.Terminal { return m.outer }

// Actions gives the names of the commands that have an action.
func (m *Model) Actions() []string {
	return slices.Collect(maps.Keys(m.actions))
}
