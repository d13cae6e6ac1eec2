package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/terminal"
)

const (
	// silence is how long a terminal has to have been quiet for output to be
	// worth a person's attention.
	silence = 10 * time.Second
	// answerTime is for how long output may be the answer to what was typed, or to a
	// new size: shells and full-screen programs draw anew then.
	answerTime = 2 * time.Second
)

// activity is the body of the activity channel. Rows that have changed wait in
// due, so that a program that rings all the time costs its viewers no more than
// the list of terminals does.
type activity struct {
	h     *Host
	ch    *core.Channel
	value ahp.ActivityState
	due   map[*term]struct{}
	last  time.Time
	timer *time.Timer // armed while rows are due; nil otherwise

	refusals []ahp.AgentRefusal
	refused  bool // refusals have changed

	warn *time.Timer // armed while the host's warning may have changed; nil otherwise
}

func newActivity(tx core.Tx, h *Host) *activity {
	a := &activity{h: h, due: map[*term]struct{}{}}
	a.ch = tx.NewChannel(ahp.ActivityURI, a)
	return a
}

func (v *activity) Reduce(a ahp.Action)  { v.value = ahp.ReduceActivity(v.value, a) }
func (v *activity) State(tx core.Tx) any { return v.value }
func (v *activity) Settle(tx core.Tx)    { v.sendDue(tx) }

// attention is what the host knows of what a terminal has to tell. Guarded by
// the lock.
type attention struct {
	row     ahp.Attention
	reports records
	output  time.Time // when the last one came
	resized time.Time // when its size was last set
}

// attend changes a terminal's row, and sends it now or soon.
func (t *term) attend(tx core.Tx, change func(row *ahp.Attention)) {
	h := t.h
	change(&t.attention.row)
	h.activity.due[t] = struct{}{}
	h.activity.sendSoon(tx)
}

// sendSoon sends what is due, now or when the interval is over.
func (v *activity) sendSoon(tx core.Tx) {
	if v.timer != nil {
		return
	}
	if wait := listInterval - time.Since(v.last); wait > 0 {
		v.timer = time.AfterFunc(wait, func() { v.h.core.Do(func(tx core.Tx) { v.sendDue(tx) }) })
		return
	}
	v.sendDue(tx)
}

// sendDue sends the rows that have changed.
func (v *activity) sendDue(tx core.Tx) {
	v.disarm()
	if len(v.due) == 0 && !v.refused {
		return
	}
	v.last = time.Now()
	if v.refused {
		v.refused = false
		tx.Apply(v.ch, ahp.AgentsRefused{Refusals: slices.Clone(v.refusals)}, nil)
	}
	for t := range v.due {
		delete(v.due, t)
		if tx.Channel(t.ch.URI) == t.ch {
			row := t.attention.row
			tx.Apply(v.ch, ahp.AttentionChanged{Terminal: t.ch.URI, Attention: &row}, nil)
		}
	}
}

// warnSoon tells the host's owner what there is to see to, when that has changed. It
// may be called in the middle of applying something.
func (v *activity) warnSoon(tx core.Tx) {
	if v.warn != nil || tx.Closing() {
		return
	}
	h := v.h
	v.warn = time.AfterFunc(listInterval, func() {
		trouble := h.tokens.Trouble()
		h.core.Do(func(tx core.Tx) {
			v.warn = nil
			v := h.activity // an earlier host's may have come back
			if text := inLine(v.h.warning(tx, trouble)); text != v.value.Warning && !tx.Closing() {
				tx.Apply(v.ch, ahp.HostWarned{Warning: text}, nil)
			}
		})
	})
}

// stop ends the timers.
func (v *activity) stop() {
	if v.disarm(); v.warn != nil {
		v.warn.Stop()
		v.warn = nil
	}
}

func (v *activity) disarm() {
	if v.timer != nil {
		v.timer.Stop()
		v.timer = nil
	}
}

// forget takes a removed terminal's row out.
func (v *activity) forget(tx core.Tx, t *term) {
	delete(v.due, t)
	if _, ok := v.value.Terminals[t.ch.URI]; ok {
		tx.Apply(v.ch, ahp.AttentionChanged{Terminal: t.ch.URI}, nil)
	}
}

