package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/internal/approval"
	"tandemux/ui/markup"
	"tandemux/ui/words"
)

// Screen is the screen of a tool call's terminal.
type Screen interface {
	// Version changes when what Tail returns may have changed.
	Version() uint64
	// Tail returns up to n last lines with text, the oldest first.
	Tail(n int) [][]emulator.Cell
}

// The largest number of rows of tool calls' results.
const (
	liveRows   = 8   // a terminal with a running command
	restRows   = 3   // a folded terminal whose command has ended
	openRows   = 40  // an unfolded terminal
	diffRows   = 12  // a folded change
	textRows   = 4   // a folded text
	mostRows   = 400 // anything else unfolded
	maxContent = 1 << 20
)

// window is the part of a tool call that shows its terminal.
type window struct {
	uri     ahp.URI
	at      int // index of its first line in the item's head
	rows    int // as rendered
	most    int
	version uint64
	cells   [][]emulator.Cell
}

// callTitle describes a tool call on one line.
func callTitle(t *ahp.ToolCall) string {
	var now *ahp.Prose
	if t.Progress != nil {
		now = t.Progress.Message
	}
	for _, p := range []*ahp.Prose{t.PastTenseMessage, now, t.InvocationMessage} {
		if p != nil && p.Text != "" {
			return words.Line(strings.ReplaceAll(p.Text, "`", ""))
		}
	}
	for _, s := range []string{t.DisplayName, t.ToolName} {
		if s != "" {
			return words.Line(s)
		}
	}
	return "Tool"
}

// callMark is the glyph of a call's state.
func callMark(t *ahp.ToolCall, g *markup.Glyphs) markup.Run {
	switch {
	case t.Waits():
		return markup.Run{Text: g.Waiting, Role: markup.Warned, Attr: markup.Bold}
	case t.Status == ahp.ToolStreaming:
		return markup.Run{Text: g.Skipped, Role: markup.Muted}
	case t.Status == ahp.ToolRunning:
		return markup.Run{Text: g.Running, Role: markup.Running}
	case t.Status == ahp.ToolCancelled:
		return markup.Run{Text: g.Skipped, Role: markup.Muted}
	case t.Success != nil && *t.Success && (exitCode(t) == nil || *exitCode(t) == 0): // some agents report success whatever the exit code
		return markup.Run{Text: g.Passed, Role: markup.Passed}
	}
	return markup.Run{Text: g.Failed, Role: markup.Failed}
}

// callState is the text behind a call's title.
func (it *item) callState(r *renderer) string {
	t := it.call
	switch t.Status {
	case ahp.ToolPending, ahp.ToolPendingResult:
		return "waits for you"
	case ahp.ToolAuthRequired:
		return "wants a login"
	}
	if s := approval.Outcome(t); s != "" {
		return s
	}
	var took time.Duration
	switch {
	case t.Duration != nil:
		took = time.Duration(*t.Duration) * time.Millisecond
	case took == 0 && t.Status == ahp.ToolRunning && !it.began.IsZero():
		took = r.now.Sub(it.began)
	case took == 0 && !it.began.IsZero() && !it.ended.IsZero():
		took = it.ended.Sub(it.began)
	}
	var parts []string
	if took >= time.Second || took > 0 && t.Status == ahp.ToolCompleted && took >= 100*time.Millisecond {
		said := words.Lasted(took)
		if t.Status == ahp.ToolRunning {
			said = words.Lasting(took)
		}
		parts = append(parts, said)
	}
	if code := exitCode(t); code != nil && *code != 0 {
		parts = append(parts, "exit "+strconv.Itoa(*code))
	}
	if t.Success != nil && !*t.Success && len(parts) == 0 {
		parts = append(parts, "failed")
	}
	return strings.Join(parts, ", ")
}

func exitCode(t *ahp.ToolCall) *int {
	for _, c := range t.Content {
		if c.Type == ahp.ContentTerminal && c.Result != nil && c.Result.ExitCode != nil {
			return c.Result.ExitCode
		}
	}
	return nil
}

