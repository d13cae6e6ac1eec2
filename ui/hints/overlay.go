package hints

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Hint is a text with a label.
type Hint struct {
	Text string
	Kind Kind
	// Parts is where it is drawn: a part for each row of each place where it occurs. The first
	// part of a place has First set.
	Parts []Part
}

// Part is the part of a hint on one row.
type Part struct {
	X, Y  int
	Text  string
	First bool
}

// Act is what to do with a hint.
type Act uint8

// The acts.
const (
	Copy Act = iota
	Insert
	Open
)

// acts is the names of the acts.
var acts = [...]string{Copy: "copy", Insert: "insert", Open: "open"}

// Overlay shows the labels and gets the keys.
type Overlay struct {
	hints  []Hint
	labels []string
	typed  string
	shift  bool // one of the typed letters is upper case
	alt    bool
	act    Act // for a plain letter
	row    paint.Rect
	anew   Anew
	done   func(h *Hint, act Act)
}

// Anew returns the hints and the row again if they have moved since the last call.
type Anew func() (hints []Hint, row paint.Rect, moved bool)

// New makes an Overlay of hints, the nearest first. act is what a plain letter does; an upper
// case letter inserts, a letter with alt opens. The overlay describes that on row. done is called
// with the chosen hint, nil for none.
func New(hints []Hint, act Act, row paint.Rect, anew Anew, done func(h *Hint, act Act)) *Overlay {
	o := &Overlay{act: act, row: row, anew: anew, done: done}
	o.label(hints)
	return o
}

func (o *Overlay) label(hints []Hint) {
	o.hints = hints[:min(len(hints), MaxLabels)]
	o.labels, o.typed = Labels(len(o.hints)), ""
}

func (o *Overlay) Key(k tea.Key) bool {
	stroke := editor.Stroke(k)
	switch stroke {
	case "esc", "ctrl+c", "ctrl+g", "q":
		if stroke != "q" || o.fits("q") == 0 {
			o.done(nil, o.act)
			return true
		}
	case "backspace":
		o.typed, o.shift, o.alt = "", false, false
		return false
	case "tab":
		o.act = (o.act + 1) % Act(len(acts))
		return false
	}
	letter := strings.TrimPrefix(stroke, "alt+")
	alt := letter != stroke
	letter = strings.TrimPrefix(letter, "shift+")
	if len(letter) != 1 || !strings.Contains(letters, strings.ToLower(letter)) {
		return false
	}
	shift := letter != strings.ToLower(letter) || strings.Contains(stroke, "shift+")
	letter = strings.ToLower(letter)
	if o.fits(o.typed+letter) == 0 {
		return false
	}
	o.typed, o.shift, o.alt = o.typed+letter, o.shift || shift, o.alt || alt
	for i, l := range o.labels {
		if l != o.typed {
			continue
		}
		act := o.act
		switch {
		case o.alt:
			act = Open
		case o.shift:
			act = Insert
		}
		o.done(&o.hints[i], act)
		return true
	}
	return false
}

// fits counts the labels with a prefix.
func (o *Overlay) fits(typed string) (n int) {
	for _, l := range o.labels {
		if strings.HasPrefix(l, typed) {
			n++
		}
	}
	return n
}

func (o *Overlay) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	if hints, row, moved := o.anew(); moved {
		o.row = row
		o.label(hints)
	}
	key := l.Selected
	key.Attrs |= l.HintKey.Attrs
	for i, h := range o.hints {
		label, ok := strings.CutPrefix(o.labels[i], o.typed)
		for _, p := range h.Parts {
			room := min(paint.Width(p.Text), area.X+area.W-p.X)
			style := l.OverlayAccent
			if !ok {
				style = l.OverlayMuted
			}
			c.Text(p.X, p.Y, room, p.Text, style)
			if ok && p.First {
				c.Text(p.X, p.Y, max(room, min(len(label), area.X+area.W-p.X)), label, key)
			}
		}
	}
	text := " hints " + o.typed
	c.Fill(o.row, ' ', l.Hint)
	n := c.Text(o.row.X, o.row.Y, o.row.W, text, l.HintKey)
	c.Text(o.row.X+n, o.row.Y, o.row.W-n, "  a letter: "+acts[o.act]+"  upper case: insert  alt: open  tab: another  esc", l.Hint)
	return paint.Cursor{}
}
