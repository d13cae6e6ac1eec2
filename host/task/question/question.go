package question

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/task/turns"
	"tandemux/internal/approval"
)

const (
	// maxQuestions bounds the questions of a task that are shown.
	maxQuestions = 20
	// maxAsked bounds the text of a question, in bytes. Of a longer one only a part is shown, and then
	// it can't be allowed there.
	maxAsked = 64 << 10
	// MaxLine bounds a line, in bytes.
	MaxLine = 200
	// maxQuestion bounds a question, in bytes of JSON.
	maxQuestion = 256 << 10
)

// The kinds of a Question.
const (
	AsksPermission = "permission" // to run a tool, or to use its result
	AsksInput      = "input"      // a text, a choice, or several
	AsksLogin      = "login"      // a tool's; it is answered in the task's chat
)

// Question is what a task's agent asks a person. All texts are safe to show.
type Question struct {
	// ID changes with the text of the question.
	ID         string `json:"id"`
	Kind       string `json:"kind" enum:"permission,input,login"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	Title      string `json:"title" doc:"What is asked, in a line"`

	Lines   []Line   `json:"lines,omitempty" doc:"All that it is about: the command, what else the tool is called with, how files change"`
	Options []Option `json:"options,omitempty" doc:"The answers to a permission"`
	Fields  []Field  `json:"fields,omitempty" doc:"What an input wants to know"`
	URL     string   `json:"url,omitempty" doc:"A page that an input wants opened"`
	Partial string   `json:"partial,omitempty" doc:"Why it can't be allowed here: a part of it is not there to be shown"`

	turn, request string
	view          approval.View
	call          *ahp.ToolCall
}

type Line struct {
	Kind string `json:"kind" enum:"asked,command,detail,file,added,removed,same,warning"`
	Text string `json:"text"`
}

// Option is one of the answers to a permission.
type Option struct {
	ID     string `json:"id"`
	Key    string `json:"key" doc:"A letter or a digit for it, unlike those of the others"`
	Label  string `json:"label" doc:"The agent's words"`
	Covers string `json:"covers,omitempty" doc:"What it is for, where the agent says so"`
	Allows bool   `json:"allows"`
	Once   bool   `json:"once,omitempty" doc:"It is what yes means: it allows this and no more"`
}

// Field is one value that an input asks for.
type Field struct {
	ID       string        `json:"id"`
	Kind     string        `json:"kind" doc:"text, number, integer, boolean, single-select or multi-select"`
	Title    string        `json:"title,omitempty"`
	Text     string        `json:"text"`
	Required bool          `json:"required,omitempty"`
	Options  []FieldOption `json:"options,omitempty"`
}

// FieldOption is one of a field's choices.
type FieldOption struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// lineKinds has the names of approval's kinds of lines.
var lineKinds = []string{
	approval.Asked: "asked", approval.Command: "command", approval.Detail: "detail", approval.File: "file",
	approval.Added: "added", approval.Removed: "removed", approval.Same: "same", approval.Warning: "warning",
}

// View returns a question about a permission in the form in which it is shown to people.
func (q *Question) View() approval.View {
	v := approval.View{Default: -1, Partial: q.Partial}
	for _, l := range q.Lines {
		v.Lines = append(v.Lines, approval.Line{Kind: approval.Kind(max(0, slices.Index(lineKinds, l.Kind))), Text: l.Text})
	}
	for i, o := range q.Options {
		kind := ahp.OptionDeny
		if o.Allows {
			kind = ahp.OptionApprove
		}
		if o.Once {
			v.Default = i
		}
		v.Options = append(v.Options, approval.Option{Key: o.Key, Label: o.Label, Covers: o.Covers, Allows: o.Allows, ToolOption: ahp.ToolOption{ID: o.ID, Kind: kind}})
	}
	return v
}

// Of returns what waits for a person in a turn, in order.
func Of(turn *ahp.Turn) []Question {
	var all []Question
	for i := range turn.ResponseParts {
		p := &turn.ResponseParts[i]
		switch {
		case len(all) == maxQuestions:
			return all
		case p.ToolCall != nil && p.ToolCall.Waits():
			all = append(all, permission(turn.ID, p.ToolCall))
		case p.Kind == ahp.PartInputRequest && p.Response == "" && p.Request != nil:
			all = append(all, inputOf(turn.ID, p.Request))
		}
	}
	return all
}

func permission(turn string, c *ahp.ToolCall) Question {
	q := Question{Kind: AsksPermission, ToolCallID: c.ToolCallID, turn: turn, call: c}
	if c.Status == ahp.ToolAuthRequired {
		q.Kind, q.Title = AsksLogin, "a tool wants a login"
		return q.named(nil)
	}
	q.view = approval.Of(c, nil)
	q.Title, q.Partial = turns.Clip(approval.Question(c), MaxLine), q.view.Partial
	room := maxAsked
	for _, l := range q.view.Lines {
		if room -= len(l.Text) + 1; room < 0 {
			q.Partial = cmp.Or(q.Partial, tooLong)
			q.Lines = append(q.Lines, Line{lineKinds[approval.Warning], q.Partial})
			break
		}
		q.Lines = append(q.Lines, Line{lineKinds[l.Kind], l.Text})
	}
	for i, o := range q.view.Options {
		q.Options = append(q.Options, Option{ID: o.ID, Key: o.Key, Label: o.Label, Covers: o.Covers, Allows: o.Allows, Once: i == q.view.Default})
	}
	return q.named(q.view)
}

func inputOf(turn string, r *ahp.InputRequest) Question {
	q := Question{Kind: AsksInput, Title: "a question", turn: turn, request: r.ID, URL: approval.OneLine(turns.Clip(r.URL, 2<<10))}
	if r.Message != nil && r.Message.Text != "" {
		q.Title = OneLine(r.Message.Text)
		for l := range strings.SplitSeq(turns.Clip(r.Message.Text, maxAsked/2), "\n") {
			q.Lines = append(q.Lines, Line{lineKinds[approval.Asked], approval.Escape(l)})
		}
	}
	for _, k := range r.Questions[:min(len(r.Questions), maxQuestions)] {
		f := Field{ID: k.ID, Kind: k.Kind, Title: OneLine(k.Title), Text: OneLine(k.Message), Required: k.Required}
		for _, o := range k.Options {
			f.Options = append(f.Options, FieldOption{o.ID, OneLine(o.Label), OneLine(o.Description)})
		}
		q.Fields = append(q.Fields, f)
	}
	return q.named(r)
}

// OneLine returns an agent's text as one line of at most MaxLine bytes.
func OneLine(s string) string {
	return approval.OneLine(turns.Clip(strings.Join(strings.Fields(s), " "), MaxLine))
}

// tooLong is the Partial of a question that is too long to be shown.
const tooLong = "It is too long to be shown here, so it can't be allowed here: answer it in the task's chat."

// named sets the question's id, which depends on what is asked. A question that is too large keeps
// only its title.
func (q Question) named(what any) Question {
	if len(encoded(q)) > maxQuestion {
		q.Partial, q.Fields, q.Lines, q.Options, q.URL = tooLong, nil, nil, nil, ""
	}
	text, _ := json.Marshal([]any{q.turn, q.ToolCallID, q.request, what}) //nolint:errcheck // such values can always be encoded
	sum := sha256.Sum256(text)
	q.ID = "q_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
	return q
}

// encoded encodes a value that can always be encoded.
func encoded(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}