// terminalOf returns the terminal of a tool call, "" for none.
func terminalOf(t *ahp.ToolCall) ahp.URI {
	if t == nil {
		return ""
	}
	for _, c := range t.Content {
		if c.Type == ahp.ContentTerminal {
			return c.Resource
		}
	}
	return ""
}

// renderTool renders a tool call: its title, then its change, terminal or text behind a bar.
func (it *item) renderTool(r *renderer) {
	t := it.call
	title := []markup.Run{callMark(t, r.g), {Text: " "}, {Text: callTitle(t), Attr: markup.Bold}}
	if t.Status == ahp.ToolCancelled {
		title[2].Role, title[2].Attr = markup.Muted, 0
	}
	if s := it.callState(r); s != "" {
		role := markup.Muted
		if t.Waits() {
			role = markup.Warned
		}
		title = append(title, markup.Run{Text: "  " + s, Role: role})
	}
	it.head = markup.Wrap(title, r.w, markup.Indent([]markup.Run{{Text: ""}}))
	if len(it.head) > 3 {
		it.head = []markup.Line{{Runs: markup.Cut(title, r.w, r.g.Ellipsis)}}
	}
	it.live = nil
	b := toolBody{it: it, r: r, w: max(r.w-2, 1), open: it.unfolded(r)}
	if r.w < 10 {
		b.w, b.bare = r.w, true
	}
	b.render()
	it.head = append(it.head, b.out...)
}

// toolBody renders what is below a tool call's title.
type toolBody struct {
	it   *item
	r    *renderer
	w    int
	open bool
	bare bool // without a bar
	out  []markup.Line
}

// put appends lines behind the bar.
func (b *toolBody) put(lines ...markup.Line) {
	for _, l := range lines {
		if !b.bare {
			l.Runs, l.Lead = markup.Join([]markup.Run{{Text: b.r.g.Bar + " ", Role: markup.Muted}}, l.Runs), l.Lead+2
		}
		b.out = append(b.out, l)
	}
}

func (b *toolBody) note(text string) {
	b.put(markup.Line{Runs: markup.Cut([]markup.Run{{Text: text, Role: markup.Muted}}, b.w, b.r.g.Ellipsis), Lead: b.w})
}

// more appends the number of lines that are left out.
func (b *toolBody) more(n int) {
	if n > 0 {
		b.note(b.r.g.Ellipsis + " " + words.Plural(n, "line") + " more")
	}
}

func (b *toolBody) render() {
	t := b.it.call
	asked := t.Status == ahp.ToolPending
	if asked && !b.open {
		return // the question below shows all of it
	}
	edits := approval.Edits(t)
	for _, e := range edits {
		b.change(change(e))
	}
	if b.open && len(edits) == 0 {
		b.input(t)
	}
	for _, c := range t.Content {
		switch c.Type {
		case ahp.ContentFileEdit:
			if len(edits) == 0 {
				b.change(change(approval.EditOf(c.Before, c.After, c.Diff)))
			}
		case ahp.ContentTerminal:
			b.terminal(c)
		case ahp.ContentText:
			if !asked {
				b.text(c.Text)
			}
		case ahp.ContentResource:
			b.note(words.Line(c.URI))
		case ahp.ContentEmbedded:
			b.note(words.Line(c.ContentType))
		case ahp.ContentSubagent:
			b.note("agent: " + words.Line(c.Title+" "+c.Description))
		}
	}
	if t.Error != nil && t.Error.Message != "" && len(t.Content) == 0 && !approval.Interrupted(t) {
		b.put(markup.Wrap([]markup.Run{{Text: words.Lines(t.Error.Message), Role: markup.Failed}}, b.w, markup.Margin{})...)
	}
	if m := t.ReasonMessage; m != nil && m.Text != "" && t.Reason != ahp.ReasonSkipped {
		b.put(markup.Wrap([]markup.Run{{Text: words.Lines(m.Text), Role: markup.Muted}}, b.w, markup.Margin{})...)
	}
}

