package keymap

import (
	"slices"
	"strconv"
	"strings"
)

// Section is a group of help rows.
type Section struct {
	Title string
	Rows  []Row
}

// Row is a line of help: the keys that do it, and what it is.
type Row struct {
	Keys     []string // as shown, without the prefix when Prefixed: "|", "1–9"
	Command  string
	Args     []string // nil in a row for a run of keys, such as "1–9"
	Text     string
	Prefixed bool // the prefix key comes first
}

// Describe says which group a command belongs to and what it does, in a few
// words. ui/command.Describe is one.
type Describe func(name string, args []string) (group, text string, ok bool)

// Help gives the bindings of a mode in groups, in the order in which the groups
// first occur. Keys with the same effect share a row, and so do keys in a row,
// such as 1 to 9. Commands that d doesn't know are left out.
func (t Table) Help(m Mode, d Describe) []Section {
	var sections []Section
	for _, r := range merge(t.runs(m)) {
		group, text, ok := d(r.Command, r.Args)
		if !ok {
			continue
		}
		r.Text = text
		i := slices.IndexFunc(sections, func(s Section) bool { return s.Title == group })
		if i < 0 {
			i = len(sections)
			sections = append(sections, Section{Title: group})
		}
		sections[i].Rows = append(sections[i].Rows, r)
	}
	return sections
}

// runs gives a row for each binding of the mode, or for each run of bindings
// whose keys and arguments count up together.
func (t Table) runs(m Mode) []Row {
	var rows []Row
	var of []Binding
	for _, b := range t.rows {
		if b.Mode == m {
			of = append(of, b)
		}
	}
	for i := 0; i < len(of); {
		end := i + 1
		for end < len(of) && follows(of[end-1], of[end]) {
			end++
		}
		r := t.row(of[i])
		if end-i > 2 {
			last := t.row(of[end-1])
			r.Keys = []string{r.Keys[0] + "–" + last.Keys[0]}
			r.Args = nil
		} else {
			end = i + 1
		}
		rows = append(rows, r)
		i = end
	}
	return rows
}

// row gives the help row of one binding, without its text.
func (t Table) row(b Binding) Row {
	r := Row{Command: b.Command, Args: b.Args}
	chord := b.Chord
	if len(chord) > 1 && chord[0] == t.prefix {
		r.Prefixed = true
		chord = chord[1:]
	}
	r.Keys = []string{chord.String()}
	return r
}

// follows says whether b does with the next digit what a does with its own.
func follows(a, b Binding) bool {
	if a.Command != b.Command || len(a.Args) != 1 || len(b.Args) != 1 || len(a.Chord) != len(b.Chord) {
		return false
	}
	last := len(a.Chord) - 1
	x, errX := strconv.Atoi(a.Args[0])
	y, errY := strconv.Atoi(b.Args[0])
	return errX == nil && errY == nil && y == x+1 && b.Chord.startsWith(a.Chord[:last]) &&
		a.Chord[last].Mod == b.Chord[last].Mod && b.Chord[last].Code == a.Chord[last].Code+1
}

// merge puts rows with the same effect together, at the place of the first.
func merge(rows []Row) []Row {
	var merged []Row
	at := make(map[string]int)
	for _, r := range rows {
		key := r.Command + "\x00" + strings.Join(r.Args, "\x00") + strconv.FormatBool(r.Prefixed) + strconv.FormatBool(r.Args == nil)
		if i, ok := at[key]; ok {
			merged[i].Keys = append(merged[i].Keys, r.Keys...)
			continue
		}
		at[key] = len(merged)
		merged = append(merged, r)
	}
	return merged
}
