package tty

import (
	"strconv"
	"strings"
)

// toggle is something that is switched on while the interface shows and off
// again when it leaves.
type toggle struct {
	on, off string
	query   bool // asks, so that consoles which print what they don't know are spared
}

// toggles in the order in which they are switched on; off goes backwards.
var toggles = []toggle{
	{on: "\x1b[22;2t", off: "\x1b[23;2t", query: true}, // keep the title
	{off: "\x1b]22;\x1b\\", query: true},               // the pointer that a program wanted
	{on: "\x1b[?1049h", off: "\x1b[?1049l"},            // alternate screen, cursor kept
	// Cursor and style. The screen is left empty with the cursor at its top:
	// tmux moves what is above the cursor into the main screen's history when
	// the window was made larger meanwhile.
	{off: "\x1b[?25h\x1b[0 q\x1b[m\x1b[H\x1b[2J"},
	{on: "\x1b[?7l", off: "\x1b[?7h"},       // no wrapping at the right edge
	{on: "\x1b[?2004h", off: "\x1b[?2004l"}, // bracketed paste
	{on: "\x1b[?1004h", off: "\x1b[?1004l"}, // focus
	{on: "\x1b[?1000h\x1b[?1002h\x1b[?1006h", off: "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l"},
	{on: "\x1b[?2031h", off: "\x1b[?2031l", query: true}, // reports of light and dark
	{on: "\x1b[?2026$p\x1b[?2027$p\x1b[?2031$p\x1b[?u\x1b[>q\x1b[?996n" + graphicsQuery + cellQuery + sixelQuery + colorQuery + fenceQuery, query: true},
}

// fenceQuery is answered by a Fence: every terminal knows it, and answers in
// the order in which it was asked.
const fenceQuery = "\x1b[c"

// Text is measured by grapheme clusters, as the emulator does.
const clustersOn, clustersOff = "\x1b[?2027h", "\x1b[?2027l"

// Mouse motion without a button is reported only while a program wants it.
const (
	AllMotionOn  = "\x1b[?1003h"
	AllMotionOff = "\x1b[?1003l\x1b[?1002h"
)

// EnterSequence switches on what the interface needs.
func EnterSequence(c Caps) string {
	var b strings.Builder
	for _, t := range toggles {
		if !t.query || !c.Console {
			b.WriteString(t.on)
		}
	}
	b.WriteString(c.keyboard())
	return b.String()
}

// LeaveSequence switches it off again.
func LeaveSequence(c Caps) string {
	var b strings.Builder
	b.WriteString("\x1b[?2026l")
	for i := range uint64(c.Gallery.Count) {
		b.WriteString("\x1b_Ga=d,d=I,q=2,i=" + strconv.FormatUint(uint64(c.Gallery.First)+i, 10) + "\x1b\\")
	}
	if c.ClustersOn {
		b.WriteString(clustersOff)
	}
	if c.Kitty {
		b.WriteString("\x1b[<u")
	}
	if c.Other && !c.Kitty {
		b.WriteString("\x1b[>4m")
	}
	if c.Profile.Hyperlinks {
		b.WriteString("\x1b]8;;\x1b\\")
	}
	for i := len(toggles) - 1; i >= 0; i-- {
		if t := toggles[i]; !t.query || !c.Console {
			b.WriteString(t.off)
		}
	}
	if c.Console {
		return strings.TrimPrefix(b.String(), "\x1b[?2026l")
	}
	return b.String()
}
