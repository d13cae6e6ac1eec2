package changeset

import (
	"encoding/json"
	"slices"

	"tandemux/ahp"
)

const (
	// Scheme is the scheme of the URIs of changesets.
	Scheme = "ahp-changeset:"
	// MethodInvoke runs an operation.
	MethodInvoke = "invokeChangesetOperation"
)

// Changeset is an entry in a session's list of changesets.
type Changeset struct {
	Label string `json:"label"`
	// Template is the channel's URI, or a template (RFC 6570) that gives it.
	Template     string        `json:"uriTemplate"`
	Description  string        `json:"description,omitempty"`
	Kind         string        `json:"changeKind"`
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// The values of Changeset.Kind that this host has.
const (
	KindUncommitted = "uncommitted"
	KindBranch      = "branch"
)

// Capabilities says what clients can do with a changeset besides reading it.
type Capabilities struct {
	Review *struct{} `json:"review,omitempty"`
}

// State is the state of a changeset's channel.
type State struct {
	Status     string         `json:"status"`
	Error      *ahp.ErrorInfo `json:"error,omitempty"`
	Files      ahp.List[File] `json:"files"`
	Operations []Operation    `json:"operations,omitzero"`
}

// The values of State.Status.
const (
	Computing = "computing"
	Ready     = "ready"
	Failed    = "error"
)

type File struct {
	ID       string          `json:"id"` // the URI of the file, or of the deleted file
	Edit     Edit            `json:"edit"`
	Reviewed bool            `json:"reviewed,omitempty"`
	Meta     json.RawMessage `json:"_meta,omitempty"`
}

// Edit says how a file changed: without Before it was created, without After it was deleted.
type Edit struct {
	Before *Side  `json:"before,omitempty"`
	After  *Side  `json:"after,omitempty"`
	Diff   *Lines `json:"diff,omitempty"`
}

// Side is a file before or after a change.
type Side struct {
	URI     ahp.URI    `json:"uri"`
	Content ContentRef `json:"content"`
}

// ContentRef says where contents can be read (with resourceRead).
type ContentRef struct {
	URI         ahp.URI `json:"uri"`
	SizeHint    *int64  `json:"sizeHint,omitempty"`
	ContentType string  `json:"contentType,omitempty"`
}

type Lines struct {
	Added   *int `json:"added,omitempty"`
	Removed *int `json:"removed,omitempty"`
}

// Operation is something that can be done with a changeset or a file in it.
type Operation struct {
	ID          string           `json:"id"`
	Label       string           `json:"label"`
	Description string           `json:"description,omitempty"`
	Scopes      ahp.List[string] `json:"scopes"`
	Confirm     *ahp.Prose       `json:"confirmation,omitempty"`
	Icon        string           `json:"icon,omitempty"`
	Group       string           `json:"group,omitempty"`
	Status      string           `json:"status"`
	Error       *ahp.ErrorInfo   `json:"error,omitempty"`
}

// The values of Operation.Status, in addition to Failed.
const (
	Idle    = "idle"
	Running = "running"
)

// The values of Operation.Scopes. OnResource is also a value of Target.Kind.
const (
	OnChangeset = "changeset"
	OnResource  = "resource"
)

// Target is the file, or the range of lines in it, that an operation is applied to.
type Target struct {
	Kind     string          `json:"kind"`
	Resource ahp.URI         `json:"resource"`
	Side     string          `json:"side,omitempty"`
	Range    json.RawMessage `json:"range,omitempty"`
}

// InvokeParams runs an operation (MethodInvoke).
type InvokeParams struct {
	Channel     ahp.URI    `json:"channel"`
	OperationID string     `json:"operationId"`
	Target      *Target    `json:"target,omitempty"`
	Meta        InvokeMeta `json:"_meta,omitzero"`
}

// InvokeMeta is tandemux's addition to InvokeParams.
type InvokeMeta struct {
	// Message is a commit's message.
	Message string `json:"tandemux/message,omitempty"`
}

// InvokeResult says what the operation has done.
type InvokeResult struct {
	Message string `json:"message,omitempty"`
}

// Actions of changesets.
type (
	// StatusChanged says whether the changeset is computed. Host only, as are all but
	// FilesReviewChanged.
	StatusChanged struct {
		Status string         `json:"status"`
		Error  *ahp.ErrorInfo `json:"error,omitempty"`
	}
	// FileSet adds a file, or replaces the one with its id.
	FileSet struct {
		File File `json:"file"`
	}
	FileRemoved struct {
		FileID string `json:"fileId"`
	}
	// FilesReviewChanged says that somebody has reviewed files, or that they are to be reviewed again.
	FilesReviewChanged struct {
		Files    ahp.List[string] `json:"files"`
		Reviewed bool             `json:"reviewed"`
	}
	// ContentChanged replaces the files, and the operations unless it has none.
	ContentChanged struct {
		Files      ahp.List[File] `json:"files"`
		Operations []Operation    `json:"operations,omitzero"`
		Error      *ahp.ErrorInfo `json:"error,omitempty"`
	}
	// OperationsChanged replaces the operations.
	OperationsChanged struct {
		Operations []Operation `json:"operations,omitzero"`
	}
	OperationStatusChanged struct {
		OperationID string         `json:"operationId"`
		Status      string         `json:"status"`
		Error       *ahp.ErrorInfo `json:"error,omitempty"`
	}
	// Cleared removes all files.
	Cleared struct{}
)

func (StatusChanged) ActionType() string          { return "changeset/statusChanged" }
func (FileSet) ActionType() string                { return "changeset/fileSet" }
func (FileRemoved) ActionType() string            { return "changeset/fileRemoved" }
func (FilesReviewChanged) ActionType() string     { return "changeset/filesReviewChanged" }
func (ContentChanged) ActionType() string         { return "changeset/contentChanged" }
func (OperationsChanged) ActionType() string      { return "changeset/operationsChanged" }
func (OperationStatusChanged) ActionType() string { return "changeset/operationStatusChanged" }
func (Cleared) ActionType() string                { return "changeset/cleared" }

func init() {
	ahp.Register(
		ahp.Row[StatusChanged](ahp.ByHost), ahp.Row[FileSet](ahp.ByHost), ahp.Row[FileRemoved](ahp.ByHost),
		ahp.Row[FilesReviewChanged](ahp.ByClientLater), ahp.Row[ContentChanged](ahp.ByHost), ahp.Row[OperationsChanged](ahp.ByHost),
		ahp.Row[OperationStatusChanged](ahp.ByHost), ahp.Row[Cleared](ahp.ByHost),
	)
}

// Reduce returns the state after an action.
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

// find returns the index of the file with the id, or -1.
func (s State) find(id string) int {
	return slices.IndexFunc(s.Files, func(f File) bool { return f.ID == id })
}
