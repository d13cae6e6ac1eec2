package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

type itemKind uint8

const (
	blobItem     itemKind = iota // links to content, and unknown parts
	messageItem                  // a message of a person or a program
	answerItem                   // the agent's Markdown
	thoughtItem                  // the agent's reasoning
	toolItem                     // a tool call
	noticeItem                   // a system notification
	failureItem                  // an error
	questionItem                 // an input request
	footItem                     // the end of a turn
)

// partItems is the kinds of items by the kinds of parts.
var partItems = map[string]itemKind{
	ahp.PartMarkdown: answerItem, ahp.PartReasoning: thoughtItem, ahp.PartToolCall: toolItem,
	ahp.PartSystemNotification: noticeItem, ahp.PartError: failureItem, ahp.PartInputRequest: questionItem,
}

// item is a piece of a turn. Its lines are head, then those of md behind inset, then foot.
type item struct {
	kind itemKind
	id   string // the part's id; unique in its turn

	md    *markup.Markdown // nil if it has none
	inset []markup.Run
	head  []markup.Line
	foot  []markup.Line
	n     int // number of md's lines that show

	call *ahp.ToolCall
	part *ahp.ResponsePart // of questions, notices and errors
	msg  *ahp.Message
	turn *turn

	// open says whether the item is unfolded; nil means the default.
	open *bool
	// When this client saw it begin and end.
	began, ended time.Time
	live         *window // the terminal of a tool call, nil for none

	over  bool // a thought that has ended
	dirty bool
	w     int
	lines int // number of lines as last rendered
}

type turn struct {
	ahp.Turn
	items []*item
}

// renderer is the settings for rendering items.
type renderer struct {
	w       int
	g       *markup.Glyphs
	now     time.Time
	details bool // foldable items are unfolded by default
	screens func(ahp.URI) Screen
	roots   []string // the session's directories; paths below them are shown relative to them
}

// relative returns a path as it is shown.
func (r *renderer) relative(path string) string {
	for _, root := range r.roots {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/"); ok && root != "" {
			return rest
		}
	}
	return path
}

// unfolded reports whether the item is unfolded.
func (it *item) unfolded(r *renderer) bool {
	if it.open != nil {
		return *it.open
	}
	return r.details
}

// foldable reports whether the item can be folded.
func (it *item) foldable() bool {
	return it.kind == thoughtItem || it.kind == toolItem || it.kind == messageItem && it.md != nil && it.md.Len() > maxMessageRows
}

// maxMessageRows is the number of rows of a folded message.
const maxMessageRows = 12

// render updates the item's lines and returns their number.
func (it *item) render(r *renderer) int {
	if !it.dirty && it.w == r.w {
		return it.lines
	}
	it.dirty, it.w = false, r.w
	it.head, it.foot, it.inset, it.n = nil, nil, nil, 0
	switch it.kind {
	case messageItem:
		it.renderMessage(r)
	case answerItem:
		it.n = it.md.Render(r.w, r.g)
	case thoughtItem:
		it.renderThought(r)
	case toolItem:
		it.renderTool(r)
	case noticeItem:
		it.head = markup.Wrap([]markup.Run{{Text: words.Lines(it.part.Note.Text), Role: markup.Muted}}, r.w, markup.Indent([]markup.Run{{Text: r.g.Dot + " ", Role: markup.Muted}}))
	case failureItem:
		it.renderFailure(r)
	case questionItem:
		it.renderQuestion(r)
	case footItem:
		it.renderFoot(r)
	case blobItem:
		text := r.g.Dot + " " + it.part.Kind + " " + paint.Cut(words.Line(string(it.part.Raw)), 200, "")
		it.head = []markup.Line{{Runs: markup.Cut([]markup.Run{{Text: text, Role: markup.Muted}}, r.w, r.g.Ellipsis)}}
	}
	it.lines = len(it.head) + it.n + len(it.foot)
	return it.lines
}

func (it *item) line(i int) markup.Line {
	if i < len(it.head) {
		return it.head[i]
	}
	if i -= len(it.head); i >= it.n {
		return it.foot[i-it.n]
	}
	l := it.md.Line(i)
	if it.inset != nil {
		l.Runs, l.Lead = markup.Join(it.inset, l.Runs), l.Lead+markup.Width(it.inset)
	}
	return l
}

