package changes

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
	"tandemux/host/core"
	"tandemux/host/git"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
	"tandemux/internal/pace"
)

var (
	errTooMany = fmt.Errorf("more than %d files differ, or their names are too long: commit some, or have git ignore them", maxFiles)
	errNoTree  = errors.New("the session works in no git work tree any more")
)

// set is the body of a changeset's channel, while somebody looks. Guarded by the lock.
type set struct {
	all     *Changes
	session ahp.URI
	ch      *core.Channel
	value   changeset.State

	tree  Tree                    // nil before the first computation
	top   string                  // of the tree
	files map[string]git.FileDiff // by id

	computing, again bool
	computed         time.Time
	running          string // the operation that is being carried out
}

func (s *set) Reduce(a ahp.Action)  { s.value = changeset.Reduce(s.value, a) }
func (s *set) State(tx core.Tx) any { return s.value }
func (s *set) Settle(tx core.Tx)    {}

// there reports whether the set is still one that somebody looks at.
func (s *set) there() bool { return s.all.sets[s.ch.URI] == s }

// refresh computes the changeset, or does so again once that is done.
func (s *set) refresh(tx core.Tx) {
	s.again = true
	if s.computing {
		return
	}
	s.computing = true
	state, _ := stateOf(tx, tx.Channel(s.session))
	dir, confined := s.all.directory(state), s.all.Confined(tx, s.session)
	wait := time.Until(s.computed.Add(pause))
	s.all.aside(tx, func(ctx context.Context) {
		if !pace.Sleep(ctx, wait) {
			return
		}
		s.all.Core.Locked(func(core.Tx) { s.again = false })
		ctx, cancel := context.WithTimeout(ctx, diffTime)
		defer cancel()
		found, err := s.look(ctx, dir, confined)
		s.all.Core.Do(func(tx core.Tx) {
			s.computing, s.computed = false, time.Now()
			if !s.there() || tx.Closing() {
				return
			}
			s.take(tx, found, err)
			if s.again {
				s.refresh(tx)
			}
		})
	})
}

// seen is what a computation has found.
type seen struct {
	tree  Tree
	files []changeset.File
	diffs map[string]git.FileDiff // by id
}

// look is a computation.
func (s *set) look(ctx context.Context, dir string, confined bool) (found seen, err error) {
	if found.tree, err = s.all.tree(ctx, dir, confined); err != nil {
		return seen{}, err
	}
	if found.tree == nil {
		return seen{}, errNoTree
	}
	diffs, err := found.tree.Diff(ctx)
	if err != nil {
		return seen{}, err
	}
	found.diffs = make(map[string]git.FileDiff, len(diffs))
	size := 0
	for _, d := range diffs {
		f := s.file(found.tree.Top(), d)
		found.files, found.diffs[f.ID] = append(found.files, f), d
		size += 4*len(f.ID) + 200
	}
	if size > maxBytes || len(diffs) > maxFiles {
		return seen{}, errTooMany
	}
	return found, nil
}

// take tells what a computation has found.
func (s *set) take(tx core.Tx, found seen, err error) {
	if err == nil {
		s.tree, s.top = found.tree, found.tree.Top()
		reviewed := s.all.Reviewed(tx, s.session)
		for i, f := range found.files {
			found.files[i].Reviewed = reviewed[f.ID] == print(found.diffs[f.ID])
		}
	}
	s.tell(tx, found)
	if ops := s.operations(); !reflect.DeepEqual(ops, s.value.Operations) {
		tx.Apply(s.ch, changeset.OperationsChanged{Operations: ops}, nil)
	}
	status := changeset.StatusChanged{Status: changeset.Ready}
	if err != nil {
		status = changeset.StatusChanged{Status: changeset.Failed, Error: failure(err)}
	}
	if s.value.Status != status.Status || !reflect.DeepEqual(s.value.Error, status.Error) {
		tx.Apply(s.ch, status, nil)
	}
}

// maxSteps bounds the changes that are told one by one.
const maxSteps = 32

// tell tells how the files differ from those that were told before.
func (s *set) tell(tx core.Tx, found seen) {
	var steps []core.Change
	reviewed := make(map[string]bool, len(s.value.Files))
	for _, f := range s.value.Files {
		reviewed[f.ID] = f.Reviewed
		if _, there := found.diffs[f.ID]; !there {
			steps = append(steps, core.Change{Action: changeset.FileRemoved{FileID: f.ID}})
		}
	}
	for _, f := range found.files {
		if was, there := s.files[f.ID]; !there || was != found.diffs[f.ID] || reviewed[f.ID] != f.Reviewed {
			steps = append(steps, core.Change{Action: changeset.FileSet{File: f}})
		}
	}
	if len(steps) > maxSteps {
		steps = []core.Change{{Action: changeset.ContentChanged{Files: found.files}}}
	}
	s.files = found.diffs
	if len(steps) > 0 {
		tx.ApplyAll(s.ch, steps, nil)
	}
}

// print is what a file is by which it was reviewed.
func print(d git.FileDiff) string { return d.New.Mode + " " + d.New.ID }

// failure words an error for people: what git says may be of others.
func failure(err error) *ahp.ErrorInfo {
	return &ahp.ErrorInfo{ErrorType: "git", Message: clean(err)}
}

func clean(err error) string {
	return params.ClipTo(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(err.Error(), "\uFFFD")), 1000)
}

// file is a difference in AHP's words.
func (s *set) file(top string, d git.FileDiff) changeset.File {
	uri := func(p string) ahp.URI { return fileuri.Of(filepath.Join(top, p)) }
	f := changeset.File{ID: uri(d.Path)}
	if d.Old.ID != "" {
		was := cmp.Or(d.From, d.Path)
		f.Edit.Before = &changeset.Side{URI: uri(was)}
		if d.Old.Mode == git.ModeModule {
			f.Edit.Before.Content = text("Subproject commit " + d.Old.ID + "\n")
		} else {
			f.Edit.Before.Content.URI = s.ch.URI + "/" + d.Old.ID + "/" + url.PathEscape(path.Base(was))
		}
	}
	if d.New.ID != "" {
		f.Edit.After = &changeset.Side{URI: f.ID}
		switch d.New.Mode {
		case git.ModeModule:
			f.Edit.After.Content = text("Subproject commit " + d.New.ID + "\n")
		case git.ModeLink: // what it leads to is something else
			f.Edit.After.Content.URI = s.ch.URI + "/" + d.New.ID + "/" + url.PathEscape(path.Base(d.Path))
		default:
			f.Edit.After.Content.URI = f.ID
		}
	}
	if !d.Binary {
		f.Edit.Diff = &changeset.Lines{Added: &d.Added, Removed: &d.Deleted}
	}
	return f
}

// text is a content that is in its URI.
func text(s string) changeset.ContentRef {
	return changeset.ContentRef{URI: "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(s)), ContentType: "text/plain"}
}
