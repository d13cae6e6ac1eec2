package themes

// Theme is a complete set of colours.
type Theme struct {
	Name string
	Dark bool // meant for a dark background
	Colors
}

// Colors are the tokens. Names in TOML are the field names in lower case with
// underscores.
type Colors struct {
	Foreground, Background                      Color // overlays and empty space
	Muted                                       Color // secondary text on Background
	Accent                                      Color // what draws the eye on Background
	Border, BorderFocused                       Color // pane borders, on the outer terminal's background
	Title, TitleFocused                         Color // pane titles in the border
	BadgeMine, BadgeAgent                       Color // badges: text on the border's background
	BadgeBackground, BadgeOther, BadgeExited    Color
	BadgeFailed                                 Color
	StatusFg, StatusBg                          Color
	StatusMuted, StatusLayoutFg, StatusLayoutBg Color
	TabFg, TabBg, TabActiveFg, TabActiveBg      Color
	HintFg, HintBg, HintKey                     Color // which-key, key hints
	SelectedFg, SelectedBg                      Color // the row chosen in a list
	MessageFg, MessageBg                        Color
	ErrorFg, ErrorBg                            Color
	WarningFg, WarningBg                        Color
	SelectionFg, SelectionBg                    Color // text selected in a pane
	MarkRunning, MarkPassed, MarkFailed         Color
	Scrollbar, Letterbox                        Color
}

// Color is "#rrggbb", one of the outer terminal's own "0" to "15", or
// "default". The zero Color is the default one.
type Color struct {
	kind    uint8
	r, g, b uint8
}

// ParseColor reads a colour.
func ParseColor(s string) (Color, error) { return Color{}, nil }

// IsDefault says whether the outer terminal's default colour is meant.
func (c Color) IsDefault() bool { return c.kind == 0 }

// ANSI gives the palette index 0 to 15.
func (c Color) ANSI() (index uint8, ok bool) { return 0, false }

// RGB gives the components.
func (c Color) RGB() (r, g, b uint8, ok bool) { return 0, 0, 0, false }

// Names gives the themes that ship, the default one first.
func Names() []string { return nil }

// Find gives a theme that ships.
func Find(name string) (Theme, bool) { return Theme{}, false }

// Load reads a user's theme: name, base (a theme that ships) and colours over
// the base's.
func Load(doc []byte) (Theme, error) { return Theme{}, nil }