func (it *item) renderMessage(r *renderer) {
	it.inset = []markup.Run{{Text: r.g.User + " ", Role: markup.User}}
	if r.w < 8 {
		it.inset = nil
	}
	it.n = it.md.Render(r.w-markup.Width(it.inset), r.g)
	if hidden := it.n - maxMessageRows; hidden > 1 && !it.unfolded(r) {
		it.n = maxMessageRows
		it.foot = append(it.foot, markup.Line{Runs: markup.Cut(markup.Join(it.inset, []markup.Run{{Text: fmt.Sprintf("%s %s more", r.g.Ellipsis, words.Plural(hidden, "line")), Role: markup.Muted}}), r.w, r.g.Ellipsis), Lead: r.w})
	}
	if it.msg == nil {
		return
	}
	for _, a := range it.msg.Attachments {
		text := []markup.Run{{Text: "@" + words.Line(a.Label), Role: markup.LinkText}}
		it.foot = append(it.foot, markup.Line{Runs: markup.Cut(markup.Join(it.inset, text), r.w, r.g.Ellipsis), Lead: markup.Width(it.inset)})
	}
	if k := it.msg.Origin.Kind; k != "" && k != ahp.OriginUser {
		it.head = append(it.head, markup.Line{Runs: markup.Cut(markup.Join(it.inset, []markup.Run{{Text: "from " + words.Line(k), Role: markup.Muted}}), r.w, r.g.Ellipsis)})
	}
}

// renderThought renders reasoning: one line if it is folded.
func (it *item) renderThought(r *renderer) {
	glyph, what := r.g.Folded, "Thought"
	if !it.over && it.turn.active() {
		what = "Thinking" + r.g.Ellipsis
	}
	if d := it.ended.Sub(it.began); !it.began.IsZero() && !it.ended.IsZero() && d >= time.Second {
		what += " for " + words.Lasted(d)
	}
	open := it.unfolded(r)
	if open {
		glyph = r.g.Open
	}
	head := []markup.Run{{Text: glyph + " " + what, Role: markup.Muted}}
	if !open {
		if gist := it.md.Gist(); gist != "" {
			head = append(head, markup.Run{Text: " " + r.g.Dot + " " + gist, Role: markup.Muted, Attr: markup.Italic})
		}
	}
	it.head = []markup.Line{{Runs: markup.Cut(head, r.w, r.g.Ellipsis)}}
	if open {
		it.inset = []markup.Run{{Text: r.g.Bar + " ", Role: markup.Muted}}
		it.n = it.md.Render(max(r.w-2, 1), r.g)
		if r.w < 8 {
			it.inset = nil
		}
	}
}

func (it *item) renderFailure(r *renderer) {
	e := it.part.Error
	text := "The turn failed."
	if e != nil && e.Message != "" {
		text = e.Message
	}
	it.head = markup.Wrap([]markup.Run{{Text: words.Lines(text), Role: markup.Failed}}, r.w, markup.Indent([]markup.Run{{Text: r.g.Failed + " ", Role: markup.Failed}}))
	for _, w := range WaysOf(e) {
		way := "log in: " + words.Line(w.Name+" "+w.Description)
		it.head = append(it.head, markup.Line{Runs: markup.Cut([]markup.Run{{Text: "  " + way, Role: markup.Muted}}, r.w, r.g.Ellipsis), Lead: 2})
	}
}

