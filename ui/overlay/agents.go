package overlay

import (
	tea "charm.land/bubbletea/v2"

	"cotty/ahp"
	"cotty/ui/look"
	"cotty/ui/paint"
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

// Agents is the list of the sessions with agents.
type Agents struct {
	rows   func() []Session
	do     SessionActions
	pick   picker
	typing bool // every letter belongs to the filter
	shown  []Session
	inside paint.Rect // of the rows, as last drawn
}

// NewAgents gives a list of what rows gives at the time.
func NewAgents(rows func() []Session, do SessionActions) *Agents {
	return &Agents{rows: rows, do: do}
}

// Chosen is the session chosen now, "" for none.
func (a *Agents) Chosen() ahp.URI {
	a.match()
	if a.pick.chosen >= len(a.shown) {
		return ""
	}
	return a.shown[a.pick.chosen].URI
}

// match brings the rows up to date; the choice stays on its session.
func (a *Agents) match() {
	all := a.rows()
	var keep ahp.URI
	if a.pick.chosen < len(a.shown) {
		keep = a.shown[a.pick.chosen].URI
	}
	at := matching(len(all), a.pick.query.String(), func(i int) string {
		r := all[i]
		return r.Title + " " + r.Agent + " " + r.State + " " + r.Cwd + " " + r.Where
	})
	a.shown = a.shown[:0]
	for _, i := range at {
		a.shown = append(a.shown, all[i])
	}
	if a.pick.query.String() == "" {
		for i, r := range a.shown {
			if r.URI == keep {
				a.pick.chosen = i
			}
		}
	}
	a.pick.chosen = min(a.pick.chosen, max(len(a.shown)-1, 0))
}

// Key implements Overlay. The single letters act until a filter is typed; with Alt
// they always do.
func (a *Agents) Key(k tea.Key) bool {
	a.match()
	s := stroke(k)
	if n, ok := listMoves[s]; ok {
		a.pick.move(n, len(a.shown))
		return false
	}
	if !a.typing {
		switch s {
		case "j", "k":
			a.pick.move(map[string]int{"j": 1, "k": -1}[s], len(a.shown))
			return false
		case "q":
			return true
		case "/":
			a.typing = true
			return false
		}
	}
	for letter, act := range map[string]func(ahp.URI){"r": a.do.Rename, "a": a.do.Archive, "x": a.do.End, "t": a.do.Bring, "y": a.do.Answer, "s": a.do.Steer, "p": a.do.Pull} {
		if s == "alt+"+letter || s == letter && !a.typing {
			if a.pick.chosen < len(a.shown) {
				act(a.shown[a.pick.chosen].URI)
			}
			return letter == "t" && len(a.shown) > 0
		}
	}
	switch {
	case s == "alt+n" || s == "n" && !a.typing:
		a.do.New()
		return false
	case s == "alt+v" || s == "v" && !a.typing:
		a.do.All()
		return false
	}
	switch s {
	case "enter":
		return a.choose()
	case "esc", "ctrl+c":
		if a.typing {
			a.typing, a.pick = false, picker{}
			return false
		}
		return true
	}
	if a.pick.query.key(k) {
		a.typing = a.pick.query.String() != ""
		a.pick.chosen = 0
	}
	return false
}

func (a *Agents) choose() bool {
	if a.pick.chosen >= len(a.shown) {
		if len(a.shown) == 0 && a.pick.query.String() == "" {
			a.do.New()
		}
		return false
	}
	a.do.Open(a.shown[a.pick.chosen].URI)
	return true
}

// Paste implements Overlay.
func (a *Agents) Paste(text string) {
	a.pick.query.insert(text)
	a.typing, a.pick.chosen = true, 0
}

// Click implements Clicker: it chooses a row; the chosen one is opened.
func (a *Agents) Click(x, y int) bool {
	if !a.inside.Contains(x, y) {
		return false
	}
	i := a.pick.top + y - a.inside.Y
	if i >= len(a.shown) {
		return false
	}
	again := i == a.pick.chosen
	a.pick.chosen = i
	return again && a.choose()
}

// Wheel implements Clicker.
func (a *Agents) Wheel(up bool) {
	n := 1
	if up {
		n = -1
	}
	a.pick.move(n, len(a.shown))
}

// Draw implements Overlay.
func (a *Agents) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	a.match()
	r := centred(area, min(150, area.W-2), min(max(len(a.shown)+5, area.H*3/5, 8), area.H))
	in := box(c, r, "Agents", a.keys(), l)
	if in.H < 2 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, l.Pointer, l.OverlayAccent)
	text, at := a.pick.query.view(in.W - 4)
	if text == "" && !a.typing {
		c.Text(in.X+3, in.Y, in.W-4, "type to filter", l.OverlayMuted)
	}
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	a.inside = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	facts := paint.Rect{}
	if in.H > 4 {
		a.inside.H--
		facts = paint.Rect{X: in.X, Y: in.Y + in.H - 1, W: in.W, H: 1}
	}
	a.pick.scroll(a.inside.H, len(a.shown))
	if len(a.shown) == 0 {
		empty := "no session yet: n begins one"
		if a.pick.query.String() != "" {
			empty = "no session matches"
		}
		c.Text(in.X+3, a.inside.Y, in.W-4, empty, l.OverlayMuted)
	}
	cols := a.columns(a.inside.W)
	for i := range min(a.inside.H, len(a.shown)-a.pick.top) {
		a.row(c, paint.Rect{X: a.inside.X, Y: a.inside.Y + i, W: a.inside.W, H: 1}, a.pick.top+i, cols, l)
	}
	if a.pick.chosen < len(a.shown) && !facts.Empty() {
		drawFacts(c, facts, l, a.shown[a.pick.chosen].facts()...)
	}
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}

// keys are those that the chosen row takes.
func (a *Agents) keys() string {
	if a.pick.chosen < len(a.shown) && a.shown[a.pick.chosen].Task {
		return "enter open  y answer  s steer  p pull  x discard  n new  r rename  a archive  v archived  / filter"
	}
	return "enter open  n new  y answer  r rename  a archive  x end  v archived  / filter"
}

func (s Session) facts() []string { return []string{s.Doing, s.Cwd, s.Agent, s.Where} }

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

func (a *Agents) row(c *paint.Canvas, r paint.Rect, i int, cols sessionColumns, l look.Look) {
	row := a.shown[i]
	chosen := i == a.pick.chosen
	in := func(s look.Style) look.Style {
		if chosen {
			return l.Selected
		}
		s.BG = l.Overlay.BG
		return s
	}
	c.Fill(r, ' ', in(l.Overlay))
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

// drawFacts draws a line of facts about what is chosen.
func drawFacts(c *paint.Canvas, r paint.Rect, l look.Look, facts ...string) {
	c.Fill(r, l.Horizontal, l.OverlayBox)
	text := ""
	for _, s := range facts {
		switch {
		case s == "":
		case text == "":
			text = s
		default:
			text += " " + l.Separator + " " + s
		}
	}
	if text != "" {
		c.Text(r.X+1, r.Y, r.W-2, " "+paint.Cut(text, r.W-4, l.Ellipsis)+" ", l.OverlayMuted)
	}
}
