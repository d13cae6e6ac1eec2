package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"tandemux/internal/approval"
	"tandemux/ui/words"
)

// Line is a line of a file: old, new, or unchanged.
type Line struct {
	Kind     byte // '-', '+' or ' '
	Old, New int  // its number before and now, from 1; 0 if it is not there
	Text     string
	Bare     bool // without a line end
}

// Text is a file's lines.
type Text struct {
	Lines []Line
	// Left says what is left out, "" for nothing.
	Left string
}

// The largest side that is compared, in bytes, and the most lines that are kept.
const (
	maxSide  = 2 << 20
	maxLines = 20_000
)

// Missing returns a Text without lines that says why.
func Missing(format string, args ...any) *Text { return &Text{Left: fmt.Sprintf(format, args...)} }

// Compare compares two texts. Its result has all lines of both.
func Compare(before, now []byte) *Text {
	switch {
	case binary(before) || binary(now):
		return Missing("binary: %s before, %s now", words.Plural(len(before), "byte"), words.Plural(len(now), "byte"))
	case len(before) > maxSide || len(now) > maxSide:
		return Missing("too large to be compared here: %s before, %s now", words.Plural(len(before), "byte"), words.Plural(len(now), "byte"))
	}
	hunks := &reader{rest: string(diff.Diff("", before, "", now))}
	t := &Text{}
	old, rest := 0, string(before)
	same := func(to int) { // unchanged lines up to line to
		for old < to && rest != "" {
			line, after, ended := strings.Cut(rest, "\n")
			old, rest = old+1, after
			t.Lines = append(t.Lines, Line{Kind: ' ', Old: old, New: old + hunks.shift, Text: line, Bare: !ended})
		}
	}
	for hunks.next() {
		same(hunks.old - 1)
		for _, l := range hunks.lines() {
			t.Lines = append(t.Lines, l)
			if l.Kind != '+' {
				old = l.Old
				_, rest, _ = strings.Cut(rest, "\n")
			}
		}
	}
	same(1 << 30)
	t.bound()
	return t
}

// binary reports whether a content is binary, as git decides.
func binary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// bound drops lines beyond the limit: first unchanged ones.
func (t *Text) bound() {
	if len(t.Lines) <= maxLines {
		return
	}
	near := t.near(around)
	var kept []Line
	for i, l := range t.Lines {
		if near[i] {
			kept = append(kept, l)
		}
	}
	if n := len(kept) - maxLines; n > 0 {
		kept, t.Left = kept[:maxLines], words.Plural(n, "more line")+" of changes left out"
	}
	t.Lines = kept
}

// around is how many unchanged lines show around changes.
const around = 3

// near marks the changed lines and the n lines around them.
func (t *Text) near(n int) []bool {
	show := make([]bool, len(t.Lines))
	for i, l := range t.Lines {
		if l.Kind != ' ' {
			for j := max(i-n, 0); j <= min(i+n, len(t.Lines)-1); j++ {
				show[j] = true
			}
		}
	}
	return show
}

// reader parses the hunks of a unified diff.
type reader struct {
	rest     string
	old, now int // numbers of the next lines
	olds     int // number of remaining lines of the hunk
	nows     int
	shift    int // by how much the lines after the hunk have moved
}

// line returns the next line of the diff.
func (r *reader) line() string {
	line, rest, _ := strings.Cut(r.rest, "\n")
	r.rest = rest
	return line
}

// next goes to the next hunk of the file. It reports whether there is one.
func (r *reader) next() bool {
	for r.rest != "" && !strings.HasPrefix(r.rest, "diff --git ") {
		var was, is string
		if n, _ := fmt.Sscanf(r.line(), "@@ -%s +%s @@", &was, &is); n == 2 {
			r.old, r.olds = span(was)
			r.now, r.nows = span(is)
			return true
		}
	}
	return false
}

// span parses a range such as "3,4": the number of the first line and the number of lines.
func span(s string) (from, n int) {
	first, count, several := strings.Cut(s, ",")
	from, _ = strconv.Atoi(first)
	n = 1
	if several {
		n, _ = strconv.Atoi(count)
	}
	if n == 0 {
		from++ // the change is after that line
	}
	return from, n
}