// renderQuestion renders an input request and its answers.
func (it *item) renderQuestion(r *renderer) {
	q := it.part.Request
	mark := markup.Run{Text: r.g.Waiting + " ", Role: markup.Warned}
	if it.part.Response != "" {
		mark = markup.Run{Text: r.g.Passed + " ", Role: markup.Passed}
		if it.part.Response != ahp.InputAccept {
			mark = markup.Run{Text: r.g.Skipped + " ", Role: markup.Muted}
		}
	}
	text := "A question"
	if q.Message != nil && q.Message.Text != "" {
		text = q.Message.Text
	}
	it.head = markup.Wrap([]markup.Run{{Text: words.Lines(text)}}, r.w, markup.Indent([]markup.Run{mark}))
	for _, k := range q.Questions {
		a := answerText(k, q.Answers[k.ID])
		if it.part.Response == "" || a == "" {
			continue
		}
		row := []markup.Run{{Text: "  " + QuestionTitle(k) + ": ", Role: markup.Muted}, {Text: words.Line(a)}}
		it.head = append(it.head, markup.Line{Runs: markup.Cut(row, r.w, r.g.Ellipsis), Lead: 2})
	}
	if w := responses[it.part.Response]; w != "" {
		it.head = append(it.head, markup.Line{Runs: markup.Cut([]markup.Run{{Text: "  " + w, Role: markup.Muted}}, r.w, r.g.Ellipsis), Lead: 2})
	}
}

var responses = map[string]string{ahp.InputDecline: "declined", ahp.InputCancel: "cancelled"}

// renderFoot renders how a turn ended, if there is anything to say.
func (it *item) renderFoot(r *renderer) {
	t := &it.turn.Turn
	var parts []string
	role := markup.Muted
	if t.State == ahp.TurnCancelled {
		parts, role = append(parts, "cancelled"), markup.Warned
	}
	if t.Duration != nil && *t.Duration >= 1000 {
		parts = append(parts, words.Lasted(time.Duration(*t.Duration)*time.Millisecond))
	}
	if u := usageText(t.Usage); u != "" {
		parts = append(parts, u)
	}
	if len(parts) == 0 {
		return
	}
	it.head = []markup.Line{{Runs: markup.Cut([]markup.Run{{Text: strings.Join(parts, " "+r.g.Dot+" "), Role: role}}, r.w, r.g.Ellipsis)}}
}

// usageText is the tokens that a turn used.
func usageText(u *ahp.Usage) string {
	if u == nil {
		return ""
	}
	var parts []string
	add := func(n *int64, what string) {
		if n != nil && *n > 0 {
			parts = append(parts, words.Count(*n)+what)
		}
	}
	add(u.InputTokens, " in")
	add(u.OutputTokens, " out")
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " tokens"
}

func QuestionTitle(q ahp.Question) string {
	for _, s := range []string{q.Title, q.Message, q.ID} {
		if s = words.Line(s); s != "" {
			return s
		}
	}
	return "Answer"
}

// given is an answer to a question.
type given struct {
	Yes     bool
	Options []string // ids
	Text    string
}

// GivenIn parses an answer. ok is false if it has no value.
func GivenIn(raw json.RawMessage) (g given, ok bool) {
	var a ahp.Answer
	if len(raw) == 0 || ahp.Unmarshal(raw, &a) != nil || a.Value == nil {
		return g, false
	}
	into := any(&g.Text)
	switch a.Value.Kind {
	case "boolean":
		into = &g.Yes
	case "selected-many":
		into = &g.Options
	case "selected":
		g.Options = make([]string, 1)
		into = &g.Options[0]
	case "number":
		g.Text = string(a.Value.Value)
		return g, true
	}
	return g, json.Unmarshal(a.Value.Value, into) == nil
}

func answerText(q ahp.Question, raw json.RawMessage) string {
	g, ok := GivenIn(raw)
	switch {
	case !ok:
		return ""
	case q.Kind == "boolean":
		return map[bool]string{true: "yes", false: "no"}[g.Yes]
	case q.Kind != "single-select" && q.Kind != "multi-select":
		return g.Text
	}
	var labels []string
	for _, o := range q.Options {
		if slices.Contains(g.Options, o.ID) {
			labels = append(labels, o.Label)
		}
	}
	return strings.Join(labels, ", ")
}

// WaysOf returns the ways to log in that an error names.
func WaysOf(e *ahp.ErrorInfo) []ahp.AgentAuth {
	if e == nil {
		return nil
	}
	var m struct {
		Auth []ahp.AgentAuth `json:"tandemux/auth"`
	}
	json.Unmarshal(e.Meta, &m) //nolint:errcheck // then there are none
	return m.Auth
}
