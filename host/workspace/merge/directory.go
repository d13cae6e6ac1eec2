package merge

import (
	"fmt"

	"tandemux/host/workspace/filetree"
)

// Pair is a path that is not what it was; either may be nil.
type Pair struct {
	Path     string
	Old, Now *filetree.Entry
}

// Bringable finds what is to change in a directory, where what there is is still what the
// work began with. Where it is not, the error is Conflicts. git's own files stay where
// they are (left): what an agent writes there, the user's git would run.
func Bringable(source string, home *filetree.Folder, pairs []Pair) (changes []filetree.Change, left []string, err error) {
	conflicts := &Conflicts{Into: "the directory " + source}
	for _, p := range pairs {
		if filetree.IsGit(p.Path) {
			if len(left) < filetree.MaxListed {
				left = append(left, p.Path)
			}
			continue
		}
		there, err := Look(home, p.Path)
		switch {
		case err != nil:
			return nil, left, err
		case filetree.Equal(there, p.Now):
			continue
		case !filetree.Equal(there, p.Old):
			conflicts.Paths = append(conflicts.Paths, p.Path)
			continue
		}
		changes = append(changes, filetree.Change{Path: p.Path, To: p.Now, Was: there})
	}
	if len(conflicts.Paths) > 0 {
		conflicts.Paths = conflicts.Paths[:min(len(conflicts.Paths), filetree.MaxListed)]
		return nil, left, conflicts
	}
	return changes, left, nil
}

// Look gives what is at a path of a directory, nil for nothing.
func Look(top *filetree.Folder, path string) (*filetree.Entry, error) {
	e, err := filetree.Standing(top, path)
	if e == nil || err != nil {
		return nil, err
	}
	at := filetree.Source{Top: top}
	switch {
	case e.Mode.IsDir():
		e.Modified = 0
	case e.IsLink():
		target, err := at.Target(e)
		if err != nil {
			return nil, err
		}
		e.Link(target)
	case e.Mode.IsRegular():
		f, now, err := at.Open(e)
		if err != nil {
			return nil, fmt.Errorf("look at %q: %w", filetree.Clip(path), err)
		}
		defer f.Close()
		e.Stamp = now
		if e.Sum, e.Size, err = filetree.SumFile(f); err != nil {
			return nil, err
		}
	}
	return e, nil
}
