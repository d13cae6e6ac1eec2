package ui

// Actions gives the names of the commands that have an action.
func Actions() []string {
	var names []string
	for name := range actions {
		names = append(names, name)
	}
	return names
}

// Break panics as the connection's goroutine might.
func (s *Sink) Break() {
	defer s.fence()
	panic("boom on the connection")
}
