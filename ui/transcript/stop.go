package transcript

import (
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/internal/approval"
)

// stop is what the focus can be on: an item, or a code block in it.
type stop struct {
	on   bool
	turn string
	item string
	code int // index of the code block, -1 for the whole item
}

// stopAt is a stop, the index of its item and its rows.
type stopAt struct {
	stop
	at       int
	from, to int
}

// stops returns all stops in order.
func (tr *View) stops() []stopAt {
	var out []stopAt
	for i, it := range tr.items[:min(len(tr.items), len(tr.at))] {
		if it.lines == 0 || it.kind == footItem {
			continue
		}
		row := tr.rowOf(i)
		out = append(out, stopAt{stop{true, it.turn.ID, it.id, -1}, i, row, row + it.lines})
		if it.md == nil || it.n == 0 || it.kind == messageItem {
			continue
		}
		first := row + len(it.head)
		for n := range it.md.Blocks() {
			if from, to := it.md.Block(n); from < it.n {
				out = append(out, stopAt{stop{true, it.turn.ID, it.id, n}, i, first + from, first + to})
			}
		}
	}
	return out
}

// current returns the index of the focused stop, or of the last visible one.
func (tr *View) current(all []stopAt) int {
	if i := slices.IndexFunc(all, func(s stopAt) bool { return s.stop == tr.focus }); i >= 0 {
		return i
	}
	last := -1
	for i, s := range all {
		if s.from < tr.top+tr.area.H && s.code < 0 {
			last = i
		}
	}
	return last
}

// Focus focuses the last visible item if nothing has the focus.
func (tr *View) Focus() {
	tr.dirty = true
	tr.relayout()
	if all := tr.stops(); !tr.focus.on && len(all) > 0 {
		if i := tr.current(all); i >= 0 {
			tr.focus = all[i].stop
		}
	}
}

// Unfocus removes the focus.
func (tr *View) Unfocus() { tr.focus, tr.dirty = stop{}, true }

// Focused reports whether something has the focus.
func (tr *View) Focused() bool { return tr.focused() >= 0 }

// Step moves the focus n stops and scrolls to it. It reports whether there are stops.
func (tr *View) Step(n int) bool {
	tr.relayout()
	all := tr.stops()
	if len(all) == 0 {
		return false
	}
	i := tr.current(all)
	if tr.focus.on && i >= 0 && all[i].stop == tr.focus {
		i = min(max(i+n, 0), len(all)-1)
	}
	s := all[max(i, 0)]
	tr.focus, tr.dirty = s.stop, true
	h := max(tr.area.H, 1)
	switch {
	case s.from < tr.top:
		tr.scrollTo(s.from)
	case s.to > tr.top+h:
		tr.scrollTo(min(s.from, s.to-h))
	}
	return true
}

// focused returns the index of the focused item, -1 for none.
func (tr *View) focused() int {
	return slices.IndexFunc(tr.items, func(it *item) bool {
		return tr.focus.on && it.turn.ID == tr.focus.turn && it.id == tr.focus.item
	})
}

// Toggle folds or unfolds the focused item and reports whether it did.
func (tr *View) Toggle() bool {
	i := tr.focused()
	return i >= 0 && tr.toggle(i)
}

// toggle folds or unfolds an item and reports whether it did.
func (tr *View) toggle(i int) bool {
	it := tr.items[i]
	if !it.foldable() {
		return false
	}
	tr.keep(func() {
		open := !it.unfolded(&tr.r)
		it.open = &open
		tr.open[it.turn.ID+"/"+it.id] = open
		tr.touch(i)
	})
	return true
}

func (tr *View) Details() {
	tr.keep(func() {
		tr.r.details = !tr.r.details
		clear(tr.open)
		for i, it := range tr.items {
			if it.open = nil; it.foldable() {
				tr.touch(i)
			}
		}
	})
}

// Copied returns the text of the focused stop and a description of it; "" if nothing has the
// focus.
func (tr *View) Copied() (text, what string) {
	i := tr.focused()
	if i < 0 {
		return "", ""
	}
	it := tr.items[i]
	if tr.focus.code >= 0 && it.md != nil && tr.focus.code < it.md.Blocks() {
		return it.md.CodeText(tr.focus.code), "the code"
	}
	switch what := map[itemKind]string{messageItem: "the message", answerItem: "the text", thoughtItem: "the thought"}[it.kind]; {
	case what != "":
		return it.md.Source(), what
	case it.kind == toolItem:
		return tr.toolText(it), "what the tool gave"
	}
	var b strings.Builder
	for i := range it.lines {
		b.WriteString(it.line(i).Text() + "\n")
	}
	return b.String(), "the text"
}

// toolText returns a tool call's result as text.
func (tr *View) toolText(it *item) string {
	var b strings.Builder
	for _, k := range it.call.Content {
		switch k.Type {
		case ahp.ContentText:
			b.WriteString(k.Text)
		case ahp.ContentTerminal:
			if s := tr.r.screen(k.Resource); s != nil {
				for _, row := range s.Tail(mostRows) {
					b.WriteString(emulator.LineText(row) + "\n")
				}
			}
		case ahp.ContentFileEdit:
			for _, h := range approval.EditOf(k.Before, k.After, k.Diff).Hunks {
				b.WriteString(strings.Join(h.Lines, "\n") + "\n")
			}
		}
	}
	if b.Len() == 0 {
		if in, ok := ahp.InputText(it.call.ToolInput); ok {
			return in
		}
		return callTitle(it.call)
	}
	return b.String()
}

// Chosen returns the index of the focused turn, or of the last turn; -1 for none.
func (tr *View) Chosen() int {
	if i := tr.focused(); i >= 0 {
		return slices.Index(tr.turns, tr.items[i].turn)
	}
	return len(tr.turns) - 1
}

// Answer returns the agent's answers in a turn, "" for none.
func (tr *View) Answer(turn int) string {
	var parts []string
	for _, it := range tr.turns[turn].items {
		if it.kind == answerItem {
			parts = append(parts, strings.TrimSpace(it.md.Source())+"\n")
		}
	}
	return strings.Join(parts, "\n")
}

// Code returns the last code block, "" for none.
func (tr *View) Code() string {
	tr.relayout()
	all := tr.stops()
	for i := len(all) - 1; i >= 0; i-- {
		if s := all[i]; s.code >= 0 {
			return tr.items[s.at].md.CodeText(s.code)
		}
	}
	return ""
}

// Terminal returns the terminal of the focused tool call, or else of the last one; "" for none.
func (tr *View) Terminal() ahp.URI {
	if i := tr.focused(); i >= 0 {
		if uri := terminalOf(tr.items[i].call); uri != "" {
			return uri
		}
	}
	for _, it := range slices.Backward(tr.items) {
		if uri := terminalOf(it.call); uri != "" {
			return uri
		}
	}
	return ""
}
