package workspace

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
)

// change is what is to become of a path; to is nil where it is to go.
type change struct {
	path string
	to   *Entry
	was  *Entry // what is there now, on the side that changes
}

// compare finds what each side did since both were base: what is to change on the
// other side, and met, what both sides are agreed on afterwards. down means that the
// filesystem's changes go into the workspace; else the other way.
func (s *syncing) compare(remote *Manifest, local []Entry, down bool) (met []Entry, changes []change) {
	walkThree(s.base.entries, remote.entries, local, func(path string, b, r, l *Entry) {
		if l == nil && s.local.hidden(path) {
			met = keep(met, b) // it can't be said what it is
			return
		}
		mine, theirs := !equal(l, b), !equal(r, b)
		switch {
		case equal(l, r):
			met = keep(met, l)
		case !mine && !theirs:
			met = keep(met, b)
		case !mine && theirs:
			if down {
				changes = append(changes, change{path, r, l})
				met = keep(met, r)
			} else {
				met = keep(met, b)
			}
		case mine && !theirs:
			if down {
				met = keep(met, b)
			} else {
				changes = append(changes, change{path, l, r})
				met = keep(met, l)
			}
		case s.prefer == PreferSource && down:
			changes = append(changes, change{path, r, l})
			met = keep(met, r)
		case s.prefer == PreferWorkspace && !down:
			changes = append(changes, change{path, l, r})
			met = keep(met, l)
		default:
			s.out.conflict(path)
			met = keep(met, b)
		}
	})
	sortEntries(met)
	return met, withoutLoss(changes, remote, local, down)
}

// withoutLoss keeps directories that are to go while the side that loses them has
// something in them that stays.
func withoutLoss(changes []change, remote *Manifest, local []Entry, down bool) []change {
	there := local
	if !down {
		there = remote.entries
	}
	going := map[string]bool{}
	for _, c := range changes {
		if c.to == nil || !c.to.Mode.IsDir() {
			going[c.path] = true
		}
	}
	stays := map[string]bool{} // directories with something that stays
	for i := range there {
		if e := &there[i]; !going[e.Path] {
			for dir, _ := parent(e.Path); dir != "" && !stays[dir]; dir, _ = parent(dir) {
				stays[dir] = true
			}
		}
	}
	return slices.DeleteFunc(changes, func(c change) bool {
		return c.was != nil && c.was.Mode.IsDir() && (c.to == nil || !c.to.Mode.IsDir()) && stays[c.path]
	})
}

func keep(met []Entry, e *Entry) []Entry {
	if e == nil {
		return met
	}
	return append(met, *e)
}

func equal(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.same(*b)
}

// walkThree visits the union of three sorted lists by path.
func walkThree(a, b, c []Entry, visit func(path string, a, b, c *Entry)) {
	lists := [3][]Entry{a, b, c}
	for {
		least, any := "", false
		for _, l := range lists {
			if len(l) > 0 && (!any || cmp.Compare(l[0].Path, least) < 0) {
				least, any = l[0].Path, true
			}
		}
		if !any {
			return
		}
		var at [3]*Entry
		for i, l := range lists {
			if len(l) > 0 && l[0].Path == least {
				at[i], lists[i] = &l[0], l[1:]
			}
		}
		visit(least, at[0], at[1], at[2])
	}
}

// readHead reads the first bytes of a file.
func readHead(file string, n int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, errors.Join(errShort, err)
	}
	return b, nil
}
