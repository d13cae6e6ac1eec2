package approval

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"tandemux/ahp"
)

// maxDiff bounds the product of the lines of two texts that are compared line by
// line; beyond it the whole middle counts as changed.
const maxDiff = 1 << 20

// around is how many unchanged lines stand around those that changed.
const around = 3

// Edit is what becomes of a file. Its texts are as they came, not escaped.
type Edit struct {
	Path        string
	Fresh, Gone bool // the file is new, or deleted
	Hunks       []Hunk
	Plus, Minus int
	Unread      string // why there are no hunks

	before, after string
	diff          string // as it came, where it came as text
	partial       bool   // a text was cut on its way here
}

// Hunk is a run of lines of a diff: each begins with ' ', '+' or '-'.
type Hunk struct {
	From, To int // the first line's number before and after, counted from 1
	Lines    []string
}

// editsOf are the changes that a call asks leave for.
func editsOf(t *ahp.ToolCall) []Edit {
	out := Edits(t)
	if len(out) > 0 {
		return out
	}
	for _, c := range t.Content {
		if c.Type == ahp.ContentFileEdit {
			out = append(out, EditOf(c.Before, c.After, c.Diff))
		}
	}
	return out
}

// Edits are the changes that a call announces apart from its content.
func Edits(t *ahp.ToolCall) []Edit {
	var list struct {
		Items []struct{ Before, After, Diff json.RawMessage }
	}
	if len(t.Edits) == 0 || json.Unmarshal(t.Edits, &list) != nil {
		return nil
	}
	var out []Edit
	for _, e := range list.Items {
		out = append(out, EditOf(e.Before, e.After, e.Diff))
	}
	return out
}

// edit adds a change of a file.
func (v *View) edit(e Edit) {
	head := OneLine(e.Path)
	switch {
	case e.Fresh:
		head += " (new)"
	case e.Gone:
		head += " (deleted)"
	}
	v.add(File, head)
	if e.partial {
		v.partial()
	}
	if e.Unread != "" {
		v.add(Warning, "what changes in it is "+e.Unread)
		v.partial()
	}
	if e.diff != "" { // whole: what is no line of a hunk may be a line for the agent
		for _, l := range lines(e.diff) {
			k := kindOf(l)
			if k != Detail {
				l = l[1:]
			}
			v.add(k, l)
		}
		return
	}
	for i, h := range e.Hunks {
		if i > 0 {
			v.add(Detail, fmt.Sprintf("line %d:", h.To))
		}
		for _, l := range h.Lines {
			v.add(kindOf(l), Escape(l[1:]))
		}
	}
}

// kindOf is what a line of a diff is.
func kindOf(l string) Kind {
	switch {
	case strings.HasPrefix(l, "+"):
		return Added
	case strings.HasPrefix(l, "-"):
		return Removed
	case strings.HasPrefix(l, " "):
		return Same
	}
	return Detail
}

// side is one side of a change.
type side struct {
	URI     string `json:"uri"`
	Content struct {
		URI      string `json:"uri"`
		SizeHint *int   `json:"sizeHint"`
	} `json:"content"`
}

func (s side) partial(text string) bool {
	return s.Content.SizeHint != nil && *s.Content.SizeHint > len(text)
}

// EditOf reads a change: of two texts that are in it, or a diff.
func EditOf(before, after, diff json.RawMessage) Edit {
	var a, b side
	had := len(before) > 0 && string(before) != "null"
	json.Unmarshal(before, &a) //nolint:errcheck // it is as good as none
	json.Unmarshal(after, &b)  //nolint:errcheck // as well
	path := a.URI
	if b.URI != "" {
		path = b.URI
	}
	if u, err := url.Parse(path); err == nil && u.Path != "" {
		path = u.Path
	}
	var text string
	if json.Unmarshal(diff, &text) == nil && strings.Contains(text, "@@") {
		return parseDiff(path, text)
	}
	old, okOld := dataText(a.Content.URI)
	fresh, okNew := dataText(b.Content.URI)
	if had && !okOld || !okNew && len(after) > 0 && string(after) != "null" {
		return Edit{Path: path, Unread: "not in the message"}
	}
	e := diffOf(path, old, fresh, had)
	e.partial = had && a.partial(old) || b.partial(fresh)
	return e
}

