package terminal

import (
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
)

const (
	// maxNotices bounds the notifications of one Noticed; the newest are kept.
	maxNotices = 4
	// maxReports bounds the reports of one Noticed. More are dropped: a program goes on
	// reporting.
	maxReports = 256
	// maxReport bounds a report in bytes (an OSC 7501 has at most 4096 in all).
	maxReport = 4096 - len("\x1b]7501;\x1b\\")
)

// Noticed is what programs want a person to know. It is for the holder of the terminal
// only, not for the wire.
type Noticed struct {
	Bell    bool
	Notes   []emulator.Event // EventNotify
	Reports []Report         // in order
}

// Report is what a program says of itself.
type Report struct {
	Progress bool   // it is an OSC 9;4, else an OSC 7501
	Body     string // the OSC's text after the number
}

// ActionType implements ahp.Action.
func (Noticed) ActionType() string { return "host/noticed" }

var _ ahp.Action = Noticed{}

// statusQuery asks whether the terminal takes reports; the answer is the same.
const statusQuery = "7501;?"

// notice handles an event of the emulator that is for a person. The caller holds screen.
func (t *Terminal) notice(e emulator.Event) {
	var r Report
	switch e.Kind {
	case emulator.EventMark:
		body, ok := strings.CutPrefix(e.Text, "7501;")
		switch {
		case e.Text == statusQuery:
			t.answer("\x1b]" + statusQuery + "\x1b\\")
			return
		case !ok || !strings.Contains(body, "state=") || len(body) > maxReport:
			return // a shell's mark
		}
		r.Body = body
	case emulator.EventProgress:
		r = Report{Progress: true, Body: e.Text}
	}
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	n := t.pending.noticed
	if n == nil {
		n = new(Noticed)
		t.pending.noticed = n
	}
	switch {
	case e.Kind == emulator.EventBell:
		n.Bell = true
	case e.Kind == emulator.EventNotify:
		if len(n.Notes) == maxNotices {
			n.Notes = append(n.Notes[:0:0], n.Notes[1:]...)
		}
		n.Notes = append(n.Notes, e)
	case len(n.Reports) < maxReports:
		n.Reports = append(n.Reports, r)
	}
}
