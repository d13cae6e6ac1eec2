package control

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tandemux/emulator"
)

// Bounds of what is kept, in bytes except maxTitles and maxEvents.
const (
	maxTitle     = 4096
	maxTitles    = 16 // the title stack
	maxText      = 4096
	maxURI       = 4096
	maxLinkID    = 256
	maxEvents    = 4096
	maxEventSize = 16 << 20
)

// System has what a program and its terminal tell each other beside the text: titles, colours, and the
// events for the engine's caller.
type System struct {
	Title   string
	Palette colors
	Outer   emulator.Colors
	// EightBit makes answers use C1 controls of one byte (S8C1T).
	EightBit bool
	// Repaint is set when a colour changed; the engine clears it.
	Repaint bool

	titles []string
	palettes
	events []emulator.Event
	size   int // of events, in bytes
}

// Reset resets all but the title, as xterm does for RIS.
func (s *System) Reset() {
	s.titles, s.Palette, s.palettes, s.EightBit = nil, colors{}, palettes{}, false
}

// Event queues an event for the caller. Events beyond the bounds are dropped, as the caller does not
// take them.
func (s *System) Event(kind emulator.EventKind, name, text string) {
	if len(s.events) >= maxEvents || s.size+len(name)+len(text) > maxEventSize {
		return
	}
	s.size += len(name) + len(text)
	s.events = append(s.events, emulator.Event{Kind: kind, Name: name, Text: text})
}

// Resize queues a size that the program asks for.
func (s *System) Resize(cols, rows int) {
	if len(s.events) < maxEvents {
		s.events = append(s.events, emulator.Event{Kind: emulator.EventResize, Cols: cols, Rows: rows})
	}
}

// Events returns the events since the last call.
func (s *System) Events() []emulator.Event {
	out := s.events
	s.events, s.size = nil, 0
	return out
}

// Reply queues an answer for the pty.
func (s *System) Reply(text string) {
	if s.EightBit {
		text = eightBit.Replace(text)
	}
	s.Event(emulator.EventReply, "", text)
}

// eightBit replaces controls of two bytes by those of one.
var eightBit = strings.NewReplacer("\x1bP", "\x90", "\x1b[", "\x9b", "\x1b\\", "\x9c", "\x1b]", "\x9d", "\x1b_", "\x9f")

// Seven returns 1 while answers have 7-bit controls, as in DECSCL, else 0.
func (s *System) Seven() int {
	if s.EightBit {
		return 0
	}
	return 1
}

// Replyf formats an answer and queues it.
func (s *System) Replyf(format string, args ...any) { s.Reply(fmt.Sprintf(format, args...)) }

// clean returns b as valid UTF-8 without C0, C1 and DEL, cut to at most limit bytes.
func clean(b []byte, limit int) string {
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1 {
			continue
		}
		if out.Len()+n > limit {
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

// SetTitle sets the title (OSC 2).
func (s *System) SetTitle(b []byte) { s.setTitle(clean(b, maxTitle)) }

func (s *System) setTitle(title string) {
	s.Title = title
	s.Event(emulator.EventTitle, "", title)
}

// Append appends to a snapshot what sets titles and colours.
func (s *System) Append(buf []byte) []byte {
	for _, t := range s.titles {
		buf = fmt.Appendf(buf, "\x1b]2;%s\x1b\\\x1b[22;2t", t)
	}
	if s.Title != "" || len(s.titles) > 0 {
		buf = fmt.Appendf(buf, "\x1b]2;%s\x1b\\", s.Title)
	}
	return s.Palette.append(s.palettes.append(buf))
}
