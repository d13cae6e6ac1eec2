package look

import (
	"tandemux/emulator"
	"tandemux/internal/config/option"
	"tandemux/themes"
)

// Style is the style of a cell.
type Style = emulator.Style

// Look is all styles and glyphs.
type Look struct {
	Glyphs
	PaneStyles
	StatusStyles
	OverlayStyles
}

// PaneStyles is the styles of panes, their borders and the marks of commands.
type PaneStyles struct {
	Border, BorderFocused               Style
	Title, TitleFocused                 Style
	Mine, Other, Agent                  Style // badges
	Background, Exited, Fail            Style
	Letterbox                           Style
	Selection, Match                    Style
	MarkRunning, MarkPassed, MarkFailed Style
}

// StatusStyles is the styles of the status line.
type StatusStyles struct {
	Status, StatusMuted  Style
	StatusLayout         Style
	Tab, TabActive       Style
	Message, Error, Warn Style
	Prefix               Style
}

// OverlayStyles is the styles of overlays and of the hint.
type OverlayStyles struct {
	Overlay, OverlayMuted     Style
	OverlayAccent, OverlayBox Style
	Selected                  Style
	Hint, HintKey             Style
}

// Faint is the attribute of what can't be used at present.
const Faint = emulator.Faint

// HintKeyOn returns the style of a key's name on the background of s.
func (l Look) HintKeyOn(s Style) Style {
	s.FG = l.OverlayAccent.FG
	s.Attrs |= l.OverlayAccent.Attrs
	return s
}

// Glyphs is the characters of lines and marks.
type Glyphs struct {
	Lines
	Fill, Block                        rune // around a terminal that is smaller than its pane; in large digits
	Ellipsis, Separator, Down, Pointer string
	// Marks of commands; Folded stands for hidden output.
	Running, Passed, Failed, Ended, Folded rune
}

// Lines is the characters of frames.
type Lines struct {
	Horizontal, Vertical                       rune
	Cross, TeeLeft, TeeRight, TeeUp, TeeDown   rune // TeeLeft has its stem to the left
	TopLeft, TopRight, BottomLeft, BottomRight rune
}

// Junction returns the character of a vertical line where lines in these directions meet.
func (g *Lines) Junction(up, down, left, right bool) rune {
	switch {
	case left && right && up && down:
		return g.Cross
	case left && right && down:
		return g.TeeDown
	case left && right && up:
		return g.TeeUp
	case left && right:
		return g.Horizontal
	case left:
		return g.TeeLeft
	case right:
		return g.TeeRight
	}
	return g.Vertical
}

// Unicode and ASCII are the sets of glyphs.
var (
	Unicode = Glyphs{
		Lines: Lines{
			Horizontal: '─', Vertical: '│',
			Cross: '┼', TeeLeft: '┤', TeeRight: '├', TeeUp: '┴', TeeDown: '┬',
			TopLeft: '╭', TopRight: '╮', BottomLeft: '╰', BottomRight: '╯',
		},
		Fill: '·', Block: '█', Ellipsis: "…", Separator: "·", Down: "↓", Pointer: "›",
		Running: '●', Passed: '✓', Failed: '✗', Ended: '○', Folded: '▸',
	}
	ASCII = Glyphs{
		Lines: Lines{
			Horizontal: '-', Vertical: '|',
			Cross: '+', TeeLeft: '+', TeeRight: '+', TeeUp: '+', TeeDown: '+',
			TopLeft: '+', TopRight: '+', BottomLeft: '+', BottomRight: '+',
		},
		Fill: '.', Block: '#', Ellipsis: "~", Separator: "-", Down: "v", Pointer: ">",
		Running: '*', Passed: 'o', Failed: 'x', Ended: '-', Folded: '>',
	}
)

