package overlay

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Session is a row of the list of sessions.
type Session struct {
	URI        ahp.URI
	Mark       string // one cell: its state
	State      string // in a word
	StateStyle look.Style
	Title      string
	Agent      string
	Tokens     string // "" where not known
	Time       string // how long it has worked, or since when it rests
	Cwd        string
	Doing      string // what it does, or waits for
	Where      string // "tab 2", "" when no pane of this layout shows it
	Unread     bool
	// Of a task: how far it is, and how many lines it has changed. Its Cwd is its
	// workspace.
	Task              bool
	Progress, Changes string
}

// SessionActions are what the list of sessions can do. They say themselves why not.
type SessionActions struct {
	Open, Bring, Answer, Rename, Archive, End func(ahp.URI)
	New                                       func()
	// Steer and Pull are for tasks, which End discards.
	Steer, Pull func(ahp.URI)
	// All has the archived ones shown, or not.
	All func()
}

func (s Session) key() string { return string(s.URI) }

func (s Session) filter() string {
	return s.Title + " " + s.Agent + " " + s.State + " " + s.Cwd + " " + s.Where
}

// Agents is the list of the sessions with agents.
type Agents struct {
	list[Session]
	begin func()
}

// NewAgents gives a list of what rows gives at the time, with current chosen if
// that is one of them.
func NewAgents(rows func() []Session, current ahp.URI, do SessionActions) *Agents {
	with := func(f func(ahp.URI)) func(Session) { return func(row Session) { f(row.URI) } }
	begin := stays("n", "new", func(Session) { do.New() })
	all := stays("v", "archived", func(Session) { do.All() })
	begin.rowless, all.rowless = true, true
	answer := stays("y", "answer", with(do.Answer))
	rename, archive := stays("r", "rename", with(do.Rename)), stays("a", "archive", with(do.Archive))
	bring := closes("t", "to this tab", with(do.Bring))
	ofSession := []action[Session]{begin, answer, rename, archive, bring, stays("x", "end", with(do.End)), all}
	ofTask := []action[Session]{
		answer, stays("s", "steer", with(do.Steer)), stays("p", "pull", with(do.Pull)),
		stays("x", "discard", with(do.End)), begin, rename, archive, bring, all,
	}
	a := &Agents{begin: do.New}
	a.list = list[Session]{
		rows: rows, current: string(current),
		enterKeys: "enter open", enter: func(row Session) bool { do.Open(row.URI); return true },
		actions: func() []action[Session] {
			if row, ok := a.row(); ok && row.Task {
				return ofTask
			}
			return ofSession
		},
	}
	return a
}

// Key implements Overlay: with no session at all Enter begins one.
func (a *Agents) Key(k tea.Key) bool {
	if editor.Stroke(k) == "enter" && len(a.rows()) == 0 {
		a.begin()
		return false
	}
	return a.list.Key(k)
}

// Chosen is the session chosen now, "" for none.
func (a *Agents) Chosen() ahp.URI {
	a.match()
	row, _ := a.row()
	return row.URI
}

// Draw implements Overlay.
func (a *Agents) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	a.match()
	in, cursor := a.frame(c, area, 150, max(len(a.shown)+5, area.H*3/5, 8), "Agents", l.Pointer, l)
	if in.Empty() {
		return cursor
	}
	rows, facts := in, paint.Rect{}
	if in.H > 3 {
		rows.H--
		facts = paint.Rect{X: in.X, Y: in.Y + rows.H, W: in.W, H: 1}
	}
	empty := "no session yet: enter begins one"
	if a.typed() != "" {
		empty = "no session matches"
	}
	cols := a.columns(in.W)
	a.draw(c, rows, empty, l, func(r paint.Rect, row Session, on func(look.Style) look.Style) {
		cols.draw(c, r, row, on, l)
	})
	if row, ok := a.row(); ok {
		factsLine(c, facts, l, row.Doing, row.Cwd, row.Agent, row.Where)
	}
	a.drawMenu(c, in, l)
	return cursor
}

// sessionColumns are the widths of a row's columns, 0 for one that has no room.
type sessionColumns struct{ state, title, progress, changes, agent, tokens, time, cwd, where int }

// columns shares a row of w cells; what says least goes first.
func (a *Agents) columns(w int) sessionColumns {
	var c sessionColumns
	for _, r := range a.shown {
		c.state = max(c.state, paint.Width(r.State)+1)
		c.agent = max(c.agent, paint.Width(r.Agent)+1)
		if r.Task { // The others have no columns for it.
			c.progress = max(c.progress, paint.Width(r.Progress)+1)
			c.changes = max(c.changes, paint.Width(r.Changes)+1)
		}
		c.tokens = max(c.tokens, paint.Width(r.Tokens)+1)
		c.time = max(c.time, paint.Width(r.Time)+1)
		c.cwd = max(c.cwd, paint.Width(r.Cwd)+1)
		c.where = max(c.where, paint.Width(r.Where)+1)
	}
	c.state, c.agent, c.cwd = min(c.state, 16), min(c.agent, 18), min(c.cwd, 30)
	const least = 20
	left := w - 2 - c.state - least
	for _, col := range []*int{&c.progress, &c.changes, &c.time, &c.tokens, &c.agent, &c.where, &c.cwd} {
		if *col > left {
			*col = 0
		}
		left -= *col
	}
	c.title = least + left
	return c
}

// draw draws a session's row.
func (cols sessionColumns) draw(c *paint.Canvas, r paint.Rect, row Session, in func(look.Style) look.Style, l look.Look) {
	c.Text(r.X, r.Y, 1, row.Mark, in(row.StateStyle))
	x := r.X + 2
	put := func(w int, text string, s look.Style, right bool) {
		if w <= 0 {
			return
		}
		text = paint.Cut(text, w-1, l.Ellipsis)
		off := 0
		if right {
			off = w - 1 - paint.Width(text)
		}
		c.Text(x+off, r.Y, w-1, text, in(s))
		x += w
	}
	title := l.Overlay
	if row.Unread {
		title.Attrs |= l.OverlayAccent.Attrs
	}
	put(cols.state, row.State, row.StateStyle, false)
	put(cols.title, row.Title, title, false)
	put(cols.progress, row.Progress, l.OverlayMuted, true)
	put(cols.changes, row.Changes, l.OverlayMuted, true)
	put(cols.agent, row.Agent, l.OverlayMuted, false)
	put(cols.tokens, row.Tokens, l.OverlayMuted, true)
	put(cols.time, row.Time, l.OverlayMuted, true)
	put(cols.where, row.Where, l.OverlayMuted, false)
	put(cols.cwd, row.Cwd, l.OverlayMuted, false)
}