// noteAttention looks at an action of a terminal for what a person may want to know.
func (t *term) noteAttention(tx core.Tx, a ahp.Action) {
	h := t.h
	now := h.now()
	switch a.(type) {
	case ahp.TerminalResized:
		t.attention.resized = now
	case ahp.TerminalData:
		if now.Sub(t.attention.resized) < answerTime {
			return
		}
		quiet := now.Sub(t.attention.output)
		first := t.attention.output.IsZero()
		t.attention.output = now
		if quiet < silence || first || h.typist.into == t && now.Sub(h.typist.at) < answerTime {
			return
		}
		t.attend(tx, func(row *ahp.Attention) { row.Output = now.UnixMilli() })
	case ahp.TerminalCommandFinished, ahp.TerminalExited:
		// What an earlier host was told is in the row alone.
		if s := t.attention.row.Status; t.attention.reports.ended() || s != nil && passing(s.State) {
			t.attend(tx, func(row *ahp.Attention) { row.Status = t.attention.reports.top() })
		}
	}
}

// The table would refer to itself otherwise: what follows from an action may be
// another one.
func init() {
	told[terminal.Noticed{}.ActionType()] = func(tx core.Tx, t *term, a ahp.Action) { t.noticed(tx, a.(terminal.Noticed)) }
}

// noticed takes what programs want a person to know.
func (t *term) noticed(tx core.Tx, n terminal.Noticed) {
	h := t.h
	at := h.now().UnixMilli()
	reported := false
	for _, r := range n.Reports {
		if r.Progress {
			reported = t.attention.reports.progress(r.Body, at) || reported
		} else {
			reported = t.attention.reports.report(r.Body, at) || reported
		}
	}
	if !n.Bell && len(n.Notes) == 0 && !reported {
		return
	}
	t.attend(tx, func(row *ahp.Attention) {
		if n.Bell {
			row.Bell = at
		}
		if len(n.Notes) > 0 {
			row.Note = note(n.Notes[len(n.Notes)-1], at)
		}
		if reported {
			row.Status = t.attention.reports.top()
		}
	})
}

func note(e emulator.Event, at int64) *ahp.Note {
	cut := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), ahp.MaxNote)], "") }
	return &ahp.Note{At: at, Title: cut(e.Name), Body: cut(e.Text)}
}

func isActivity(b core.Body) bool { _, ok := b.(*activity); return ok }

// seeTerminal is x-tandemux/terminalSeen: by those who may change the terminal, as
// it takes marks away that others see too.
func seeTerminal(tx core.Tx, d *dispatch) string {
	a := d.action.(ahp.TerminalSeen)
	t, ok := termAt(tx, a.Terminal)
	if !ok || !reaches(tx, d.c.Principal, a.Terminal) {
		return fmt.Sprintf("there is no terminal %q", params.Clip(a.Terminal))
	}
	if s := t.mayShape(d.c.Principal); s != "" {
		return s
	}
	d.c.h.activity.sendDue(tx)
	t.attention.row.Seen = d.c.h.now().UnixMilli()
	tx.Apply(d.ch, ahp.TerminalSeen{Terminal: a.Terminal, At: t.attention.row.Seen}, &d.by)
	return ""
}

// recount counts the clients that show a layout: those that follow it and the
// activity, as an interface does and a command that edits it does not.
func (h *Host) recount(tx core.Tx, ch *core.Channel) {
	switch ch.Body.(type) {
	case *activity:
		for _, l := range h.layouts {
			h.recount(tx, l.ch)
		}
	case *layout:
		n := 0
		for _, l := range ch.Links() {
			if l.Watches(ahp.ActivityURI) {
				n++
			}
		}
		if h.activity.value.Layouts[ch.URI] != n {
			tx.Apply(h.activity.ch, ahp.LayoutWatched{Layout: ch.URI, Clients: n}, nil)
		}
	}
}

// holderName is what people call whoever holds a terminal: a token's name, "" for
// the operator.
func (t *term) holderName(tx core.Tx) string {
	if id, ok := auth.TokenOf(t.holder); ok {
		return t.h.tokens.Name(id)
	}
	return ""
}
