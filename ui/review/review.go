package review

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/changeset"
	"tandemux/ahp/resource"
	"tandemux/internal/fileuri"
	"tandemux/ui/diff"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/tasks"
	"tandemux/ui/words"
)

// With is what a Review works with.
type With struct {
	Loop  *loop.Loop
	Link  *link.Link
	Tasks *tasks.List
	Look  *look.Look
	// Chat shows the subject's chat.
	Chat func()
}

// Subject is the session or task whose changes are shown.
type Subject struct {
	Title string
	URI   ahp.URI // of the session; empty for a task without one
	Dir   string  // its working directory, "" if unknown
	Task  string  // id of the task; "" if it is none
}

// Review is the screen; Open makes one. It implements overlay.Clicker, overlay.Overlay and
// overlay.Pasting.
type Review struct {
	With
	Subject
	view   diff.View
	before overlay.Overlay // the overlay that was open before it
	inner  overlay.Overlay // the overlay above it, nil for none

	about tasks.Changes // the task's changes as last fetched
	set   ahp.URI       // the changeset's channel, "" if there is none
	state changeset.State
	notes annotation.State
	wrong string // why there are no files
	said  string // what was done or failed, until the next key

	changes  int            // counts changes of files
	versions map[string]int // of files: changes at their last change
	patch    map[string]*diff.Text
	known    bool   // the files are known
	loading  bool   // a file's lines are being fetched
	busy     bool   // the agent is working
	draft    string // a comment that the host has not confirmed
}

// Open shows the changes of a subject.
func Open(w With, of Subject) *Review {
	v := &Review{With: w, Subject: of, before: w.Loop.Overlay, versions: map[string]int{}}
	w.Loop.Open(v)
	if of.URI != "" {
		v.subscribe(of.URI + annotation.Suffix)
	}
	v.inform()
	return v
}

// Close unsubscribes.
func (v *Review) Close() {
	if v.URI != "" {
		v.Link.Host.Unsubscribe(v.URI + annotation.Suffix)
	}
	if v.set != "" {
		v.Link.Host.Unsubscribe(v.set)
	}
}

func (v *Review) subscribe(uri ahp.URI) {
	h := v.Link.Host
	v.Loop.Call("follow what was changed", func(ctx context.Context) error { return h.Subscribe(ctx, uri) }, nil)
}

// Session takes the session's state, which names its changeset, and its status: when a turn ends,
// the task's changes are fetched again.
func (v *Review) Session(s ahp.SessionState, now ahp.Status) {
	was := v.busy
	if v.busy = now.Activity() == ahp.ActivityInProgress; was && !v.busy {
		v.inform()
	}
	if v.set != "" || len(s.Changesets) == 0 {
		return
	}
	var row changeset.Changeset
	if json.Unmarshal(s.Changesets[0], &row) != nil || !strings.HasPrefix(row.Template, changeset.Scheme) {
		return
	}
	v.set = row.Template
	v.subscribe(v.set)
}

func (v *Review) Take(uri ahp.URI, state any) {
	switch st := state.(type) {
	case changeset.State:
		if uri == v.set {
			v.state = st
			v.changed(st.Files...)
			v.show()
		}
	case annotation.State:
		if uri == v.URI+annotation.Suffix {
			v.notes = st
			v.show()
		}
	}
}

// Act applies an action and reports whether it was of this review's channels.
func (v *Review) Act(e ahp.Envelope) bool {
	switch e.Channel {
	case v.set:
		v.state = changeset.Reduce(v.state, e.Action)
		switch a := e.Action.(type) {
		case changeset.FileSet:
			v.changed(a.File)
		case changeset.ContentChanged:
			v.changed(a.Files...)
		}
	case v.URI + annotation.Suffix:
		v.notes, v.draft = annotation.Reduce(v.notes, e.Action), ""
	default:
		return false
	}
	v.show()
	return true
}

