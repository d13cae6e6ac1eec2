package activity

import (
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/core"
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

// Terminal is what is known of what a terminal has to tell. Guarded by the lock.
type Terminal struct {
	Output  time.Time // when the last one came
	resized time.Time // when its size was last set
	reports reports
}

// Follow looks at an action of a terminal for what a person may want to know. Typed is
// when somebody typed into it, if nobody has typed elsewhere since.
func (v *Activity) Follow(tx core.Tx, uri ahp.URI, t *Terminal, a ahp.Action, typed time.Time) {
	now := v.Now()
	switch a := a.(type) {
	case terminal.Noticed:
		v.noticed(tx, uri, t, a)
	case ahp.TerminalResized:
		t.resized = now
	case ahp.TerminalData:
		if now.Sub(t.resized) < answerTime {
			return
		}
		quiet := now.Sub(t.Output)
		first := t.Output.IsZero()
		t.Output = now
		if quiet < silence || first || now.Sub(typed) < answerTime {
			return
		}
		v.attend(tx, uri, func(row *ahp.Attention) { row.Output = now.UnixMilli() })
	case ahp.TerminalCommandFinished, ahp.TerminalExited:
		// What an earlier host was told is in the row alone.
		if s := v.row(uri).Status; t.reports.ended() || s != nil && passing(s.State) {
			v.attend(tx, uri, func(row *ahp.Attention) { row.Status = t.reports.top() })
		}
	}
}

// noticed takes what programs want a person to know.
func (v *Activity) noticed(tx core.Tx, uri ahp.URI, t *Terminal, n terminal.Noticed) {
	at := v.Now().UnixMilli()
	reported := false
	for _, r := range n.Reports {
		if r.Progress {
			reported = t.reports.progress(r.Body, at) || reported
		} else {
			reported = t.reports.report(r.Body, at) || reported
		}
	}
	if !n.Bell && len(n.Notes) == 0 && !reported {
		return
	}
	v.attend(tx, uri, func(row *ahp.Attention) {
		if n.Bell {
			row.Bell = at
		}
		if len(n.Notes) > 0 {
			row.Note = note(n.Notes[len(n.Notes)-1], at)
		}
		if reported {
			row.Status = t.reports.top()
		}
	})
}

func note(e emulator.Event, at int64) *ahp.Note {
	cut := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), ahp.MaxNote)], "") }
	return &ahp.Note{At: at, Title: cut(e.Name), Body: cut(e.Text)}
}

// row is a terminal's.
func (v *Activity) row(uri ahp.URI) ahp.Attention {
	if row, ok := v.due[uri]; ok {
		return row
	}
	return v.value.Terminals[uri]
}

// attend changes a terminal's row, and sends it now or soon.
func (v *Activity) attend(tx core.Tx, uri ahp.URI, change func(row *ahp.Attention)) {
	row := v.row(uri)
	change(&row)
	v.due[uri] = row
	v.sendSoon(tx)
}
