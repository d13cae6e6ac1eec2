package diff

import (
	"cmp"
	"slices"
	"strings"
)

// File is a changed file.
type File struct {
	Key        string // identifies the file
	Path, From string // From is the old path of a renamed file
	Mark       string // the kind of change, in one cell
	Added      int    // lines
	Deleted    int
	Binary     bool
	Version    string // changes when the lines may have changed
}

// Note is a comment on a line.
type Note struct {
	ID, Entry   string
	Key, Path   string // of the file
	First, Last int    // lines of the new file; 0 for the whole file
	Quote       string // the last line's text when the comment was made, "" if unknown
	Text        string
	Given       bool // the agent has got it
	Resolved    bool
}

// Target is what a comment can be on.
type Target struct {
	File        File
	First, Last int    // lines of the new file
	Quote       string // the last line's text
	Deleted     string // the text of a deleted line, if the cursor is on one
	Gone        bool   // the file is deleted
}

// kind is the kind of a row.
type kind uint8

const (
	head kind = iota // a file's title
	line             // a line of a file
	gap              // hidden lines
	info             // a message about a file
	note             // a comment
	last             // a message at the end
)

// row is a place of the cursor. It takes one or more lines of the screen.
type row struct {
	kind     kind
	file     *file // nil for none
	from, to int   // indexes of a file's lines; to only of a gap
	note     *Note
	text     string // of a message
	stray    bool   // a comment whose line is gone
}

// file is a file of the view.
type file struct {
	File
	text    *Text // nil while it is unknown
	version string
	open    bool
	show    []bool // which lines are not hidden
}

// View is a diff on the screen. The zero value is empty.
type View struct {
	files []*file
	notes []Note
	end   string // the message at the end
	rows  []row
	at    int    // the row of the cursor
	mark  int    // index plus one of the row where the selection begins, 0 for none
	find  string // the text that is searched for

	top    int // first visible row
	height int
	inside []int // for each line of the screen its row, as last drawn
	y      int
}

// The largest diff whose files are open at first.
const (
	fewFiles = 20
	fewLines = 600
)

// SetFiles sets the files in order, and a message after them. Files that were open stay open. New
// files are open if there are few and no file was folded.
func (v *View) SetFiles(files []File, end string) {
	was := map[string]*file{}
	changed := 0
	for _, f := range v.files {
		was[f.Key] = f
	}
	for _, f := range files {
		changed += f.Added + f.Deleted
	}
	open := len(files) <= fewFiles && changed <= fewLines && !slices.ContainsFunc(v.files, func(f *file) bool { return !f.open })
	v.files, v.end = make([]*file, 0, len(files)), end
	for _, f := range files {
		n := was[f.Key]
		if n == nil {
			n = &file{open: open}
		}
		n.File = f
		v.files = append(v.files, n)
	}
	v.lay()
}

func (v *View) Empty() bool { return len(v.rows) == 0 }

// Files returns the number of files, and of added and deleted lines.
func (v *View) Files() (n, added, deleted int) {
	for _, f := range v.files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	return len(v.files), added, deleted
}

// Wanted returns an open file whose lines are needed; false if there is none.
func (v *View) Wanted() (File, bool) {
	for _, f := range v.files {
		if f.open && (f.text == nil || f.version != f.Version) {
			return f.File, true
		}
	}
	return File{}, false
}

// SetText sets the lines of a file as Wanted returned it.
func (v *View) SetText(asked File, t *Text) {
	for _, f := range v.files {
		if f.Key == asked.Key {
			f.text, f.version, f.show = t, asked.Version, t.near(around)
		}
	}
	v.lay()
}

func (v *View) SetNotes(notes []Note) {
	v.notes = notes
	v.lay()
}

// Notes is the number of comments.
func (v *View) Notes() int { return len(v.notes) }

// lay makes all rows again. The cursor stays on its line, or near it.
func (v *View) lay() {
	var was row
	if v.at < len(v.rows) {
		was = v.rows[v.at]
	}
	is := func(n *Note) bool { return n.ID == was.note.ID && n.Entry == was.note.Entry }
	v.rows = v.rows[:0:0]
	placed := make([]bool, len(v.notes))
	for _, f := range v.files {
		v.layFile(f, placed)
	}
	path := ""
	for i := range v.notes {
		n := &v.notes[i]
		if placed[i] {
			continue
		}
		if n.Path != path {
			path = n.Path
			v.rows = append(v.rows, row{kind: last, text: "comments on " + path + ", which has no changes"})
		}
		v.rows = append(v.rows, row{kind: note, note: n, stray: true})
	}
	if v.end != "" {
		v.rows = append(v.rows, row{kind: last, text: v.end})
	}
	best := v.at
	for i, r := range v.rows {
		same := r.file != nil && r.file == was.file
		switch {
		case was.kind == note && r.kind == note && is(r.note),
			was.kind != note && same && r.kind == was.kind && r.from == was.from:
			v.at = i
			v.bound()
			return
		case same && r.from <= was.from && (was.kind != head || r.kind == head):
			best = i
		}
	}
	v.at = best
	v.bound()
}

