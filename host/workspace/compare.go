package workspace

import (
	"cmp"
	"maps"
	"slices"
)

// compare finds what each side did since both were base: what is to change on the
// other side, and met, what both sides are agreed on afterwards. down means that the
// filesystem's changes go into the workspace; else the other way.
func (s *syncing) compare(remote *Manifest, local []Entry, down bool) (met map[string]*Entry, changes []change) {
	met = map[string]*Entry{}
	from, to, wanted := entryMap(local), entryMap(remote.entries), PreferWorkspace
	if down {
		from, to, wanted = to, from, PreferSource
	}
	all := map[string]*change{}
	walkThree(s.base.entries, remote.entries, local, func(path string, b, r, l *Entry) {
		met[path] = b
		if l == nil && s.local.hidden(path) {
			return // it can't be said what it is
		}
		giving, taking := l, r
		if down {
			giving, taking = r, l
		}
		switch {
		case equal(l, r):
			met[path] = l
		case equal(giving, b): // nothing to give
		case equal(taking, b) || s.prefer == wanted:
			all[path] = &change{path, giving, taking}
		default:
			s.out.conflict(path)
		}
	})
	s.fit(all, from, to)
	for path, c := range all {
		met[path] = c.to
		changes = append(changes, *c)
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return met, changes
}

func entryMap(entries []Entry) map[string]*Entry {
	m := make(map[string]*Entry, len(entries))
	for i := range entries {
		m[entries[i].Path] = &entries[i]
	}
	return m
}

// fit sees to it that what comes of the changes is a tree: what is in a directory
// keeps it, and what would be in a file is a conflict.
func (s *syncing) fit(all map[string]*change, from, to map[string]*Entry) {
	if len(all) == 0 {
		return
	}
	then := func(path string) *Entry {
		if c := all[path]; c != nil {
			return c.to
		}
		return to[path]
	}
	dropped := map[string]bool{} // each goes once, so that it ends
	drop := func(c *change) {
		delete(all, c.path)
		dropped[c.path] = true
		if c.to != nil || !c.was.Mode.IsDir() { // a directory that stays is no conflict
			s.out.conflict(c.path)
		}
	}
	for again := true; again; {
		again = false
		check := func(path string) {
			if then(path) == nil {
				return
			}
			dir, _ := parent(path)
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
				all[dir] = &change{dir, from[dir], to[dir]}
				s.out.Conflicts = slices.DeleteFunc(s.out.Conflicts, func(p string) bool { return p == dir })
			case come != nil:
				drop(come)
			default:
				again = false // neither tree is one; not ours to mend
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

// agreed makes a manifest of what both sides are agreed on.
func agreed(met map[string]*Entry) *Manifest {
	entries := make([]Entry, 0, len(met))
	for _, e := range met {
		if e != nil {
			entries = append(entries, *e)
		}
	}
	slices.SortFunc(entries, comparePaths)
	return newManifest(entries)
}
