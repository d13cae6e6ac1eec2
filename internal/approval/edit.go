package approval

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"tandemux/ahp"
)

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
func EditOf(before, after, change json.RawMessage) Edit {
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
	if json.Unmarshal(change, &text) == nil && strings.Contains(text, "@@") {
		return parseDiff(path, text)
	}
	old, okOld := dataText(a.Content.URI)
	fresh, okNew := dataText(b.Content.URI)
	if had && !okOld || !okNew && len(after) > 0 && string(after) != "null" {
		return Edit{Path: path, Unread: "not in the message"}
	}
	e := parseDiff(path, string(diff.Diff("", []byte(old), "", []byte(fresh))))
	e.diff, e.before, e.after = "", old, fresh
	e.Fresh, e.Gone = !had, had && fresh == "" && old != ""
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

// SplitLines are a text's lines; the newline at its end ends the last.
func SplitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func parseDiff(path, text string) Edit {
	c := Edit{Path: path, diff: text}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "@@"):
			var h Hunk
			fmt.Sscanf(l, "@@ -%d", &h.From)
			if i := strings.Index(l, " +"); i > 0 {
				fmt.Sscanf(l[i:], " +%d", &h.To)
			}
			h.From, h.To = max(h.From, 1), max(h.To, 1)
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