func (v *View) bound() {
	v.at = max(min(v.at, len(v.rows)-1), 0)
	v.mark = min(v.mark, len(v.rows))
}

// layFile makes the rows of a file.
func (v *View) layFile(f *file, placed []bool) {
	v.rows = append(v.rows, row{kind: head, file: f})
	under := map[int][]row{} // comments, by the index of the line above them
	for n := range v.notes {
		c := &v.notes[n]
		if c.Key != f.Key || c.Key == "" {
			continue
		}
		placed[n] = true
		at, stray := -1, false
		if f.open && f.text != nil && c.Last > 0 {
			at, stray = f.place(c)
		}
		under[at] = append(under[at], row{kind: note, file: f, from: at, note: c, stray: stray})
		if at >= 0 {
			f.show[at] = true
		}
	}
	switch {
	case !f.open:
		return
	case f.text == nil:
		v.rows = append(v.rows, row{kind: info, file: f, text: "loading"})
		return
	}
	v.rows = append(v.rows, under[-1]...)
	lines := f.text.Lines
	for n := 0; n < len(lines); n++ {
		if !f.show[n] {
			to := n
			for to < len(lines) && !f.show[to] {
				to++
			}
			v.rows = append(v.rows, row{kind: gap, file: f, from: n, to: to})
			n = to - 1
			continue
		}
		if n > 0 && apart(lines[n-1], lines[n]) {
			v.rows = append(v.rows, row{kind: gap, file: f, from: n, to: n})
		}
		v.rows = append(v.rows, row{kind: line, file: f, from: n})
		v.rows = append(v.rows, under[n]...)
	}
	left := f.text.Left
	if left == "" && len(lines) == 0 {
		left = "no line changed"
	}
	if left != "" {
		v.rows = append(v.rows, row{kind: info, file: f, from: len(lines), text: left})
	}
}

// apart reports whether lines between two lines are missing.
func apart(a, b Line) bool {
	return a.Kind != '-' && b.Kind != '-' && b.New != a.New+1 || a.Kind != '+' && b.Kind != '+' && b.Old != a.Old+1
}

// place returns the index of the line below which a comment goes: its own, else the nearest with
// the same text; else, as stray, the line at its old place.
func (f *file) place(n *Note) (at int, stray bool) {
	at = -1
	near := 1 << 30
	for i, l := range f.text.Lines {
		if l.New == 0 {
			continue
		}
		d := max(l.New-n.Last, n.Last-l.New)
		if d == 0 && (n.Quote == "" || l.Text == n.Quote) {
			return i, false
		}
		if n.Quote != "" && strings.TrimSpace(n.Quote) != "" && l.Text == n.Quote && d < near {
			at, near = i, d
		}
	}
	if at >= 0 {
		return at, false
	}
	for i, l := range f.text.Lines {
		if l.New > 0 && l.New <= n.Last {
			at = i
		}
	}
	return at, true
}

// here returns the cursor's row; false if there is none.
func (v *View) here() (row, bool) {
	if v.at >= len(v.rows) {
		return row{}, false
	}
	return v.rows[v.at], true
}

// Note returns the comment at the cursor; false if there is none.
func (v *View) Note() (Note, bool) {
	if r, ok := v.here(); ok && r.kind == note {
		return *r.note, true
	}
	return Note{}, false
}

// Target returns what the cursor or the selection is on; false if it is not on a line.
func (v *View) Target() (t Target, ok bool) {
	from, to := v.selected()
	for _, r := range v.rows[from:min(to+1, len(v.rows))] {
		if r.kind != line || ok && t.File.Key != r.file.Key {
			continue
		}
		l := r.file.text.Lines[r.from]
		t.File, ok = r.file.File, true
		if l.New > 0 {
			t.First, t.Last, t.Quote = cmp.Or(t.First, l.New), l.New, l.Text
			continue
		}
		t.Deleted = l.Text
	}
	if ok && t.Last == 0 {
		t.First = v.beside(from)
		t.Last, t.Gone = t.First, t.First == 0
	} else {
		t.Deleted = ""
	}
	return t, ok
}

