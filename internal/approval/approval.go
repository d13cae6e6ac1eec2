package approval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
)

// Kind is what a line of a question is.
type Kind uint8

// The kinds of lines.
const (
	Asked   Kind = iota // the question
	Command             // a line of a command
	Detail              // what else the tool is called with
	File                // a file that changes
	Added
	Removed
	Same
	Warning
)

// Line is a line of a question, escaped.
type Line struct {
	Kind Kind
	Text string
}

// Option is an answer.
type Option struct {
	Key    string
	Label  string // the agent's words, escaped
	Covers string // what it is for, in ours; "" where the label is ours
	Allows bool
	ahp.ToolOption
}

// Text is the option in words.
func (o Option) Text() string {
	if o.Covers == "" {
		return o.Label
	}
	return o.Label + "  (" + o.Covers + ")"
}

// View is a question with its answers.
type View struct {
	Lines   []Line
	Options []Option
	// Default is the option that Enter takes where all was shown at once, -1 for
	// none. It never is one that allows more than this call.
	Default int
	// Partial says why it can't be allowed: a part is not there to be shown.
	Partial string
}

// The kinds of an agent's options.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

var (
	keys   = map[string]string{allowOnce: "y", allowAlways: "a", rejectOnce: "n", rejectAlways: "d", ahp.OptionApprove: "y", ahp.OptionDeny: "n"}
	covers = map[string]string{
		allowOnce:         "this call only",
		allowAlways:       "this call and later ones, unasked; the agent decides which",
		rejectAlways:      "this call and later ones, unasked",
		ahp.OptionApprove: "the agent does not say for how long",
	}
)

// Key is the key of a kind of option ("allow_once", …).
func Key(group string) string { return keys[group] }

// Options are the answers to a tool call's question, each with a key of its own.
func Options(t *ahp.ToolCall) []Option {
	list := t.Options
	if t.Status == ahp.ToolPendingResult || len(list) == 0 {
		return []Option{
			{Key: "y", Label: "Yes", Covers: covers[allowOnce], Allows: true, ToolOption: ahp.ToolOption{Kind: ahp.OptionApprove}},
			{Key: "n", Label: "No", ToolOption: ahp.ToolOption{Kind: ahp.OptionDeny}},
		}
	}
	var out []Option
	taken := map[string]bool{"e": true, "c": true} // edit it, show the chat
	for i, o := range list {
		group := groupOf(o)
		key := keys[group]
		if taken[key] {
			key = fmt.Sprint(i + 1)
		}
		taken[key] = true
		out = append(out, Option{Key: key, Label: OneLine(o.Label), Covers: covers[group], Allows: o.Kind == ahp.OptionApprove, ToolOption: o})
	}
	return out
}

// groupOf is the kind of an option: the agent's, if we know it and it agrees with what
// the option does; otherwise just allow or deny.
func groupOf(o ahp.ToolOption) string {
	var m struct {
		Group string `json:"tandemux/group"`
	}
	json.Unmarshal(o.Meta, &m) //nolint:errcheck // then its kind decides
	allows := m.Group == allowOnce || m.Group == allowAlways
	if (allows || m.Group == rejectOnce || m.Group == rejectAlways) && allows == (o.Kind == ahp.OptionApprove) {
		return m.Group
	}
	if o.Kind != ahp.OptionApprove {
		return ahp.OptionDeny
	}
	return ahp.OptionApprove
}

// Question is what a tool call asks, on one line.
func Question(t *ahp.ToolCall) string {
	if p := t.ConfirmationTitle; p != nil && p.Text != "" {
		return OneLine(p.Text)
	}
	if t.Status == ahp.ToolPendingResult {
		return "Use the result of " + title(t) + "?"
	}
	return "Allow " + title(t) + "?"
}

// title is what a tool call does, on one line.
func title(t *ahp.ToolCall) string {
	text := t.DisplayName
	if p := t.InvocationMessage; p != nil && p.Text != "" {
		text = p.Text
		if in, _ := ahp.InputText(t.ToolInput); len(in) > 2 { // else the title may be all there is of a command
			text = strings.ReplaceAll(text, "`", "")
		}
	}
	text = cmp.Or(text, t.ToolName)
	if text == "" {
		return "a tool"
	}
	return OneLine(text)
}

// Of is the question of a tool call. input, if not nil, is what a person has made of
// the tool's input.
func Of(t *ahp.ToolCall, input *string) View {
	v := View{Options: Options(t)}
	v.Default = slices.IndexFunc(v.Options, func(o Option) bool { return o.Allows && o.Covers == covers[allowOnce] })
	v.add(Asked, Question(t))
	var m struct {
		Partial bool   `json:"tandemux/partial"`
		Text    string `json:"tandemux/text"`
	}
	json.Unmarshal(t.Meta, &m) //nolint:errcheck // then all of it is there
	if m.Partial {
		v.partial()
	}
	edits := editsOf(t)
	v.input(t.ToolInput, input, edits)
	for _, e := range edits {
		v.edit(e)
	}
	if m.Text != "" {
		v.text(Detail, m.Text)
	}
	for _, c := range t.Content {
		switch c.Type {
		case ahp.ContentText:
			v.text(Detail, c.Text)
		case ahp.ContentTerminal:
			if t.Status == ahp.ToolPendingResult && c.Result != nil {
				v.text(Detail, c.Result.Preview)
			}
		case ahp.ContentFileEdit, ahp.ContentSubagent:
		default:
			v.add(Detail, OneLine(c.URI+" "+c.ContentType))
		}
	}
	if v.Partial != "" {
		v.add(Warning, v.Partial)
		v.Default = -1
	}
	return v
}