// change renders a change of a file.
func (b *toolBody) change(c change) {
	most := diffRows
	if b.open {
		most = mostRows
	}
	c.Path = b.r.relative(c.Path)
	b.put(markup.Line{Runs: markup.Cut(c.title(b.r.g), b.w, b.r.g.Ellipsis)})
	out, rest := c.render(b.w, most, b.r.g)
	b.put(out...)
	b.more(rest)
}

// input renders a tool call's input: a command, and the other members of its JSON.
func (b *toolBody) input(t *ahp.ToolCall) {
	if text, ok := ahp.InputText(t.ToolInput); ok && text != "" {
		all := inputLines(text, b.w)
		b.put(all[:min(len(all), mostRows)]...)
		b.more(len(all) - mostRows)
	}
}

// inputLines lays out a tool call's input.
func inputLines(text string, w int) []markup.Line {
	text = words.Lines(text)
	var members map[string]any
	if json.Unmarshal([]byte(text), &members) != nil {
		return markup.Wrap([]markup.Run{{Text: text}}, w, markup.Margin{})
	}
	var out []markup.Line
	if cmd, ok := members["command"].(string); ok {
		var s markup.Highlighter
		first := []markup.Run{{Text: "$ ", Role: markup.Accent}}
		for i, l := range approval.SplitLines(words.Lines(cmd)) {
			m := markup.Indent(first)
			if i > 0 {
				m = m.After()
			}
			out = append(out, markup.WrapAnywhere(s.Line(l, "sh"), w, m)...)
		}
		delete(members, "command")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, ok := members[name].(string)
		if !ok {
			b, _ := json.Marshal(members[name])
			value = string(b)
		}
		out = append(out, markup.Wrap([]markup.Run{{Text: words.Lines(name) + ": ", Role: markup.Muted}, {Text: words.Lines(value)}}, w, markup.Margin{Rest: []markup.Run{{Text: "  "}}})...)
	}
	return out
}

// prose is the kinds of tools whose results are Markdown. Others are output, line by line.
var prose = map[string]bool{"think": true, "fetch": true, "switch_mode": true}

// text renders a text in a tool call's result.
func (b *toolBody) text(s string) {
	if s = strings.Trim(s[:min(len(s), maxContent)], "\r\n"); s == "" {
		return
	}
	most := textRows
	if b.open {
		most = mostRows
	}
	body, fenced := unfence(s)
	var meta struct {
		Kind string `json:"tandemux/kind"`
	}
	json.Unmarshal(b.it.call.Meta, &meta) //nolint:errcheck // without it the kind is ""
	if !prose[meta.Kind] && (!fenced || strings.Contains(body, "```")) {
		var all []markup.Line
		for _, l := range approval.SplitLines(words.Lines(body)) {
			all = append(all, markup.WrapAnywhere([]markup.Run{{Text: l}}, b.w, markup.Margin{})...)
		}
		b.put(all[:min(len(all), most)]...)
		b.more(len(all) - most)
		return
	}
	md := &markup.Markdown{}
	md.Append(s)
	n := md.Render(b.w, b.r.g)
	for i := range min(n, most) {
		b.put(md.Line(i))
	}
	b.more(n - most)
}

// unfence removes the fence of a text that is one code block, as agents return output.
func unfence(s string) (body string, fenced bool) {
	first, rest, _ := strings.Cut(s, "\n")
	body, closed := strings.CutSuffix(rest, "\n```")
	if !closed || !strings.HasPrefix(first, "```") {
		return s, false
	}
	return body, true
}

