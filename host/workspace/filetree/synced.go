package filetree

// Synced is what a synchronisation did.
type Synced struct {
	Version   string   `json:"version"`       // the filesystem's, afterwards
	Changed   []string `json:"files_changed"` // paths written or removed on the side that was brought up to date; at most 1000
	Count     int      `json:"count"`         // of all that changed
	Conflicts []string `json:"conflicts"`     // changed on both sides, and left as they are on both; at most 1000
	Skipped   []string `json:"skipped"`       // not kept: devices, sockets, FIFOs, unreadable files; at most 1000
}

func (s *Synced) Change(path string) {
	s.Count++
	s.Changed = listed(s.Changed, path)
}

func (s *Synced) Conflict(path string) { s.Conflicts = listed(s.Conflicts, path) }

// listed adds a path to those that a result names.
func listed(all []string, path string) []string {
	if len(all) < MaxListed {
		all = append(all, path)
	}
	return all
}

// Whole makes lists of what is nil, for JSON.
func (s *Synced) Whole() Synced {
	for _, list := range []*[]string{&s.Changed, &s.Conflicts, &s.Skipped} {
		if *list == nil {
			*list = []string{}
		}
	}
	return *s
}