// changed notes that files may have other lines.
func (v *Review) changed(files ...changeset.File) {
	v.changes++
	v.patch = nil
	for _, f := range files {
		v.versions[f.ID] = v.changes
	}
}

func (v *Review) show() {
	v.Loop.Dirty |= loop.Panes
	if v.set != "" {
		v.wrong = ""
		if v.state.Error != nil {
			v.wrong = v.state.Error.Message
		}
		if v.state.Status == changeset.Ready || v.state.Status == changeset.Failed {
			v.known = true
			files := make([]diff.File, len(v.state.Files))
			for i, f := range v.state.Files {
				files[i] = v.file(f)
			}
			v.view.SetFiles(files, v.end(len(files)))
		}
	}
	v.view.SetNotes(v.comments())
	v.fetch()
}

// end is the text below files files.
func (v *Review) end(files int) string {
	n := len(v.about.Left)
	switch {
	case n == 0 && files == 0:
		return v.none()
	case n == 0:
		return ""
	}
	return "can't come home: " + strings.Join(v.about.Left[:min(n, 10)], ", ")
}

func (v *Review) file(f changeset.File) diff.File {
	out := diff.File{Key: key(f.ID), Path: v.path(f.ID), Mark: "M", Binary: f.Edit.Diff == nil, Version: strconv.Itoa(v.versions[f.ID])}
	if l := f.Edit.Diff; l != nil && l.Added != nil && l.Removed != nil {
		out.Added, out.Deleted = *l.Added, *l.Removed
	}
	switch before, now := f.Edit.Before, f.Edit.After; {
	case before == nil:
		out.Mark = "A"
	case now == nil:
		out.Mark = "D"
	case before.URI != now.URI:
		out.Mark, out.From = "R", v.path(before.URI)
	}
	v.conflicting(&out)
	return out
}

func (v *Review) conflicting(f *diff.File) {
	if slices.Contains(v.about.Conflicts, f.Path) {
		f.Mark = "!"
	}
}

// key is the normal form of a file's URI.
func key(uri ahp.URI) string { return fileuri.Of(filepath.Clean(fileuri.Path(uri))) }

// path is a file's path, relative to the working directory if it is below it.
func (v *Review) path(uri ahp.URI) string {
	path := fileuri.Path(uri)
	if rel, err := filepath.Rel(v.Dir, path); v.Dir != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return words.Shorten(path, v.Loop.Home)
}

// fetch fetches the lines of open files, one file at a time.
func (v *Review) fetch() {
	f, wanted := v.view.Wanted()
	if !wanted || v.loading {
		return
	}
	if v.patch != nil {
		t := v.patch[f.Path]
		switch {
		case t == nil && f.Binary:
			t = diff.Missing("binary")
		case t == nil:
			t = diff.Missing("its lines are not in what was read of the changes")
		}
		v.view.SetText(f, t)
		v.fetch()
		return
	}
	i := slices.IndexFunc(v.state.Files, func(c changeset.File) bool { return key(c.ID) == f.Key })
	if i < 0 {
		return
	}
	v.loading = true
	h, edit := v.Link.Host, v.state.Files[i].Edit
	v.Loop.Async("read "+f.Path, func(ctx context.Context) (func(), error) {
		t, err := lines(ctx, h, f.Binary, edit)
		return func() {
			v.loading = false
			switch {
			case err != nil && v.Task != "": // clients may not read a task's files
				v.ask()
				return
			case err != nil:
				t = diff.Missing("%s", words.Line(err.Error()))
			}
			v.view.SetText(f, t)
			v.Loop.Dirty |= loop.Panes
			v.fetch()
		}, nil
	})
}

// lines compares both sides of a change.
func lines(ctx context.Context, h link.Host, binary bool, e changeset.Edit) (*diff.Text, error) {
	if binary {
		return diff.Missing("binary"), nil
	}
	var texts [2][]byte
	for i, side := range []*changeset.Side{e.Before, e.After} {
		if side == nil {
			continue
		}
		var err error
		if texts[i], err = content(ctx, h, side.Content.URI); err != nil {
			return nil, err
		}
	}
	return diff.Compare(texts[0], texts[1]), nil
}