// beside returns the number of the new line at the place of a deleted one.
func (v *View) beside(at int) int {
	f, n := v.rows[at].file, v.rows[at].from
	for _, l := range f.text.Lines[n:] {
		if l.New > 0 {
			return l.New
		}
	}
	for _, l := range slices.Backward(f.text.Lines[:n]) {
		if l.New > 0 {
			return l.New
		}
	}
	return 0
}

// selected returns the first and the last row of the selection, or the cursor's row.
func (v *View) selected() (from, to int) {
	if v.mark == 0 {
		return v.at, v.at
	}
	return min(v.mark-1, v.at), max(v.mark-1, v.at)
}

// Mark begins a selection of lines at the cursor, or ends it.
func (v *View) Mark() {
	if v.mark > 0 {
		v.mark = 0
	} else if r, ok := v.here(); ok && r.kind == line {
		v.mark = v.at + 1
	}
}

// Unmark ends the selection and reports whether there was one.
func (v *View) Unmark() bool {
	was := v.mark > 0
	v.mark = 0
	return was
}

// Move moves the cursor by n rows.
func (v *View) Move(n int) {
	v.at += n
	v.bound()
}

// Page moves the cursor by halves of the view's height.
func (v *View) Page(halves int) { v.Move(halves * max(v.height/2, 1)) }

// jump moves the cursor to the next row, or with -1 the previous row, for which begins is true.
func (v *View) jump(step int, begins func(i int) bool) {
	for i := v.at + step; i >= 0 && i < len(v.rows); i += step {
		if begins(i) {
			v.at = i
			return
		}
	}
}

// NextFile goes to the next file, or with -1 to the previous one.
func (v *View) NextFile(step int) {
	v.jump(step, func(i int) bool { return v.rows[i].kind == head })
}

// NextHunk goes to the next run of changed lines or the next folded file, or with -1 to the
// previous one.
func (v *View) NextHunk(step int) {
	v.jump(step, func(i int) bool {
		if v.rows[i].kind == head {
			return !v.rows[i].file.open
		}
		return v.changed(i) && !v.changed(i-1)
	})
}

// NextNote goes to the next comment, or with -1 to the previous one.
func (v *View) NextNote(step int) {
	v.jump(step, func(i int) bool { return v.rows[i].kind == note })
}

func (v *View) changed(i int) bool {
	for ; i >= 0 && v.rows[i].kind == note; i-- { // comments don't interrupt a hunk
	}
	return i >= 0 && v.rows[i].kind == line && v.rows[i].file.text.Lines[v.rows[i].from].Kind != ' '
}

// more is how many lines of a gap are shown at each of its ends.
const more = 20

// Open opens or folds the file at the cursor, or shows lines of the gap there. With fold it folds
// the cursor's file.
func (v *View) Open(fold bool) {
	r, ok := v.here()
	if !ok || r.file == nil {
		return
	}
	f := r.file
	switch {
	case r.kind == gap && !fold:
		for i := r.from; i < r.to; i++ {
			f.show[i] = f.show[i] || i < r.from+more || i >= r.to-more
		}
	case r.kind == head && !fold:
		f.open = !f.open
	case fold && f.open:
		f.open = false
		for v.rows[v.at].kind != head {
			v.at--
		}
	}
	v.mark = 0
	v.lay()
}

// Context shows all lines of the cursor's file, or again only those around changes.
func (v *View) Context() {
	r, ok := v.here()
	if !ok || r.file == nil || r.file.text == nil {
		return
	}
	f := r.file
	if slices.Contains(f.show, false) {
		for i := range f.show {
			f.show[i] = true
		}
	} else {
		f.show = f.text.near(around)
	}
	v.mark = 0
	v.lay()
}

// mostOpen is the most changed lines of files that open together; further files stay folded.
const mostOpen = 50_000

// OpenAll folds all files, or opens them if none is open.
func (v *View) OpenAll() {
	open := !slices.ContainsFunc(v.files, func(f *file) bool { return f.open })
	for v.at > 0 && v.rows[v.at].kind != head {
		v.at--
	}
	lines := 0
	for _, f := range v.files {
		lines += f.Added + f.Deleted
		f.open = open && lines <= mostOpen
	}
	v.mark = 0
	v.lay()
}
