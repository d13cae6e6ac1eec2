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

// With is what a review works with.
type With struct {
	Loop  *loop.Loop
	Link  *link.Link
	Tasks *tasks.List
	Look  *look.Look
	// Chat shows the chat of what is looked at.
	Chat func()
}

// Subject is what is looked at.
type Subject struct {
	Title string
	URI   ahp.URI // the session's, empty for a task without one
	Dir   string  // that it works in, "" where not known
	Task  string  // its id, "" for a session that is no task
}

// Review is the screen. Open makes one.
// It implements overlay.Clicker, overlay.Overlay and overlay.Pasting.
type Review struct {
	With
	Subject
	view   diff.View
	before overlay.Overlay // comes back after it
	inner  overlay.Overlay // on top of it, nil for nothing

	about tasks.Changes // of a task, as far as is known
	set   ahp.URI       // the changeset's channel, "" while there is none
	state changeset.State
	notes annotation.State
	wrong string // why there are no files
	said  string // what was done last or went wrong, until the next key

	changes  int            // told of so far
	versions map[string]int // of files: after which of them
	patch    map[string]*diff.Text
	known    bool   // the files are
	loading  bool   // a file's lines are under way
	busy     bool   // the agent is at work
	draft    string // a comment that the host does not have yet
}

// Open shows what a subject changed.
func Open(w With, of Subject) *Review {
	v := &Review{With: w, Subject: of, before: w.Loop.Overlay, versions: map[string]int{}}
	w.Loop.Open(v)
	if of.URI != "" {
		v.subscribe(of.URI + annotation.Suffix)
	}
	v.inform()
	return v
}

// Close ends following what was followed.
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

// Session takes what the session says, which names its changeset, and how it is: when a
// turn has ended, the task is looked at again.
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

// Act takes an action; it reports whether it was for this.
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

// changed notes that the lines of files may be others.
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

// end are the words behind so many files.
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

// key is how the address of a file is written here.
func key(uri ahp.URI) string { return fileuri.Of(filepath.Clean(fileuri.Path(uri))) }

// path is a file's, from the directory that is worked in where it is below.
func (v *Review) path(uri ahp.URI) string {
	path := fileuri.Path(uri)
	if rel, err := filepath.Rel(v.Dir, path); v.Dir != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return words.Shorten(path, v.Loop.Home)
}

// fetch brings the lines of a file that is open, one at a time.
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
			case err != nil && v.Task != "": // whose files clients may not read
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

// lines compares the two sides of a change.
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

// content reads what an address names.
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

// again looks at everything anew: the host compares when somebody begins to look.
func (v *Review) again() {
	if v.set != "" {
		v.Link.Host.Unsubscribe(v.set)
		v.subscribe(v.set)
	}
	v.inform()
}

// inform asks the host how the task stands, and what it changed where the session does
// not say that.
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

// ask asks for the changes as a patch; where there is no changeset the files are those
// that are known of the task.
func (v *Review) ask() {
	h, asked := v.Tasks.Host(), v.changes
	v.loading = true
	v.Loop.Async("read the task's changes", func(ctx context.Context) (func(), error) {
		patch, err := h.TaskPatch(ctx, v.Task)
		return func() {
			if v.loading = false; err != nil {
				v.patch = map[string]*diff.Text{} // it is not asked for again and again
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

// list gives the view the files that are known of the task.
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

// none says why no file shows.
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

// facts are what stands beside the title.
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
