package ui

// Actions gives the names of the commands that have an action.
func Actions() []string {
	var names []string
	for name := range actions {
		names = append(names, name)
	}
	return names
}
