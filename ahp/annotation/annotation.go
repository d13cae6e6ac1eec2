package annotation

import (
	"encoding/json"
	"slices"

	"tandemux/ahp"
)

// Suffix, appended to a session's URI, gives the URI of the session's annotations.
const Suffix = "/annotations"

// Summary is the member annotations of a session's state and summary.
type Summary struct {
	Resource        ahp.URI `json:"resource"`
	AnnotationCount int     `json:"annotationCount"`
	EntryCount      int     `json:"entryCount"`
}

// State is the state of an annotations channel.
type State struct {
	Annotations ahp.List[Annotation] `json:"annotations"`
}

// Annotation is a conversation about a file, or a range of it.
type Annotation struct {
	ID       string          `json:"id"`
	Origin   Origin          `json:"origin"`
	Resource ahp.URI         `json:"resource"`
	Range    *Range          `json:"range,omitempty"` // nil for the whole file
	Resolved bool            `json:"resolved"`
	Entries  ahp.List[Entry] `json:"entries"` // oldest first
	Meta     json.RawMessage `json:"_meta,omitempty"`
}

// Origin says which session's, chat's or turn's version of the file an annotation is about.
type Origin struct {
	Session ahp.URI `json:"session"`
	Chat    ahp.URI `json:"chat,omitempty"`
	TurnID  string  `json:"turnId,omitempty"`
}

// Range is a range of a text. Lines and characters count from 0.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Sane reports whether the range begins at or before its end and no number is negative or above most.
func (r Range) Sane(most int) bool {
	for _, n := range []int{r.Start.Line, r.Start.Character, r.End.Line, r.End.Character} {
		if n < 0 || n > most {
			return false
		}
	}
	return r.Start.Line < r.End.Line || r.Start.Line == r.End.Line && r.Start.Character <= r.End.Character
}

// Position is a place in a text.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Entry is one comment.
type Entry struct {
	ID   string          `json:"id"`
	Text ahp.Prose       `json:"text"`
	Meta json.RawMessage `json:"_meta,omitempty"`
}

type (
	// Set adds an annotation, or replaces the one with its id.
	Set struct {
		Annotation Annotation `json:"annotation"`
	}
	// Updated changes those members of an annotation that it has.
	Updated struct {
		AnnotationID string  `json:"annotationId"`
		Origin       *Origin `json:"origin,omitempty"`
		TurnID       *string `json:"turnId,omitempty"` // 0.5 has it instead of an origin
		Resource     ahp.URI `json:"resource,omitempty"`
		Range        *Range  `json:"range,omitempty"`
		Resolved     *bool   `json:"resolved,omitempty"`
	}
	Removed struct {
		AnnotationID string `json:"annotationId"`
	}
	// EntrySet adds an entry, or replaces the one with its id.
	EntrySet struct {
		AnnotationID string `json:"annotationId"`
		Entry        Entry  `json:"entry"`
	}
	EntryRemoved struct {
		AnnotationID string `json:"annotationId"`
		EntryID      string `json:"entryId"`
	}
)

func (Set) ActionType() string          { return "annotations/set" }
func (Updated) ActionType() string      { return "annotations/updated" }
func (Removed) ActionType() string      { return "annotations/removed" }
func (EntrySet) ActionType() string     { return "annotations/entrySet" }
func (EntryRemoved) ActionType() string { return "annotations/entryRemoved" }

func init() {
	ahp.Register(
		ahp.Row[Set](ahp.ByClient), ahp.Row[Updated](ahp.ByClient), ahp.Row[Removed](ahp.ByClient),
		ahp.Row[EntrySet](ahp.ByClient), ahp.Row[EntryRemoved](ahp.ByClient),
	)
}

// Reduce returns the state after an action. An action about an annotation that does not exist changes
// nothing.
func Reduce(s State, a ahp.Action) State {
	switch a := a.(type) {
	case Set:
		s.Annotations = put(s.Annotations, a.Annotation, Annotation.id)
	case Updated:
		s.change(a.AnnotationID, func(n *Annotation) {
			if a.Origin != nil {
				n.Origin = *a.Origin
			} else if a.TurnID != nil {
				n.Origin.TurnID = *a.TurnID
			}
			if a.Resource != "" {
				n.Resource = a.Resource
			}
			if a.Range != nil {
				n.Range = a.Range
			}
			if a.Resolved != nil {
				n.Resolved = *a.Resolved
			}
		})
	case Removed:
		s.Annotations = without(s.Annotations, a.AnnotationID, Annotation.id)
	case EntrySet:
		s.change(a.AnnotationID, func(n *Annotation) { n.Entries = put(n.Entries, a.Entry, Entry.id) })
	case EntryRemoved:
		s.change(a.AnnotationID, func(n *Annotation) { n.Entries = without(n.Entries, a.EntryID, Entry.id) })
	}
	return s
}

func (n Annotation) id() string { return n.ID }
func (e Entry) id() string      { return e.ID }

// change calls do with a copy of the annotation with the id, if there is one.
func (s *State) change(id string, do func(*Annotation)) {
	if i := index(s.Annotations, id, Annotation.id); i >= 0 {
		s.Annotations = slices.Clone(s.Annotations)
		do(&s.Annotations[i])
	}
}

// Find returns the annotation with the id, or nil.
func (s State) Find(id string) *Annotation {
	if i := index(s.Annotations, id, Annotation.id); i >= 0 {
		return &s.Annotations[i]
	}
	return nil
}

// Entry returns the entry with the id, or nil.
func (n Annotation) Entry(id string) *Entry {
	if i := index(n.Entries, id, Entry.id); i >= 0 {
		return &n.Entries[i]
	}
	return nil
}

func index[T any](list []T, id string, of func(T) string) int {
	return slices.IndexFunc(list, func(v T) bool { return of(v) == id })
}

// put returns a copy of list in which v replaces the element with its id, or is appended.
func put[T any](list []T, v T, of func(T) string) []T {
	if i := index(list, of(v), of); i >= 0 {
		list = slices.Clone(list)
		list[i] = v
		return list
	}
	return append(slices.Clip(list), v)
}

func without[T any](list []T, id string, of func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(list), func(v T) bool { return of(v) == id })
}

// Summary counts the annotations and their entries.
func (s State) Summary(resource ahp.URI) Summary {
	sum := Summary{Resource: resource, AnnotationCount: len(s.Annotations)}
	for _, n := range s.Annotations {
		sum.EntryCount += len(n.Entries)
	}
	return sum
}

type (
	plainAnnotation Annotation
	plainUpdated    Updated
)

// As05 returns the annotation in the form of 0.5.
func (n Annotation) As05() any {
	return struct {
		plainAnnotation
		Origin *Origin `json:"origin,omitempty"`
		TurnID string  `json:"turnId"`
	}{plainAnnotation(n), nil, n.Origin.TurnID}
}

// UnmarshalJSON accepts the form of every version.
func (n *Annotation) UnmarshalJSON(b []byte) error {
	var w struct {
		plainAnnotation
		TurnID string `json:"turnId"`
	}
	if err := ahp.Unmarshal(b, &w); err != nil {
		return err
	}
	*n = Annotation(w.plainAnnotation)
	if n.Origin == (Origin{}) {
		n.Origin.TurnID = w.TurnID
	}
	return nil
}

// As05 returns the update in the form of 0.5.
func (a Updated) As05() any {
	if a.Origin != nil {
		a.TurnID, a.Origin = &a.Origin.TurnID, nil
	}
	return struct {
		Type string `json:"type"`
		plainUpdated
	}{a.ActionType(), plainUpdated(a)}
}
