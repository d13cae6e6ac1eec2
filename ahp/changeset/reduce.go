package changeset

import (
	"slices"

	"tandemux/ahp"
)

// Reduce is the state after an action.
func Reduce(s State, a ahp.Action) State {
	switch a := a.(type) {
	case StatusChanged:
		s.Status, s.Error = a.Status, nil
		if a.Status == Failed {
			s.Error = a.Error
		}
	case FileSet:
		s.Files = slices.Clone(s.Files)
		if i := s.find(a.File.ID); i >= 0 {
			s.Files[i] = a.File
		} else {
			s.Files = append(s.Files, a.File)
		}
	case FileRemoved:
		if i := s.find(a.FileID); i >= 0 {
			s.Files = slices.Concat(s.Files[:i], s.Files[i+1:])
		}
	case FilesReviewChanged:
		named := map[string]bool{}
		for _, id := range a.Files {
			named[id] = true
		}
		s.Files = slices.Clone(s.Files)
		for i := range s.Files {
			if named[s.Files[i].ID] {
				s.Files[i].Reviewed = a.Reviewed
			}
		}
	case ContentChanged:
		s.Files, s.Error = a.Files, a.Error
		if a.Operations != nil {
			s.Operations = a.Operations
		}
	case OperationsChanged:
		s.Operations = a.Operations
	case OperationStatusChanged:
		i := slices.IndexFunc(s.Operations, func(o Operation) bool { return o.ID == a.OperationID })
		if i < 0 {
			break
		}
		s.Operations = slices.Clone(s.Operations)
		o := &s.Operations[i]
		o.Status, o.Error = a.Status, nil
		if a.Status == Failed {
			o.Error = a.Error
		}
	case Cleared:
		s.Files = nil
	}
	return s
}

// find is the index of a file, or -1.
func (s State) find(id string) int {
	return slices.IndexFunc(s.Files, func(f File) bool { return f.ID == id })
}
