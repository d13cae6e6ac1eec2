package themes

// Theme is a complete set of colours.
type Theme struct {
	Name string
	Dark bool // meant for a dark background
	Colors
}

// Colors are the tokens. Their names in TOML are those of the fields in lower
// case with underscores: "border_focused".
type Colors struct {
	OverlayColors
	PaneColors
	StatusColors
	ChoiceColors
}

// OverlayColors are those of overlays (lists, help, prompts) and of empty space.
type OverlayColors struct {
	Foreground, Background Color
	Muted                  Color // secondary text
	Accent                 Color // what draws the eye
}

// PaneColors are those of pane borders, on the outer terminal's own background.
type PaneColors struct {
	Border, BorderFocused                    Color // lines
	Title, TitleFocused                      Color // a pane's name in its border
	BadgeMine, BadgeAgent                    Color // who holds the terminal
	BadgeBackground, BadgeOther, BadgeExited Color
	BadgeFailed                              Color // exited with another code than 0
	MarkRunning, MarkPassed, MarkFailed      Color // at the edge of a command
	Scrollbar                                Color
	Letterbox                                Color // around a terminal smaller than its pane
}

// StatusColors are those of the status line.
type StatusColors struct {
	StatusFg, StatusBg             Color
	StatusMuted                    Color // on StatusBg
	StatusLayoutFg, StatusLayoutBg Color // the layout's name
	TabFg, TabBg                   Color
	TabActiveFg, TabActiveBg       Color
	MessageFg, MessageBg           Color // what just happened
	WarningFg, WarningBg           Color
	ErrorFg, ErrorBg               Color
}

// ChoiceColors are those of hints and of what is chosen.
type ChoiceColors struct {
	HintFg, HintBg           Color // what can follow the prefix
	HintKey                  Color // a key, on HintBg
	SelectedFg, SelectedBg   Color // the row chosen in a list
	SelectionFg, SelectionBg Color // text selected in a pane; both default means reverse
}

// Least contrasts by what is drawn: text (WCAG 1.4.3, AA), lines and marks that
// carry a meaning (1.4.11), and what is decoration.
const (
	text       = 4.5
	meaningful = 3.0
	decoration = 1.2
)

// token is a row of the table of colours.
type token struct {
	name  string
	of    func(*Colors) *Color
	on    string  // the token of its ground; "" for the outer terminal's background
	least float64 // contrast with it; 0 for a ground
}

var tokens = []token{
	{"foreground", func(c *Colors) *Color { return &c.Foreground }, "background", text},
	{"background", func(c *Colors) *Color { return &c.Background }, "", 0},
	{"muted", func(c *Colors) *Color { return &c.Muted }, "background", text},
	{"accent", func(c *Colors) *Color { return &c.Accent }, "background", text},

	{"border", func(c *Colors) *Color { return &c.Border }, "", decoration},
	{"border_focused", func(c *Colors) *Color { return &c.BorderFocused }, "", meaningful},
	{"title", func(c *Colors) *Color { return &c.Title }, "", text},
	{"title_focused", func(c *Colors) *Color { return &c.TitleFocused }, "", text},
	{"badge_mine", func(c *Colors) *Color { return &c.BadgeMine }, "", text},
	{"badge_agent", func(c *Colors) *Color { return &c.BadgeAgent }, "", text},
	{"badge_background", func(c *Colors) *Color { return &c.BadgeBackground }, "", text},
	{"badge_other", func(c *Colors) *Color { return &c.BadgeOther }, "", text},
	{"badge_exited", func(c *Colors) *Color { return &c.BadgeExited }, "", text},
	{"badge_failed", func(c *Colors) *Color { return &c.BadgeFailed }, "", text},
	{"mark_running", func(c *Colors) *Color { return &c.MarkRunning }, "", meaningful},
	{"mark_passed", func(c *Colors) *Color { return &c.MarkPassed }, "", meaningful},
	{"mark_failed", func(c *Colors) *Color { return &c.MarkFailed }, "", meaningful},
	{"scrollbar", func(c *Colors) *Color { return &c.Scrollbar }, "", decoration},
	{"letterbox", func(c *Colors) *Color { return &c.Letterbox }, "", decoration},

	{"status_fg", func(c *Colors) *Color { return &c.StatusFg }, "status_bg", text},
	{"status_bg", func(c *Colors) *Color { return &c.StatusBg }, "", 0},
	{"status_muted", func(c *Colors) *Color { return &c.StatusMuted }, "status_bg", text},
	{"status_layout_fg", func(c *Colors) *Color { return &c.StatusLayoutFg }, "status_layout_bg", text},
	{"status_layout_bg", func(c *Colors) *Color { return &c.StatusLayoutBg }, "", 0},
	{"tab_fg", func(c *Colors) *Color { return &c.TabFg }, "tab_bg", text},
	{"tab_bg", func(c *Colors) *Color { return &c.TabBg }, "", 0},
	{"tab_active_fg", func(c *Colors) *Color { return &c.TabActiveFg }, "tab_active_bg", text},
	{"tab_active_bg", func(c *Colors) *Color { return &c.TabActiveBg }, "", 0},
	{"message_fg", func(c *Colors) *Color { return &c.MessageFg }, "message_bg", text},
	{"message_bg", func(c *Colors) *Color { return &c.MessageBg }, "", 0},
	{"warning_fg", func(c *Colors) *Color { return &c.WarningFg }, "warning_bg", text},
	{"warning_bg", func(c *Colors) *Color { return &c.WarningBg }, "", 0},
	{"error_fg", func(c *Colors) *Color { return &c.ErrorFg }, "error_bg", text},
	{"error_bg", func(c *Colors) *Color { return &c.ErrorBg }, "", 0},

	{"hint_fg", func(c *Colors) *Color { return &c.HintFg }, "hint_bg", text},
	{"hint_bg", func(c *Colors) *Color { return &c.HintBg }, "", 0},
	{"hint_key", func(c *Colors) *Color { return &c.HintKey }, "hint_bg", text},
	{"selected_fg", func(c *Colors) *Color { return &c.SelectedFg }, "selected_bg", text},
	{"selected_bg", func(c *Colors) *Color { return &c.SelectedBg }, "", 0},
	{"selection_fg", func(c *Colors) *Color { return &c.SelectionFg }, "selection_bg", text},
	{"selection_bg", func(c *Colors) *Color { return &c.SelectionBg }, "", 0},
}

// find gives the token of that name, nil when there is none.
func find(name string) *token {
	for i := range tokens {
		if tokens[i].name == name {
			return &tokens[i]
		}
	}
	return nil
}

// Tokens gives the names of all tokens, in the order of their groups.
func Tokens() []string {
	names := make([]string, len(tokens))
	for i := range tokens {
		names[i] = tokens[i].name
	}
	return names
}

// All gives the colours by the names of their tokens.
func (c *Colors) All() map[string]Color {
	all := make(map[string]Color, len(tokens))
	for _, k := range tokens {
		all[k.name] = *k.of(c)
	}
	return all
}