// lines returns the lines of the hunk.
func (r *reader) lines() (all []Line) {
	for r.rest != "" && (r.olds > 0 || r.nows > 0) {
		s := cmp.Or(r.line(), " ")
		l := Line{Kind: s[0], Text: s[1:]}
		switch l.Kind {
		case '-':
			l.Old, r.old, r.olds = r.old, r.old+1, r.olds-1
		case '+':
			l.New, r.now, r.nows = r.now, r.now+1, r.nows-1
		case ' ':
			l.Old, r.old, r.olds = r.old, r.old+1, r.olds-1
			l.New, r.now, r.nows = r.now, r.now+1, r.nows-1
		case '\\':
			if len(all) > 0 {
				all[len(all)-1].Bare = true
			}
			continue
		default:
			return all
		}
		all = append(all, l)
	}
	if strings.HasPrefix(r.rest, `\`) {
		r.line()
		if len(all) > 0 {
			all[len(all)-1].Bare = true
		}
	}
	r.shift = r.now - r.old
	return all
}

// Patch parses a unified diff of git. It returns the changes by each file's new path, or old path
// if it was deleted, without binary files.
func Patch(patch string) map[string]*Text {
	all := map[string]*Text{}
	r := &reader{rest: patch}
	for r.rest != "" {
		if !strings.HasPrefix(r.line(), "diff --git ") {
			continue
		}
		t, path := &Text{}, ""
		for r.rest != "" && !strings.HasPrefix(r.rest, "@@ ") && !strings.HasPrefix(r.rest, "diff --git ") {
			head := r.line()
			for _, lead := range []string{"--- a/", "+++ b/", `--- "a/`, `+++ "b/`, "rename to "} {
				if name, is := strings.CutPrefix(head, lead); is {
					path = unquoted(name, strings.HasSuffix(lead, `"a/`) || strings.HasSuffix(lead, `"b/`))
				}
			}
		}
		for r.next() {
			t.Lines = append(t.Lines, r.lines()...)
		}
		if r.olds > 0 || r.nows > 0 {
			t.Left = "the rest was not read: there is too much"
		}
		r.olds, r.nows = 0, 0
		t.bound()
		if path != "" {
			all[path] = t
		}
	}
	return all
}

// unquoted returns a path as it is. git quotes a path with special characters as in C, here
// without the opening quote, and ends a path with blanks with a tab.
func unquoted(s string, quoted bool) string {
	if !quoted && strings.HasPrefix(s, `"`) {
		s, quoted = s[1:], true
	}
	if quoted {
		if name, err := strconv.Unquote(`"` + s); err == nil {
			return name
		}
	}
	return strings.TrimSuffix(s, "\t")
}

// Position returns the cursor's row, for Find.
func (v *View) Position() int { return v.at }

// Find searches for a text from row from on, ignoring case unless the text has capitals, in all
// rows that aren't hidden. It returns a text about the result.
func (v *View) Find(text string, from int) string {
	v.find = text
	v.at = from
	v.bound()
	if text == "" || v.matches(v.at) {
		return v.found()
	}
	return v.FindNext(1)
}

// FindNext goes to the next row with the text, or with -1 to the previous one, around the ends.
func (v *View) FindNext(step int) string {
	if v.find == "" {
		return "nothing was searched for yet"
	}
	n := len(v.rows)
	for i := 1; i <= n; i++ {
		if at := ((v.at+step*i)%n + n) % n; v.matches(at) {
			v.at = at
			return v.found()
		}
	}
	return "no match"
}

func (v *View) found() string {
	if v.find == "" {
		return ""
	}
	all, at := 0, 0
	for i := range v.rows {
		if v.matches(i) {
			all++
			if i <= v.at {
				at++
			}
		}
	}
	return fmt.Sprintf("%d of %d", at, all)
}

// matches reports whether a row has the text that is searched for.
func (v *View) matches(i int) bool {
	text := v.content(v.rows[i])
	if strings.ToLower(v.find) == v.find {
		text = strings.ToLower(text)
	}
	return v.find != "" && strings.Contains(text, v.find)
}

// content is the text of a row for searches.
func (v *View) content(r row) string {
	switch r.kind {
	case head:
		return approval.Escape(r.file.Path)
	case line:
		return approval.Escape(r.file.text.Lines[r.from].Text)
	case note:
		return r.note.Text
	}
	return ""
}