// content returns the content of a URI.
func content(ctx context.Context, h link.Host, uri ahp.URI) ([]byte, error) {
	if data, is := strings.CutPrefix(uri, "data:"); is {
		_, text, _ := strings.Cut(data, ";base64,")
		return base64.StdEncoding.DecodeString(text)
	}
	var got resource.ReadResult
	p := resource.ReadParams{Params: resource.Params{Channel: ahp.RootURI, URI: uri}, Encoding: resource.Base64}
	if err := h.Call(ctx, resource.MethodRead, p, &got); err != nil {
		return nil, err
	}
	if got.Encoding != resource.Base64 {
		return []byte(got.Data), nil
	}
	return base64.StdEncoding.DecodeString(got.Data)
}

// again fetches everything again: the host compares when a client subscribes.
func (v *Review) again() {
	if v.set != "" {
		v.Link.Host.Unsubscribe(v.set)
		v.subscribe(v.set)
	}
	v.inform()
}

// inform fetches what the task has changed. It asks for a patch if the session has no changeset.
func (v *Review) inform() {
	if v.Task == "" {
		return
	}
	h := v.Tasks.Host()
	loop.Get(v.Loop, "compare the task's files", func(ctx context.Context) (tasks.Changes, error) { return h.TaskChanges(ctx, v.Task) }, func(c tasks.Changes) {
		v.about = c
		if !c.Listed || v.URI == "" {
			v.ask()
		}
		v.show()
	})
}

// ask fetches the changes as a patch. If there is no changeset, the files are those of the task's
// changes.
func (v *Review) ask() {
	h, asked := v.Tasks.Host(), v.changes
	v.loading = true
	v.Loop.Async("read the task's changes", func(ctx context.Context) (func(), error) {
		patch, err := h.TaskPatch(ctx, v.Task)
		return func() {
			if v.loading = false; err != nil {
				v.patch = map[string]*diff.Text{} // so that it is not asked for again
			} else if asked == v.changes {
				v.patch = diff.Patch(patch)
			}
			v.known = true
			if v.set == "" {
				v.changes++
				v.list()
			}
			v.show()
		}, err
	})
}

// list shows the files of the task's changes.
func (v *Review) list() {
	var files []diff.File
	for _, c := range v.about.Files {
		f := diff.File{Key: c.Path, Path: c.Path, From: c.From, Mark: c.Mark, Added: c.Added, Deleted: c.Deleted, Binary: c.Binary, Version: strconv.Itoa(v.changes)}
		if v.Dir != "" {
			f.Key = fileuri.Of(filepath.Join(v.Dir, c.Path))
		}
		v.conflicting(&f)
		files = append(files, f)
	}
	v.view.SetFiles(files, v.end(len(files)))
}

// none says why there are no files.
func (v *Review) none() string {
	switch {
	case v.wrong != "":
		return words.Clean(v.wrong)
	case v.known:
		return "nothing was changed"
	case v.Task == "" && v.set == "":
		return "no changes are known of this session: it works in no git repository, or that is being looked at"
	}
	return "loading"
}

// facts returns the texts beside the title.
func (v *Review) facts() []string {
	var facts []string
	if n, added, deleted := v.view.Files(); n > 0 {
		facts = append(facts, fmt.Sprintf("%s +%d -%d", words.Plural(n, "file"), added, deleted))
	}
	if n := len(v.about.Conflicts); n > 0 {
		facts = append(facts, "conflicts in "+words.Plural(n, "file"))
	}
	if n := v.view.Notes(); n > 0 {
		facts = append(facts, words.Plural(n, "comment"))
	}
	if v.about.Into != "" {
		facts = append(facts, "into "+words.Clean(v.about.Into))
	}
	return facts
}