// Claim is the question of an agent for one of the person's terminals, for a command, or
// for panes.
func Claim(a ahp.Ask, t ahp.TerminalInfo) View {
	view := func(asks, yes, covers string) View {
		v := View{Default: -1, Options: []Option{
			{Key: "y", Label: yes, Covers: covers, Allows: true, ToolOption: ahp.ToolOption{ID: "yes", Kind: ahp.OptionApprove}},
			{Key: "n", Label: "Refuse", ToolOption: ahp.ToolOption{ID: "no", Kind: ahp.OptionDeny}},
		}}
		v.add(Asked, OneLine(a.Who)+" asks "+asks)
		return v
	}
	switch {
	case a.Panes:
		v := view("for panes for its teammates", "Allow", "all that it opens from this terminal; you are not asked again")
		v.Options[1].Covers = "the same"
		v.add(Detail, "They are beside its own, and the agent types in them; your focus and keys stay.")
		return v
	case a.Command != "":
		v := view("to run a dangerous command: "+OneLine(a.Reason), "Allow once", covers[allowOnce])
		v.text(Command, a.Command)
		return v
	}
	v := view("for the terminal "+OneLine(fmt.Sprintf("%q", t.Title)), "Hand it over", "the agent types in it until you take it back")
	if a.Reason != "" {
		v.text(Detail, "reason: "+a.Reason)
	}
	v.add(Detail, "id: "+OneLine(t.Resource[strings.LastIndexByte(t.Resource, '/')+1:]))
	return v
}

func (v *View) add(k Kind, text string) { v.Lines = append(v.Lines, Line{k, text}) }

// text adds text as it is, line by line.
func (v *View) text(k Kind, text string) {
	for _, l := range lines(text) {
		v.add(k, l)
	}
}

func (v *View) partial() {
	v.Partial = "A part of it was too large to be sent here, so it can't be allowed here: refuse it, and have the agent do it in smaller parts."
}

// input adds what a tool is called with: a command as such, other members by their
// names, but for texts that the changes of files show.
func (v *View) input(raw json.RawMessage, edited *string, edits []Edit) {
	text, ok := ahp.InputText(raw)
	if edited != nil {
		text, ok = *edited, true
	}
	if !ok {
		text = string(raw)
	}
	if strings.TrimSpace(text) == "" || text == "null" {
		return
	}
	members, ok := membersOf(text)
	if !ok {
		v.text(Command, text)
		return
	}
	for _, m := range members {
		if m.name == "command" && m.isText {
			v.text(Command, m.text)
		}
	}
	for _, m := range members {
		if m.name == "command" && m.isText || m.isText && shown(m.text, edits) {
			continue
		}
		v.text(Detail, m.name+": "+m.text)
	}
}

// shown reports whether a text is part of what edits show.
func shown(text string, edits []Edit) bool {
	return text != "" && slices.ContainsFunc(edits, func(e Edit) bool {
		return text == e.Path || strings.Contains(e.before, text) || strings.Contains(e.after, text)
	})
}

// member is one of an object's.
type member struct {
	name, text string
	isText     bool
}

// membersOf splits an object into its members, in order. Members that occur twice are
// kept: the agent may use another of them than we would.
func membersOf(text string) (out []member, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		var value json.RawMessage
		if err != nil || !isName || d.Decode(&value) != nil {
			return nil, false
		}
		m := member{name: name}
		m.isText = json.Unmarshal(value, &m.text) == nil && value[0] == '"'
		if !m.isText {
			m.text = readable(value)
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil || d.More() {
		return nil, false
	}
	return out, true
}

// readable is a JSON value without escapes that hide letters.
func readable(value json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var x any
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if d.Decode(&x) != nil || e.Encode(x) != nil {
		return string(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// interrupted is the code of the error of a call whose end nobody has told.
const interrupted = `"tandemux/interrupted"`

// Interrupted reports whether nobody has told how a call ended: Outcome says what is
// known.
func Interrupted(t *ahp.ToolCall) bool {
	return t.Error != nil && string(t.Error.Code) == interrupted
}

// Outcome words how a call ended that did not do what it was there for, "" for others.
// A call that was not confirmed was not run; of one that its turn has ended with,
// nobody knows but who has said so.
func Outcome(t *ahp.ToolCall) string {
	switch {
	case Interrupted(t):
		return OneLine(t.Error.Message)
	case t.Status != ahp.ToolCancelled:
		return ""
	case t.Reason == ahp.ReasonDenied:
		return "rejected"
	case t.Reason == ahp.ReasonResultDenied:
		return "result rejected"
	case t.ReasonMessage != nil && t.ReasonMessage.Text != "":
		return OneLine(t.ReasonMessage.Text)
	}
	return "may have run"
}
