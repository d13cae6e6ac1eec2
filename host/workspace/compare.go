package workspace

import (
	"cmp"
	"maps"
	"slices"

	"tandemux/host/workspace/filetree"
)

// compare finds what each side changed since both were equal to base. It returns the changes to make
// on the other side, and in met what both sides agree on afterwards. down means from the filesystem to
// the workspace, else the changes go the other way.
func (s *syncing) compare(remote *filetree.Manifest, down bool) (met map[string]*filetree.Entry, changes []filetree.Change) {
	met = map[string]*filetree.Entry{}
	from, to, wanted := entryMap(s.local.Files), entryMap(remote.Entries), PreferWorkspace
	if down {
		from, to, wanted = to, from, PreferSource
	}
	all := map[string]*filetree.Change{}
	filetree.WalkThree(s.base.Entries, remote.Entries, s.local.Files, func(path string, b, r, l *filetree.Entry) {
		met[path] = b
		if l == nil && s.local.Hidden(path) {
			return // what it is can't be known
		}
		giving, taking := l, r
		if down {
			giving, taking = r, l
		}
		if filetree.Equal(l, r) || filetree.Equal(l, b) {
			met[path] = l // with its current stamp
		}
		switch {
		case filetree.Equal(l, r):
		case filetree.Equal(giving, b): // nothing changed on the giving side
		case filetree.Equal(taking, b) || s.preferred(wanted, path):
			all[path] = &filetree.Change{Path: path, To: giving, Was: taking}
		default:
			s.out.Conflict(path)
		}
	})
	s.fit(all, from, to)
	for path, c := range all {
		met[path] = c.To
		changes = append(changes, *c)
	}
	slices.SortFunc(changes, func(a, b filetree.Change) int { return cmp.Compare(a.Path, b.Path) })
	return met, changes
}

func entryMap(entries []filetree.Entry) map[string]*filetree.Entry {
	m := make(map[string]*filetree.Entry, len(entries))
	for i := range entries {
		m[entries[i].Path] = &entries[i]
	}
	return m
}

// fit removes changes whose result would not be a tree: a directory with something in it stays, and a
// path below a file is a conflict.
func (s *syncing) fit(all map[string]*filetree.Change, from, to map[string]*filetree.Entry) {
	if len(all) == 0 {
		return
	}
	then := func(path string) *filetree.Entry {
		if c := all[path]; c != nil {
			return c.To
		}
		return to[path]
	}
	dropped := map[string]bool{} // each change is dropped at most once, so the loop ends
	drop := func(c *filetree.Change) {
		delete(all, c.Path)
		dropped[c.Path] = true
		if c.To != nil || !c.Was.Mode.IsDir() { // a directory that stays is no conflict
			s.out.Conflict(c.Path)
		}
	}
	for again := true; again; {
		again = false
		check := func(path string) {
			if then(path) == nil {
				return
			}
			dir, _ := filetree.Parent(path)
			if dir == "" {
				return
			}
			at := then(dir)
			if at != nil && at.Mode.IsDir() {
				return
			}
			again = true
			come, above := all[path], all[dir]
			switch {
			case above != nil && (come == nil || at != nil):
				drop(above)
			case come != nil && at == nil && !dropped[dir] && from[dir] != nil && from[dir].Mode.IsDir():
				all[dir] = &filetree.Change{Path: dir, To: from[dir], Was: to[dir]}
				s.out.Conflicts = slices.DeleteFunc(s.out.Conflicts, func(p string) bool { return p == dir })
			case come != nil:
				drop(come)
			default:
				again = false // neither side is a valid tree
			}
		}
		for path := range to {
			check(path)
		}
		for _, path := range slices.Collect(maps.Keys(all)) {
			check(path)
		}
	}
}

// agreed returns a manifest of what both sides agree on.
func agreed(met map[string]*filetree.Entry) *filetree.Manifest {
	entries := make([]filetree.Entry, 0, len(met))
	for _, e := range met {
		if e != nil {
			entries = append(entries, *e)
		}
	}
	slices.SortFunc(entries, filetree.ComparePaths)
	return filetree.NewManifest(entries)
}