// terminal renders a terminal's last lines, or the preview that the host has of them.
func (b *toolBody) terminal(c ahp.ToolContent) {
	running := b.it.call.Status == ahp.ToolRunning && (c.Result == nil || c.Result.ExitCode == nil)
	most := restRows
	switch {
	case b.open:
		most = openRows
	case running:
		most = liveRows
	}
	if b.it.live == nil && c.Resource != "" {
		b.it.live = &window{uri: c.Resource, at: len(b.it.head) + len(b.out), most: most}
		v := b.it.live
		if s := b.r.screen(c.Resource); s != nil {
			v.version, v.cells = s.Version(), s.Tail(most)
			v.rows = len(v.cells)
			for range v.rows {
				b.put(markup.Line{Lead: b.w})
			}
			return
		}
	}
	if c.Result != nil && c.Result.Preview != "" {
		rows := approval.SplitLines(words.Lines(c.Result.Preview))
		for _, l := range rows[max(len(rows)-most, 0):] {
			b.put(markup.Line{Runs: markup.Cut([]markup.Run{{Text: l}}, b.w, b.r.g.Ellipsis)})
		}
	}
}

func (r *renderer) screen(uri ahp.URI) Screen {
	if r.screens == nil || uri == "" {
		return nil
	}
	return r.screens(uri)
}

// stale reports whether a terminal in the item has changed: again if the item must be rendered
// again, redraw if it must be drawn. It updates the cells.
func (it *item) stale(r *renderer) (again, redraw bool) {
	v := it.live
	if v == nil {
		return false, false
	}
	s := r.screen(v.uri)
	if s == nil || s.Version() == v.version {
		return false, false
	}
	v.version = s.Version()
	cells := s.Tail(v.most)
	if len(cells) != v.rows {
		return true, true
	}
	v.cells = cells
	return false, true
}

// change is a change of a file.
type change approval.Edit

// title describes a change on one line.
func (c change) title(g *markup.Glyphs) []markup.Run {
	r := []markup.Run{{Text: words.Line(c.Path), Attr: markup.Bold}}
	switch {
	case c.Fresh:
		r = append(r, markup.Run{Text: " new", Role: markup.Muted})
	case c.Gone:
		r = append(r, markup.Run{Text: " deleted", Role: markup.Removed})
	}
	if c.Plus > 0 {
		r = append(r, markup.Run{Text: fmt.Sprintf(" +%d", c.Plus), Role: markup.Added})
	}
	if c.Minus > 0 {
		r = append(r, markup.Run{Text: fmt.Sprintf(" -%d", c.Minus), Role: markup.Removed})
	}
	if c.Unread != "" {
		r = append(r, markup.Run{Text: " " + g.Dot + " " + c.Unread, Role: markup.Muted})
	}
	return r
}

// render lays out the change in at most most rows. rest is the number of lines left out.
func (c change) render(w, most int, g *markup.Glyphs) (out []markup.Line, rest int) {
	lang := markup.LanguageOf(c.Path)
	digits := 1
	for _, h := range c.Hunks {
		digits = max(digits, len(fmt.Sprint(h.To+len(h.Lines))), len(fmt.Sprint(h.From+len(h.Lines))))
	}
	numbers := w >= 30
	var s markup.Highlighter
	for i, h := range c.Hunks {
		before, after := h.From, h.To
		if i > 0 && most > len(out) {
			out = append(out, markup.Line{Runs: []markup.Run{{Text: g.Ellipsis, Role: markup.Muted}}, Lead: 1})
		}
		s = markup.Highlighter{}
		for _, l := range h.Lines {
			l = words.Lines(l)
			if len(out) >= most {
				rest++
				continue
			}
			n, mark, style := after, " ", markup.Plain
			switch l[0] {
			case '+':
				mark, style = "+", markup.Added
				after++
			case '-':
				n, mark, style = before, "-", markup.Removed
				before++
			default:
				before, after = before+1, after+1
			}
			lead := []markup.Run{{Text: mark + " ", Role: style}}
			if numbers {
				lead = []markup.Run{{Text: fmt.Sprintf("%*d ", digits, n), Role: markup.Muted}, {Text: mark + " ", Role: style}}
			}
			var text []markup.Run
			if style == markup.Plain {
				text = s.Line(l[1:], lang)
			} else if l[1:] != "" {
				text = []markup.Run{{Text: l[1:], Role: style}}
			}
			out = append(out, markup.WrapAnywhere(text, w, markup.Indent(lead))...)
		}
	}
	if len(out) > most {
		out = out[:most]
	}
	return out, rest
}
