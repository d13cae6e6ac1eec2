package tty

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandemux/emulator"
)

// Fence is the answer to the last query that Enter sends. A query that is not answered before it
// will not be answered.
type Fence struct {
	Sixel bool // the terminal shows sixel pictures
}

// Caps is what the outer terminal can do: first guessed from the environment, then corrected by
// its answers.
type Caps struct {
	Profile emulator.Profile
	Sync    bool // mode 2026
	// Clusters says that it measures text by grapheme clusters (mode 2027), ClustersOn that Learn
	// switched that on.
	Clusters, ClustersOn bool
	Kitty                bool // the kitty keyboard protocol
	Other                bool // xterm's modifyOtherKeys
	UTF8                 bool // the locale is UTF-8
	Console              bool // the Linux console: it gets no queries and no titles
	NoColor              bool // the user wants no colours (NO_COLOR)
	// Pictures is how it shows pictures, as far as it has answered.
	Pictures Pictures
	// Gallery is the ids of the pictures that it was given: Count ids from First on.
	Gallery struct{ First, Count uint32 }
	// Notifier is how it shows notifications; "" until it has said what it is.
	Notifier Notifier

	// Cell is the size of a cell in pixels, zero if unknown. Colors is the number of colours of a
	// sixel picture, 0 if unknown.
	Cell   CellSize
	Colors SixelColors

	Moves      bool // it plays animations of kitty's protocol, judged by its name
	graphics   bool // it answered that it has kitty's graphics protocol
	knowsCells bool // it knows Unicode placeholders, judged by its name
	inline     bool // it shows iTerm2's images, judged by its name
	sixel      bool // it answered that it shows sixel pictures
}

// Guess derives capabilities from the environment.
func Guess(env []string) Caps {
	get := func(name string) string {
		value := ""
		for _, e := range env {
			if k, v, ok := strings.Cut(e, "="); ok && k == name {
				value = v
			}
		}
		return value
	}
	term := get("TERM")
	c := Caps{
		UTF8: isUTF8(get("LC_ALL"), get("LC_CTYPE"), get("LANG")),
		Profile: emulator.Profile{
			Colors: emulator.Colors16, Underlines: true, Overline: true, Hyperlinks: true,
		},
	}
	switch colorterm := get("COLORTERM"); {
	case colorterm == "truecolor" || colorterm == "24bit" || strings.Contains(term, "direct"),
		strings.HasPrefix(term, "xterm-kitty"), strings.HasPrefix(term, "xterm-ghostty"), strings.HasPrefix(term, "alacritty"),
		strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "wezterm"):
		c.Profile.Colors = emulator.TrueColor
	case strings.Contains(term, "256color"):
		c.Profile.Colors = emulator.Colors256
	}
	if term == "linux" || strings.HasPrefix(term, "vt") || term == "" {
		c.Console = true
		c.Profile = emulator.Profile{Colors: emulator.Colors16}
		if term != "linux" {
			c.Profile.Colors = emulator.NoColors
		}
	}
	c.inline = drawsInline(get)
	if get("TERM_PROGRAM") == "Apple_Terminal" {
		c.Profile.Underlines, c.Profile.Overline = false, false
	}
	if strings.HasPrefix(term, "screen") {
		c.Profile.Underlines, c.Profile.Overline = false, false
	}
	if get("NO_COLOR") != "" {
		c.NoColor = true
		c.Profile.Colors = emulator.NoColors
	}
	return c
}

