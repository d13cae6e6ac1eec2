package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/ui/tty"
)

// answerTime is how long the outer terminal may take to answer what it was
// asked; a report of light or dark after that is news.
const answerTime = time.Second

// shade says whether the outer terminal is light or dark.
type shade uint8

const (
	unknown shade = iota
	dark
	light
)

// colors are the outer terminal's, as far as it has said.
type colors struct {
	shown emulator.Colors
	told  emulator.Colors // as the host knows them
	shade shade
	// scheme is what it last said itself (CSI ? 997), unlike shade, which is the
	// background's where that is known.
	scheme shade
	// reports says that the outer terminal tells of changes (mode 2031).
	reports bool

	fenced bool      // the answers to the first questions are in
	asked  time.Time // when it was asked last; zero when all has been answered
	again  bool      // its colours have changed since
}

// asking reports whether answers are due.
func (c *colors) asking(now time.Time) bool {
	return !c.asked.IsZero() && now.Sub(c.asked) <= answerTime
}

// Dark reports whether the outer terminal is dark; known is false while it has
// not said.
func (m *Model) Dark() (yes, known bool) {
	s := m.outer.colors.shade
	return s == dark, s != unknown
}

// learnColors takes what the outer terminal says about its colours; it reports
// whether the message was about them.
func (m *Model) learnColors(msg tea.Msg) bool {
	c := &m.outer.colors
	defer func(was shade, shown emulator.Colors) {
		if was != c.shade || shown != c.shown {
			m.outer.undressed = true // the theme depends on them
		}
	}(c.shade, c.shown)
	switch msg := msg.(type) {
	case tty.Color:
		c.take(msg)
	case tty.Scheme:
		was := c.scheme
		if c.scheme = light; msg.Dark {
			c.scheme = dark
		}
		if c.shade == unknown {
			c.shade = c.scheme
		}
		c.reports = true
		switch asking := c.asking(m.env.Now()); {
		case !asking:
			m.askColors()
		case was != unknown && was != c.scheme:
			c.again = true // some of the answers may be older
		}
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeLightDark {
			c.reports = msg.Value == ansi.ModeSet || msg.Value == ansi.ModeReset || msg.Value == ansi.ModePermanentlySet
			return true
		}
		return false
	case tty.Fence:
		first := !c.fenced
		c.fenced, c.asked = true, time.Time{}
		if c.again {
			m.askColors()
		}
		return !first // the first one is about what the terminal can do, too
	default:
		return false
	}
	return true
}

// take notes an answer.
func (c *colors) take(a tty.Color) {
	switch a.Code {
	case 10:
		c.shown.FG = a.Value
	case 11:
		c.shown.BG = a.Value
		if isDark, known := tty.Dark(a.Value); known {
			if c.shade = light; isDark {
				c.shade = dark
			}
		}
	case 12:
		c.shown.Cursor = a.Value
	case 4:
		c.shown.Indexed[a.Index] = a.Value
	}
}

// askColors asks the outer terminal for its colours again.
func (m *Model) askColors() {
	q := tty.AskColors(m.outer.caps)
	if q == "" {
		return
	}
	m.outer.colors.asked, m.outer.colors.again = m.env.Now(), false
	if m.env.Expect != nil {
		m.env.Expect()
	}
	m.outer.raw = append(m.outer.raw, q...)
}

// checkColors asks for the colours again when the outer terminal gets the focus,
// if it answers but does not tell of changes by itself.
func (m *Model) checkColors() {
	c := &m.outer.colors
	if !c.reports && c.shown != (emulator.Colors{}) && !c.asking(m.env.Now()) {
		m.askColors()
	}
}

// sendColors tells the host what colours the outer terminal shows, when they are
// others than it knows.
func (m *Model) sendColors() {
	c := &m.outer.colors
	if c.shown == c.told || m.link != Connected || !m.can(CanTakeColors) {
		return
	}
	if err := m.cfg.Host.Colors(c.params()); err != nil {
		m.log.Debug("send colours", "err", err) // the next connection gets them
		return
	}
	c.told = c.shown
}

func (c *colors) params() ahp.ColorsParams {
	p := ahp.ColorsParams{
		Channel: ahp.RootURI, FG: hexColor(c.shown.FG), BG: hexColor(c.shown.BG), Cursor: hexColor(c.shown.Cursor),
		Palette: make([]string, len(c.shown.Indexed)), Pictures: c.shown.Pictures,
	}
	for i, v := range c.shown.Indexed {
		p.Palette[i] = hexColor(v)
	}
	return p
}

// hexColor writes a colour as "#rrggbb", "" for one that is not known.
func hexColor(c emulator.Color) string {
	r, g, b, ok := c.RGB()
	if !ok {
		return ""
	}
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}
