package ui_test

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/changeset"
	"tandemux/internal/fileuri"
)

// reviewed is what a host has of changes and of comments on them.
type reviewed struct {
	sets     map[ahp.URI]*changeset.State // by channel
	notes    map[ahp.URI]*annotation.State
	contents map[ahp.URI]string // of files, and of what they had
}

// Edit is what a session did to a file: From is its name before, "" for the same one.
type Edit struct {
	Path, From  string
	Before, Now *string
	Binary      bool
}

func text(s string) *string { return &s }

// set is the channel of a session's changeset.
func (s *Session) set() ahp.URI {
	return changeset.Scheme + strings.TrimPrefix(s.URI, ahp.SessionScheme)
}

// Changes has the session list a changeset with files.
func (s *Session) Changes(edits ...Edit) {
	h := s.host
	if h.sets == nil {
		h.sets, h.contents = map[ahp.URI]*changeset.State{}, map[ahp.URI]string{}
	}
	st := &changeset.State{Status: changeset.Ready}
	h.sets[s.set()] = st
	for _, e := range edits {
		st.Files = append(st.Files, s.changed(e))
	}
	row, err := json.Marshal(changeset.Changeset{Label: "Changes", Template: s.set(), Kind: changeset.KindUncommitted})
	if err != nil {
		h.t.Fatal(err)
	}
	s.DoSession(ahp.SessionChangesetsChanged{Changesets: []json.RawMessage{row}})
}

// Edits tells that a file is another one now.
func (s *Session) Edits(e Edit) {
	a := changeset.FileSet{File: s.changed(e)}
	st := s.host.sets[s.set()]
	*st = changeset.Reduce(*st, a)
	s.host.emit(s.set(), a, nil)
}

func (s *Session) changed(e Edit) changeset.File {
	at := func(name string) ahp.URI {
		return fileuri.Of(filepath.Join(fileuri.Path(s.state.WorkingDirectories[0]), name))
	}
	uri := at(e.Path)
	f := changeset.File{ID: uri}
	count := func(t *string) (n int) {
		if t != nil {
			n = strings.Count(*t, "\n")
		}
		return n
	}
	added, removed := max(count(e.Now)-count(e.Before), 1), max(count(e.Before)-count(e.Now), 1)
	if !e.Binary {
		f.Edit.Diff = &changeset.Lines{Added: &added, Removed: &removed}
	}
	if e.Before != nil {
		was := uri
		if e.From != "" {
			was = at(e.From)
		}
		f.Edit.Before = &changeset.Side{URI: was, Content: changeset.ContentRef{URI: s.set() + "/was/" + e.Path}}
		s.host.contents[f.Edit.Before.Content.URI] = *e.Before
	}
	if e.Now != nil {
		f.Edit.After = &changeset.Side{URI: uri, Content: changeset.ContentRef{URI: uri}}
		s.host.contents[uri] = *e.Now
	}
	return f
}

// Notes are the comments of the session.
func (s *Session) Notes() *annotation.State {
	h := s.host
	if h.notes == nil {
		h.notes = map[ahp.URI]*annotation.State{}
	}
	uri := s.URI + annotation.Suffix
	if h.notes[uri] == nil {
		h.notes[uri] = &annotation.State{}
	}
	return h.notes[uri]
}

// Notices applies what somebody else does to the comments.
func (s *Session) Notices(a ahp.Action) { s.host.doComments(s.URI+annotation.Suffix, a, nil) }

func (h *Host) subscribeChanges(uri ahp.URI) bool {
	session := h.session(strings.TrimSuffix(uri, annotation.Suffix))
	switch {
	case h.sets[uri] != nil:
		h.follows[uri] = true
		h.snapshot(uri, h.sets[uri])
	case session != nil && strings.HasSuffix(uri, annotation.Suffix):
		h.follows[uri] = true
		h.snapshot(uri, session.Notes())
	default:
		return false
	}
	return true
}

func (h *Host) doComments(uri ahp.URI, a ahp.Action, origin *ahp.Origin) bool {
	if !strings.HasSuffix(uri, annotation.Suffix) {
		return false
	}
	st := h.session(strings.TrimSuffix(uri, annotation.Suffix)).Notes()
	*st = annotation.Reduce(*st, a)
	h.emit(uri, a, origin)
	return true
}
