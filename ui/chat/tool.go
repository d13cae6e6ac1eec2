package chat

import (
	"encoding/json"
	"sort"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/internal/approval"
	"tandemux/ui/pane"
	"tandemux/ui/words"
)

// Screen is a terminal as this client sees it: what a tool call's command prints.
type Screen interface {
	// Version changes when what Tail gives may be another.
	Version() uint64
	// Tail gives the last n lines with text, at most, as they stand on the
	// terminal, the oldest first.
	Tail(n int) [][]emulator.Cell
}

// Rows of what tool calls give.
const (
	liveRows   = 8   // of a terminal whose command runs
	restRows   = 3   // of one that has ended, folded
	openRows   = 40  // of either, unfolded
	diffRows   = 12  // of a change, folded
	textRows   = 4   // of a text, folded
	mostRows   = 400 // of anything, unfolded
	maxContent = 1 << 20
)

// window is the place in a tool call where its terminal shows.
type window struct {
	uri     ahp.URI
	at      int // its first line among the item's head
	rows    int // as rendered
	most    int
	version uint64
	cells   [][]emulator.Cell
}

// toolMeta is tandemux's addition to a tool call.
type toolMeta struct {
	Kind      string `json:"tandemux/kind"`
	Took      int64  `json:"tandemux/took"` // ms
	Locations []struct {
		Path string `json:"path"`
		Line int    `json:"line"`
	} `json:"tandemux/locations"`
}

func metaOf(t *ahp.ToolCall) (m toolMeta) {
	json.Unmarshal(t.Meta, &m) //nolint:errcheck // then there is none
	return m
}

