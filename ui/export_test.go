package ui

import (
	"maps"
	"slices"
)

// Actions gives the names of the commands that have an action.
func (m *Model) Actions() []string {
	return slices.Collect(maps.Keys(m.actions))
}
