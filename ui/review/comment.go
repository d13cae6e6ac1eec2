package review

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ui/diff"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// meta is what comments made here have besides AHP's members: the text of the line, by which it
// is found when it has moved.
type meta struct {
	Line string `json:"tandemux/line,omitempty"`
}

// maxQuote is the longest such text, in bytes.
const maxQuote = 1 << 10

func (v *Review) comments() []diff.Note {
	var all []diff.Note
	for _, a := range v.notes.Annotations {
		var m meta
		json.Unmarshal(a.Meta, &m) //nolint:errcheck // then it is empty
		n := diff.Note{ID: a.ID, Key: key(a.Resource), Path: v.path(a.Resource), Quote: m.Line, Resolved: a.Resolved}
		if r := a.Range; r != nil {
			n.First, n.Last = r.Start.Line+1, r.End.Line+1
			if r.End.Character == 0 && r.End.Line > r.Start.Line { // the end is exclusive
				n.Last--
			}
		}
		for _, e := range a.Entries {
			var given struct {
				Turn any `json:"tandemux/given"`
			}
			json.Unmarshal(e.Meta, &given) //nolint:errcheck // then it was not given to the agent
			n.Entry, n.Text, n.Given = e.ID, e.Text.Text, given.Turn != nil
			all = append(all, n)
		}
	}
	return all
}

// tell dispatches a change of comments, which shows when the host has confirmed it.
func (v *Review) tell(a ahp.Action) { v.Link.Dispatch(v.URI+annotation.Suffix, a) }

// comment asks for a comment on the selected lines, or for a new text of the comment at the
// cursor.
func (v *Review) comment() {
	if v.URI == "" {
		v.Loop.Say(status.Info, "this task has no session that could be given comments")
		return
	}
	if n, is := v.view.Note(); is {
		v.write("edit the comment", n.Text, func(text string) {
			v.tell(annotation.EntrySet{AnnotationID: n.ID, Entry: annotation.Entry{ID: n.Entry, Text: *ahp.Plain(text)}})
		})
		return
	}
	t, is := v.view.Target()
	switch {
	case !is:
		v.Loop.Say(status.Info, "go to a line of a file to comment on it")
		return
	case t.Gone:
		v.Loop.Say(status.Info, "the file is deleted: say it in a message, as a comment has no line to be on")
		return
	}
	what := fmt.Sprintf("comment on %s, line %d", words.Clean(t.File.Path), t.Last)
	if t.First < t.Last {
		what = fmt.Sprintf("comment on %s, lines %d to %d", words.Clean(t.File.Path), t.First, t.Last)
	}
	v.write(what, v.draft, func(text string) {
		v.draft = text
		if t.Deleted != "" {
			text = fmt.Sprintf("(on the deleted line %q)\n%s", strings.TrimSpace(clip(t.Deleted)), text)
		}
		m, err := json.Marshal(meta{clip(t.Quote)})
		if err != nil {
			m = nil
		}
		v.view.Unmark()
		v.tell(annotation.Set{Annotation: annotation.Annotation{
			ID: "note-" + strings.ToLower(rand.Text()), Origin: annotation.Origin{Session: v.URI}, Resource: t.File.Key,
			Range:   &annotation.Range{Start: annotation.Position{Line: t.First - 1}, End: annotation.Position{Line: t.Last}},
			Entries: []annotation.Entry{{ID: "1", Text: *ahp.Plain(text)}}, Meta: m,
		}})
	})
}

// clip cuts a line's text to maxQuote.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxQuote)], "") }

func (v *Review) write(label, text string, done func(string)) {
	v.inner = overlay.NewBox(label, text, func(text string) {
		if strings.TrimSpace(text) != "" {
			done(text)
		}
	})
}

// uncomment deletes the comment at the cursor after a question.
func (v *Review) uncomment() {
	n, is := v.view.Note()
	if !is {
		v.Loop.Say(status.Info, "go to a comment to delete it")
		return
	}
	v.confirm("delete this comment?", func() {
		if a := v.notes.Find(n.ID); a != nil && len(a.Entries) > 1 {
			v.tell(annotation.EntryRemoved{AnnotationID: n.ID, EntryID: n.Entry})
			return
		}
		v.tell(annotation.Removed{AnnotationID: n.ID})
	})
}

// resolve marks the comment at the cursor as resolved, or as not resolved.
func (v *Review) resolve() {
	if n, is := v.view.Note(); is {
		v.tell(annotation.Updated{AnnotationID: n.ID, Resolved: new(!n.Resolved)})
	}
}

func (v *Review) confirm(question string, yes func()) {
	v.inner = overlay.NewConfirm(words.Clean(question), yes, nil)
}