// callTitle is what a tool call does, on one line.
func callTitle(t *ahp.ToolCall) string {
	for _, p := range []*ahp.Prose{t.PastTenseMessage, t.InvocationMessage} {
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

// callMark is the sign of a call's state.
func callMark(t *ahp.ToolCall, g *glyphs) run {
	switch {
	case t.Waits():
		return run{text: g.waiting, role: warned, attr: bold}
	case t.Status == ahp.ToolStreaming:
		return run{text: g.skipped, role: muted}
	case t.Status == ahp.ToolRunning:
		return run{text: g.running, role: running}
	case t.Status == ahp.ToolCancelled:
		return run{text: g.skipped, role: muted}
	case t.Success != nil && *t.Success:
		return run{text: g.passed, role: passed}
	}
	return run{text: g.failed, role: failed}
}

// callState is what is said of a call behind its title.
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
	took := time.Duration(metaOf(t).Took) * time.Millisecond
	switch {
	case took == 0 && t.Status == ahp.ToolRunning && !it.began.IsZero():
		took = r.now.Sub(it.began)
	case took == 0 && !it.began.IsZero() && !it.ended.IsZero():
		took = it.ended.Sub(it.began)
	}
	var parts []string
	if took >= time.Second || took > 0 && t.Status == ahp.ToolCompleted && took >= 100*time.Millisecond {
		parts = append(parts, lasted(took, t.Status == ahp.ToolRunning))
	}
	if code := exitCode(t); code != nil && *code != 0 {
		parts = append(parts, "exit "+itoa(*code))
	}
	if t.Success != nil && !*t.Success && len(parts) == 0 {
		parts = append(parts, "failed")
	}
	return strings.Join(parts, ", ")
}

// lasted words a time; while it runs, in whole seconds.
func lasted(d time.Duration, runs bool) string {
	if runs && d < 10*time.Second {
		return itoa(int(d.Seconds())) + "s"
	}
	return pane.Lasted(d)
}

func exitCode(t *ahp.ToolCall) *int {
	for _, c := range t.Content {
		if c.Type == ahp.ContentTerminal && c.Result != nil && c.Result.ExitCode != nil {
			return c.Result.ExitCode
		}
	}
	return nil
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// Terminal is the terminal of a tool call, "" for none.
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

// renderTool renders a tool call: a line, then its change, its terminal or its
// text behind a bar.
func (it *item) renderTool(r *renderer) {
	t := it.call
	title := []run{callMark(t, r.g), {text: " "}, {text: callTitle(t), attr: bold}}
	if t.Status == ahp.ToolCancelled {
		title[2].role, title[2].attr = muted, 0
	}
	if s := it.callState(r); s != "" {
		role := muted
		if t.Waits() {
			role = warned
		}
		title = append(title, run{text: "  " + s, role: role})
	}
	it.head = wrap(title, r.w, indent([]run{{text: ""}}))
	if len(it.head) > 3 {
		it.head = []line{{runs: cut(title, r.w, r.g.ellipsis)}}
	}
	it.live = nil
	b := toolBody{it: it, r: r, w: max(r.w-2, 1), open: it.unfolded(r)}
	if r.w < 10 {
		b.w, b.bare = r.w, true
	}
	b.render()
	it.head = append(it.head, b.out...)
}

// toolBody renders what a tool call has below its title.
type toolBody struct {
	it   *item
	r    *renderer
	w    int
	open bool
	bare bool // without a bar
	out  []line
}

// put appends lines behind the bar.
func (b *toolBody) put(lines ...line) {
	for _, l := range lines {
		if !b.bare {
			l.runs, l.lead = join([]run{{text: b.r.g.bar + " ", role: muted}}, l.runs), l.lead+2
		}
		b.out = append(b.out, l)
	}
}

func (b *toolBody) note(text string) {
	b.put(line{runs: cut([]run{{text: text, role: muted}}, b.w, b.r.g.ellipsis), lead: b.w})
}

// more says how many lines are left out.
func (b *toolBody) more(n int) {
	if n > 0 {
		b.note(b.r.g.ellipsis + " " + lines(n) + " more")
	}
}

func (b *toolBody) render() {
	t := b.it.call
	asked := t.Status == ahp.ToolPending
	if asked && !b.open {
		return // The question below has all of it.
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
		b.put(wrap([]run{{text: words.Lines(t.Error.Message), role: failed}}, b.w, margin{})...)
	}
	if m := t.ReasonMessage; m != nil && m.Text != "" && t.Reason != ahp.ReasonSkipped {
		b.put(wrap([]run{{text: words.Lines(m.Text), role: muted}}, b.w, margin{})...)
	}
}

// change renders a change of a file.
func (b *toolBody) change(c change) {
	most := diffRows
	if b.open {
		most = mostRows
	}
	c.Path = b.r.relative(c.Path)
	b.put(line{runs: cut(c.title(b.r.g), b.w, b.r.g.ellipsis)})
	out, rest := c.render(b.w, most, b.r.g)
	b.put(out...)
	b.more(rest)
}

// input renders what a tool is called with: a command as such, other JSON by its
// members.
func (b *toolBody) input(t *ahp.ToolCall) {
	if text, ok := ahp.InputText(t.ToolInput); ok && text != "" {
		all := inputLines(text, b.w)
		b.put(all[:min(len(all), mostRows)]...)
		b.more(len(all) - mostRows)
	}
}

// inputLines are a tool's input in lines.
func inputLines(text string, w int) []line {
	text = words.Lines(text)
	var members map[string]any
	if json.Unmarshal([]byte(text), &members) != nil {
		return wrap([]run{{text: text}}, w, margin{})
	}
	var out []line
	if cmd, ok := members["command"].(string); ok {
		var s lexing
		first := []run{{text: "$ ", role: accent}}
		for i, l := range approval.SplitLines(words.Lines(cmd)) {
			m := indent(first)
			if i > 0 {
				m = m.after()
			}
			out = append(out, hard(s.line(l, "sh"), w, m)...)
		}
		delete(members, "command")
	}
	var names []string
	for name := range members {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		value, ok := members[name].(string)
		if !ok {
			b, _ := json.Marshal(members[name])
			value = string(b)
		}
		out = append(out, wrap([]run{{text: words.Lines(name) + ": ", role: muted}, {text: words.Lines(value)}}, w, margin{rest: []run{{text: "  "}}})...)
	}
	return out
}

// text renders text that a tool gave, as Markdown.
func (b *toolBody) text(s string) {
	if s = strings.Trim(words.Lines(s[:min(len(s), maxContent)]), "\n"); s == "" {
		return
	}
	most := textRows
	if b.open {
		most = mostRows
	}
	md := &markdown{}
	md.append(s)
	n := md.render(b.w, b.r.g)
	for i := range min(n, most) {
		l := md.line(i)
		b.put(l)
	}
	b.more(n - most)
}

// terminal makes room for a terminal's last lines, or shows what is known of them.
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
		if s := b.screen(c.Resource); s != nil {
			v.version, v.cells = s.Version(), s.Tail(most)
			v.rows = len(v.cells)
			for range v.rows {
				b.put(line{lead: b.w})
			}
			return
		}
	}
	if c.Result != nil && c.Result.Preview != "" {
		rows := approval.SplitLines(words.Lines(c.Result.Preview))
		for _, l := range rows[max(len(rows)-most, 0):] {
			b.put(line{runs: cut([]run{{text: l}}, b.w, b.r.g.ellipsis)})
		}
	}
}

func (b *toolBody) screen(uri ahp.URI) Screen {
	if b.r.screens == nil {
		return nil
	}
	return b.r.screens(uri)
}

// stale reports whether the terminal in an item has other lines than it shows,
// and takes them over where there are as many.
func (it *item) stale(r *renderer) (again, redraw bool) {
	v := it.live
	if v == nil || r.screens == nil {
		return false, false
	}
	s := r.screens(v.uri)
	if s == nil {
		return false, false
	}
	version := s.Version()
	if version == v.version {
		return false, false
	}
	v.version = version
	cells := s.Tail(v.most)
	if len(cells) != v.rows {
		return true, true
	}
	v.cells = cells
	return false, true
}
