package control

import (
	"strings"

	"tandemux/emulator"
)

// Version answers XTVERSION.
func (s *System) Version(ps *Parser, version string) {
	if ps.Raw(0) != 0 {
		return
	}
	v := clean([]byte(version), 64)
	switch {
	case v == "":
		v = "tandemux"
	case !strings.HasPrefix(v, "tandemux"):
		v = "tandemux(" + v + ")"
	}
	s.Reply("\x1bP>|" + v + "\x1b\\")
}

// Status answers DSR; line and column are the cursor's place, 0-based.
func (s *System) Status(ps *Parser, line, column int) {
	switch ps.Raw(0) {
	case 5:
		s.Reply("\x1b[0n")
	case 6:
		s.Replyf("\x1b[%d;%dR", line+1, column+1)
	}
}

// privateReports are the constant answers to DSR with a question mark: no printer, no user-defined
// keys locked, a North American keyboard, no locator, no macros, no data errors, no sessions.
var privateReports = map[int]string{
	15: "\x1b[?13n",
	25: "\x1b[?20n",
	26: "\x1b[?27;1;0;0n",
	53: "\x1b[?50n",
	55: "\x1b[?50n",
	56: "\x1b[?57;0n",
	62: "\x1b[0*{",
	75: "\x1b[?70n",
	85: "\x1b[?83n",
}

// PrivateStatus answers DSR with a question mark; level is that of DECSCL.
func (s *System) PrivateStatus(ps *Parser, line, column, level int) {
	switch n := ps.Raw(0); n {
	case 6:
		if level < 4 {
			s.Replyf("\x1b[?%d;%dR", line+1, column+1) // Such a terminal has no pages yet.
			return
		}
		s.Replyf("\x1b[?%d;%d;1R", line+1, column+1)
	case 63:
		s.Replyf("\x1bP%d!~0000\x1b\\", ps.Raw(1))
	case 996:
		s.reportScheme()
	default:
		if text, ok := privateReports[n]; ok {
			s.Reply(text)
		}
	}
}

func (s *System) reportScheme() {
	if s.Outer.Dark() {
		s.Reply("\x1b[?997;1n")
	} else {
		s.Reply("\x1b[?997;2n")
	}
}

// Window executes XTWINOPS, but only the reports of size and the title stack. The title is never
// reported: a child could have put commands in it.
func (s *System) Window(ps *Parser, cols, rows int) {
	const w, h = emulator.CellWidth, emulator.CellHeight
	switch n := ps.Raw(0); n {
	case 11:
		s.Reply("\x1b[1t")
	case 13:
		s.Reply("\x1b[3;0;0t")
	case 14, 15:
		s.Replyf("\x1b[%d;%d;%dt", n-10, rows*h, cols*w)
	case 16:
		s.Replyf("\x1b[6;%d;%dt", h, w)
	case 18, 19:
		s.Replyf("\x1b[%d;%d;%dt", n-10, rows, cols)
	case 20:
		s.Reply("\x1b]L\x1b\\")
	case 21:
		s.Reply("\x1b]l\x1b\\")
	case 22, 23:
		last := len(s.titles) - 1
		switch {
		case ps.Raw(1) == 1: // The icon's title is not kept.
		case n == 22:
			s.titles = append(s.titles[max(0, last+2-maxTitles):], s.Title)
		case last >= 0:
			title := s.titles[last]
			s.titles = s.titles[:last]
			s.setTitle(title)
		}
	}
}

// sixelColors is how many colour registers a sixel picture has.
const sixelColors = 1024

// Graphics answers XTSMGRAPHICS: how many colours sixel pictures have, and how large they can be
// without being cut. Neither can be changed.
func (s *System) Graphics(ps *Parser, cols, rows int) {
	const ok, badItem, badAction, failed = 0, 1, 2, 3
	item, action := ps.Raw(0), ps.Raw(1)
	read := action == 1 || action == 2 || action == 4
	switch {
	case !s.Outer.Pictures:
		s.Replyf("\x1b[?%d;%dS", item, failed)
	case item != 1 && item != 2:
		s.Replyf("\x1b[?%d;%dS", item, badItem)
	case action == 3:
		s.Replyf("\x1b[?%d;%dS", item, failed)
	case !read:
		s.Replyf("\x1b[?%d;%dS", item, badAction)
	case item == 1:
		s.Replyf("\x1b[?1;%d;%dS", ok, sixelColors)
	default:
		s.Replyf("\x1b[?2;%d;%d;%dS", ok, cols*emulator.CellWidth, rows*emulator.CellHeight)
	}
}
