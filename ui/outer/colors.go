package outer

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/ui/tty"
)

// answerTime is how long the outer terminal may take to answer queries. A report of light or dark
// that comes later is a change.
const answerTime = time.Second

// shade says whether a terminal is light or dark.
type shade uint8

const (
	unknown shade = iota
	dark
	light
)

// colors is the outer terminal's colours, as far as it has answered.
type colors struct {
	shown emulator.Colors
	told  emulator.Colors // as last sent to the host
	shade shade
	// scheme is the terminal's last report (CSI ? 997). shade is that of the background colour,
	// if it is known, else scheme.
	scheme shade
	// reports says that the terminal reports changes (mode 2031).
	reports bool

	undressed bool // the look does not reflect these colours yet

	fenced bool      // the first queries were answered
	asked  time.Time // when colours were last asked for; zero when all queries are answered
	again  bool      // the colours have changed since
}

// asking reports whether answers are awaited.
func (c *colors) asking(now time.Time) bool {
	return !c.asked.IsZero() && now.Sub(c.asked) <= answerTime
}

// Dark reports whether the terminal is dark. known is false until it has answered.
func (o *Terminal) Dark() (yes, known bool) {
	s := o.colors.shade
	return s == dark, s != unknown
}

// learnColors takes a message about the terminal's colours. It reports whether the message was
// only about them.
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
			c.again = true // some of the answers may be older than the change
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
		return !first // the first fence also ends the queries about capabilities
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

// CheckColors must be called when the outer terminal gets the focus. It asks for the colours
// again if the terminal answers but doesn't report changes.
func (o *Terminal) CheckColors() {
	c := &o.colors
	if !c.reports && c.shown != (emulator.Colors{}) && !c.asking(o.loop.Now()) {
		o.askColors()
	}
}

// SendColors sends the terminal's colours to the host if they have changed. If that fails they
// are sent again later.
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

// Forgot says that the host may not have the colours.
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
