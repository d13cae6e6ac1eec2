package outer

import (
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

	undressed bool // the look does not follow from them yet

	fenced bool      // the answers to the first questions are in
	asked  time.Time // when it was asked last; zero when all has been answered
	again  bool      // its colours have changed since
}

// asking reports whether answers are due.
func (c *colors) asking(now time.Time) bool {
	return !c.asked.IsZero() && now.Sub(c.asked) <= answerTime
}

// Dark reports whether the terminal is dark; known is false while it has
// not said.
func (o *Terminal) Dark() (yes, known bool) {
	s := o.colors.shade
	return s == dark, s != unknown
}

// learnColors takes what the outer terminal says about its colours; it reports
// whether the message was about them.
func (o *Terminal) learnColors(msg tea.Msg) bool {
	c := &o.colors
	defer func(was shade, shown emulator.Colors) {
		if was != c.shade || shown != c.shown {
			o.colors.undressed = true // the theme depends on them
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
		switch asking := c.asking(o.loop.Now()); {
		case !asking:
			o.askColors()
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
			o.askColors()
		}
		return !first // the first one is about what the terminal can do, too
	default:
		return false
	}
	return true
}

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
func (o *Terminal) askColors() {
	q := tty.AskColors(o.Caps)
	if q == "" {
		return
	}
	o.colors.asked, o.colors.again = o.loop.Now(), false
	if o.env.Expect != nil {
		o.env.Expect()
	}
	o.out.raw = append(o.out.raw, q...)
}

// CheckColors asks for the colours again when the outer terminal gets the focus,
// if it answers but does not tell of changes by itself.
func (o *Terminal) CheckColors() {
	c := &o.colors
	if !c.reports && c.shown != (emulator.Colors{}) && !c.asking(o.loop.Now()) {
		o.askColors()
	}
}

// SendColors tells the host what colours the terminal shows, when they are others than
// it knows. What fails goes with the next connection.
func (o *Terminal) SendColors(send func(ahp.ColorsParams) error) error {
	c := &o.colors
	if c.shown == c.told {
		return nil
	}
	if err := send(c.params()); err != nil {
		return err
	}
	c.told = c.shown
	return nil
}

// Forgot says that the host may not know the colours any more.
func (o *Terminal) Forgot() { o.colors.told = emulator.Colors{} }

func (c *colors) params() ahp.ColorsParams {
	p := ahp.ColorsParams{
		Channel: ahp.RootURI, FG: c.shown.FG.Hex(), BG: c.shown.BG.Hex(), Cursor: c.shown.Cursor.Hex(),
		Palette: make([]string, len(c.shown.Indexed)), Pictures: c.shown.Pictures,
	}
	for i, v := range c.shown.Indexed {
		p.Palette[i] = v.Hex()
	}
	return p
}
