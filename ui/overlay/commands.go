package overlay

import (
	"slices"
	"strings"

	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Ran is a row of the list of a terminal's commands.
type Ran struct {
	ID    string
	Line  string // as the shell has it; "" when unknown
	Glyph string // how it stands
	Style look.Style
	Facts string // exit code, duration, age
	// Failed is what the filter keeps.
	Failed bool
	// Gone says that its text is no longer kept, so that it can't be gone to.
	Gone bool
}

// RanDo is what the list can do with a command. They say themselves why not.
type RanDo struct {
	Go, CopyOutput, CopyLine, Again func(id string)
}

func (r Ran) key() string    { return r.ID }
func (r Ran) filter() string { return r.Line }

// Commands is the list of the commands that a terminal's shell has run, the
// newest first.
type Commands struct {
	list[Ran]
	failed bool // only those that failed
	total  int
}

// NewCommands gives a list of what rows gives at the time.
func NewCommands(rows func() []Ran, do RanDo) *Commands {
	with := func(f func(string)) func(Ran) { return func(row Ran) { f(row.ID) } }
	o := &Commands{}
	failed := stays("f", "failed only", func(Ran) { o.failed, o.at, o.chosen = !o.failed, "", 0 })
	failed.rowless = true
	actions := []action[Ran]{
		closes("y", "copy output", with(do.CopyOutput)), closes("l", "copy line", with(do.CopyLine)),
		closes("r", "run again", with(do.Again)), failed,
	}
	o.list = list[Ran]{
		rows: func() []Ran {
			all := rows()
			o.total = len(all)
			if o.failed {
				all = slices.DeleteFunc(all, func(r Ran) bool { return !r.Failed })
			}
			return all
		},
		enterKeys: "enter go to", enter: func(row Ran) bool { do.Go(row.ID); return true },
		actions: func() []action[Ran] { return actions },
	}
	return o
}

// Draw implements Overlay.
func (o *Commands) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	o.match()
	title := "Commands"
	if o.failed {
		title = "Commands that failed"
	}
	in, cursor := o.frame(c, area, 110, max(len(o.shown)+4, 8), title, l.Pointer, l)
	if in.Empty() {
		return cursor
	}
	o.draw(c, in, o.none(), l, func(r paint.Rect, row Ran, on func(look.Style) look.Style) {
		c.Text(r.X+1, r.Y, 2, row.Glyph, on(row.Style))
		facts := paint.Cut(row.Facts, max(r.W/2, 0), l.Ellipsis)
		w := paint.Width(facts)
		line, style := row.Line, on(l.Overlay)
		if row.Gone {
			style = on(l.OverlayMuted)
		}
		if strings.TrimSpace(line) == "" {
			line, style = "(unknown)", on(l.OverlayMuted)
		}
		first, _, more := strings.Cut(line, "\n")
		if first = oneLine(first, r.W); more {
			first += l.Ellipsis
		}
		c.Text(r.X+3, r.Y, r.W-w-6, paint.Cut(first, r.W-w-6, l.Ellipsis), style)
		c.Text(r.X+r.W-w-1, r.Y, w, facts, on(l.OverlayMuted))
	})
	o.drawMenu(c, in, l)
	return cursor
}

func (o *Commands) none() string {
	switch {
	case o.total == 0:
		return "no command has run here yet"
	case o.failed && o.typed() == "":
		return "no command has failed"
	}
	return "no command matches"
}