// dataText is the text of a data: address.
func dataText(uri string) (string, bool) {
	if uri == "" {
		return "", false
	}
	head, body, ok := strings.Cut(strings.TrimPrefix(uri, "data:"), ",")
	if !ok || !strings.HasPrefix(uri, "data:") {
		return "", false
	}
	if strings.HasSuffix(head, ";base64") {
		b, err := base64.StdEncoding.DecodeString(body)
		return string(b), err == nil
	}
	s, err := url.PathUnescape(body)
	return s, err == nil
}

// diffOf compares two texts line by line.
func diffOf(path, before, after string, had bool) Edit {
	c := Edit{Path: path, Fresh: !had, Gone: had && after == "" && before != "", before: before, after: after}
	ops := compare(SplitLines(before), SplitLines(after))
	for _, o := range ops {
		switch o[0] {
		case '+':
			c.Plus++
		case '-':
			c.Minus++
		}
	}
	c.Hunks = cutHunks(ops)
	return c
}

// SplitLines are a text's lines; the newline at its end ends the last.
func SplitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// compare gives the lines of both texts in order, each with what became of it.
func compare(a, b []string) []string {
	var out []string
	put := func(op string, lines []string) {
		for _, l := range lines {
			out = append(out, op+l)
		}
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	put(" ", a[:head])
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x)*len(y) > maxDiff {
		put("-", x)
		put("+", y)
	} else {
		out = append(out, subsequence(x, y)...)
	}
	put(" ", a[len(a)-tail:])
	return out
}

// subsequence compares by the longest common subsequence.
func subsequence(x, y []string) []string {
	n, m := len(x), len(y)
	best := make([]int32, (n+1)*(m+1))
	at := func(i, j int) *int32 { return &best[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if x[i] == y[j] {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	out := make([]string, 0, n+m)
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && x[i] == y[j]:
			out = append(out, " "+x[i])
			i, j = i+1, j+1
		case i < n && (j == m || *at(i+1, j) >= *at(i, j+1)):
			out = append(out, "-"+x[i])
			i++
		default:
			out = append(out, "+"+y[j])
			j++
		}
	}
	return out
}

// cutHunks leaves out what did not change, but for the lines around.
func cutHunks(ops []string) []Hunk {
	keep := make([]bool, len(ops))
	for i, o := range ops {
		if o[0] != ' ' {
			for k := max(i-around, 0); k <= min(i+around, len(ops)-1); k++ {
				keep[k] = true
			}
		}
	}
	var hunks []Hunk
	before, after, within := 1, 1, false
	for i, o := range ops {
		if keep[i] {
			if !within {
				hunks = append(hunks, Hunk{From: before, To: after})
			}
			h := &hunks[len(hunks)-1]
			h.Lines = append(h.Lines, o)
		}
		within = keep[i]
		if o[0] != '+' {
			before++
		}
		if o[0] != '-' {
			after++
		}
	}
	return hunks
}

// parseDiff reads a unified diff that came as text.
func parseDiff(path, text string) Edit {
	c := Edit{Path: path, diff: text}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "@@"):
			h := Hunk{From: 1, To: 1}
			fmt.Sscanf(l, "@@ -%d", &h.From)
			if i := strings.Index(l, " +"); i > 0 {
				fmt.Sscanf(l[i:], " +%d", &h.To)
			}
			c.Hunks = append(c.Hunks, h)
		case len(c.Hunks) == 0 || l == "" || strings.HasPrefix(l, `\`):
		case l[0] == '+' || l[0] == '-' || l[0] == ' ':
			h := &c.Hunks[len(c.Hunks)-1]
			h.Lines = append(h.Lines, l)
			if l[0] == '+' {
				c.Plus++
			} else if l[0] == '-' {
				c.Minus++
			}
		}
	}
	return c
}