// isUTF8 reports whether the first locale variable that is set names UTF-8. If none is set it
// returns false.
func isUTF8(vars ...string) bool {
	for _, v := range vars {
		if v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Learn takes an answer of the terminal. It returns what must be written to the terminal, and
// whether the capabilities changed.
func (c *Caps) Learn(msg tea.Msg) (write string, changed bool) {
	old := *c
	switch m := msg.(type) {
	case tea.ModeReportMsg:
		switch m.Mode {
		case ansi.ModeSynchronizedOutput:
			c.Sync = m.Value == ansi.ModeSet || m.Value == ansi.ModeReset
		case ansi.ModeUnicodeCore:
			if c.Clusters = m.Value.IsSet() || m.Value == ansi.ModeReset; m.Value == ansi.ModeReset {
				c.ClustersOn = true
				write = clustersOn
			}
		}
	case tea.KeyboardEnhancementsMsg:
		if !c.Kitty {
			c.Kitty = true
			write = c.keyboard()
		}
	case tea.TerminalVersionMsg:
		name := strings.ToLower(m.Name)
		c.named(name)
		c.Pictures = c.pictures()
		switch {
		case strings.HasPrefix(name, "xterm("), strings.HasPrefix(name, "tmux "), strings.HasPrefix(name, "mintty "):
			c.Other = true
		}
		if patch, ok := strings.CutPrefix(name, "xterm("); ok {
			// It takes the parts of an underline's colour for attributes, one of which hides the
			// text, and draws styles that it doesn't know as none.
			c.Profile.Underlines = false
			if n, _ := strconv.Atoi(strings.TrimSuffix(patch, ")")); n >= xtermDirect && !c.NoColor {
				c.Profile.Colors = emulator.TrueColor
			}
		}
	case Graphics:
		c.graphics = m.OK
		c.Pictures = c.pictures()
	case CellSize:
		if m.W > 0 && m.H > 0 && (c.Cell.W == 0 || c.Cell.Guessed || !m.Guessed) {
			c.Cell = m
		}
	case SixelColors:
		c.Colors = m
	case Fence:
		if !c.Kitty {
			write = c.keyboard()
		}
		c.sixel = m.Sixel
		c.Pictures = c.pictures()
	}
	return write, *c != old
}

// xtermDirect is the first version of xterm that shows direct colours.
const xtermDirect = 331

// names is the terminals that are known by the start of their name (XTVERSION, in lower case):
// how they show notifications, whether they show direct colours (the environment gets lost over
// ssh), since which version they know placeholders (noCells: none), and whether they show
// iTerm2's images. The last two can't be asked.
var names = []struct {
	name         string
	notifier     Notifier
	direct       bool
	major, minor int
	inline       bool
}{
	{"kitty", Notify99, true, 0, 28, false},
	{"ghostty", Notify777, true, 1, 0, false},
	{"tandemux", Notify777, true, 0, 0, false},
	{"foot", Notify777, true, noCells, 0, false},
	{"wezterm", Notify777, true, noCells, 0, true},
	{"contour", Notify777, true, noCells, 0, false},
	{"iterm2", Notify9, true, noCells, 0, true},
	{"rio", Notify777, false, noCells, 0, false},
	{"warp", Notify777, false, noCells, 0, false},
	{"windows terminal", Notify777, false, noCells, 0, false},
	{"alacritty", NotifyOff, true, noCells, 0, false},
	{"konsole", NotifyOff, true, noCells, 0, false},
	{"vte", NotifyOff, true, noCells, 0, false},
}

const noCells = 1 << 20

// named derives capabilities from the terminal's name.
func (c *Caps) named(name string) {
	c.Notifier, c.knowsCells, c.inline = NotifyOff, false, false
	for _, t := range names {
		rest, ok := strings.CutPrefix(name, t.name)
		if !ok {
			continue
		}
		c.Notifier, c.inline = t.notifier, t.inline
		c.Moves = t.name == "kitty" || t.name == "tandemux"
		var major, minor int
		fmt.Sscanf(strings.TrimLeft(rest, "( "), "%d.%d", &major, &minor) //nolint:errcheck // then the version is 0.0
		c.knowsCells = major > t.major || major == t.major && minor >= t.minor
		if t.direct && !c.NoColor {
			c.Profile.Colors = emulator.TrueColor
		}
	}
}

// keyboard returns what switches on the keyboard protocol that the terminal is known to have.
func (c *Caps) keyboard() string {
	switch {
	case c.Kitty:
		return "\x1b[>1u"
	case c.Other:
		return "\x1b[>4;1m"
	}
	return ""
}

// Keyboard returns what sets the kitty keyboard flags, "" if the terminal doesn't have them.
func (c *Caps) Keyboard(flags int) string {
	if !c.Kitty {
		return ""
	}
	return "\x1b[=" + strconv.Itoa(flags|1) + "u"
}

// Notifier is how a terminal is asked to show a notification.
type Notifier string

// The notifiers. NotifyAuto means Caps.Notifier.
const (
	NotifyAuto Notifier = "auto" // "" means the same
	NotifyOff  Notifier = "off"
	Notify9    Notifier = "osc9"   // only a text
	Notify99   Notifier = "osc99"  // kitty's
	Notify777  Notifier = "osc777" // rxvt's
)

// maxNotify is the longest text of a notification, in bytes.
const maxNotify = 400

// Notify returns what shows a notification, "" if the terminal can't. The texts must have no
// control characters.
func (c *Caps) Notify(by Notifier, title, body string) string {
	if by == NotifyAuto || by == "" {
		by = c.Notifier
	}
	cut := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxNotify)], "") }
	title, body = cut(title), cut(body)
	const st = "\x1b\\"
	switch by {
	case Notify9:
		return "\x1b]9;" + title + ": " + body + st
	case Notify99:
		return "\x1b]99;i=tandemux:d=0;" + title + st + "\x1b]99;i=tandemux:p=body;" + body + st
	case Notify777:
		return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + body + st
	}
	return ""
}