// New makes the Look of a theme. utf8 says whether the terminal shows characters beyond ASCII,
// colours whether it shows colours.
func New(t themes.Theme, utf8, colours bool) Look {
	g := Unicode
	if !utf8 {
		g = ASCII
	}
	if !colours {
		return Look{Glyphs: g}.plain()
	}
	fg := func(c emulator.Color) Style { return Style{FG: c} }
	on := func(f, b emulator.Color) Style { return Style{FG: f, BG: b} }
	bold := func(s Style) Style {
		// Many terminals brighten a bold basic colour, which then may be too close to its
		// background.
		if i, ok := s.FG.Index(); !ok || i >= 8 || s.BG == 0 {
			s.Attrs |= emulator.Bold
		}
		return s
	}
	over := func(f emulator.Color) Style { return on(f, t.Colors.Background) }
	l := Look{Glyphs: g}
	l.PaneStyles = PaneStyles{
		Border: fg(t.Border), BorderFocused: fg(t.BorderFocused),
		Title: fg(t.Title), TitleFocused: bold(fg(t.TitleFocused)),
		Mine: fg(t.BadgeMine), Other: fg(t.BadgeOther), Agent: bold(fg(t.BadgeAgent)),
		Background: fg(t.BadgeBackground), Exited: fg(t.BadgeExited), Fail: bold(fg(t.BadgeFailed)),
		MarkRunning: bold(fg(t.MarkRunning)), MarkPassed: fg(t.MarkPassed), MarkFailed: bold(fg(t.MarkFailed)),
		Letterbox: fg(t.Letterbox), Selection: on(t.SelectionFg, t.SelectionBg), Match: on(t.WarningFg, t.WarningBg),
	}
	l.StatusStyles = StatusStyles{
		Status: on(t.StatusFg, t.StatusBg), StatusMuted: on(t.StatusMuted, t.StatusBg),
		StatusLayout: bold(on(t.StatusLayoutFg, t.StatusLayoutBg)),
		Tab:          on(t.TabFg, t.TabBg), TabActive: bold(on(t.TabActiveFg, t.TabActiveBg)),
		Message: on(t.MessageFg, t.MessageBg), Error: bold(on(t.ErrorFg, t.ErrorBg)), Warn: on(t.WarningFg, t.WarningBg),
		Prefix: bold(on(t.TabActiveFg, t.TabActiveBg)),
	}
	l.OverlayStyles = OverlayStyles{
		Overlay: over(t.Foreground), OverlayMuted: over(t.Muted), OverlayAccent: bold(over(t.Accent)),
		OverlayBox: over(t.BorderFocused), Selected: on(t.SelectedFg, t.SelectedBg),
		Hint: on(t.HintFg, t.HintBg), HintKey: bold(on(t.HintKey, t.HintBg)),
	}
	if l.Selection == (Style{}) {
		l.Selection.Attrs = emulator.Reverse
	}
	return l
}

// plain returns the look without colours, only with attributes.
func (l Look) plain() Look {
	bold := Style{Attrs: emulator.Bold}
	faint := Style{Attrs: emulator.Faint}
	reverse := Style{Attrs: emulator.Reverse}
	loud := Style{Attrs: emulator.Reverse | emulator.Bold}
	l.Border, l.BorderFocused, l.TitleFocused = faint, bold, bold
	l.Agent, l.Fail, l.Exited, l.Background, l.Letterbox = bold, bold, faint, faint, faint
	l.MarkRunning, l.MarkFailed = bold, bold
	l.Selection, l.Match = reverse, Style{Underline: emulator.Single}
	l.Status, l.StatusMuted, l.StatusLayout = reverse, reverse, loud
	l.Tab, l.TabActive, l.Prefix = reverse, bold, loud
	l.Message, l.Error, l.Warn = reverse, loud, reverse
	l.OverlayAccent, l.OverlayMuted, l.Selected = bold, faint, reverse
	l.Hint, l.HintKey = reverse, loud
	return l
}

// Appearance configures the look. Options describes the fields.
type Appearance struct {
	Theme    string         // a choice of themes (themes.Choose)
	Themes   []themes.Theme // the user's own
	Colors   string
	Unicode  string
	Graphics string
}

// Options returns the options, whose values are stored in s.
func (s *Appearance) Options() []option.Option {
	return []option.Option{
		{
			Name: "theme", Value: option.Default(&s.Theme, themes.Auto),
			Doc: `Colours: "nord" follows your terminal, "nord-dark" does not; "dark:nord-dark,light:gruvbox-light"; "terminal" for its sixteen.`,
			Check: option.Faulty(func() error {
				if s.Theme == themes.Auto {
					return nil // it always exists and need not be read
				}
				_, err := themes.Choose(s.Theme, s.Themes)
				return err
			}),
		},
		{
			Name: "colors", Value: option.Default(&s.Colors, "auto"), Choices: []string{"auto", "none", "16", "256", "true"},
			Doc: `How many colours your terminal has. NO_COLOR is "none".`,
		},
		{
			Name: "unicode", Value: option.Default(&s.Unicode, "auto"), Choices: []string{"auto", "on", "off"},
			Doc: `Lines and marks that are not ASCII. "auto" asks the locale.`,
		},
		{
			Name: "graphics", Value: option.Default(&s.Graphics, "auto"), Choices: []string{"auto", "cells", "placed", "sixel", "iterm2", "off"},
			Doc: `How pictures are drawn. "auto" asks your terminal. "cells" suits kitty and Ghostty, "placed" WezTerm and Konsole, "sixel" xterm and foot; "off" leaves boxes.`,
		},
	}
}
