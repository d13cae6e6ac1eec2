package emulator

// DefaultHistory is the number of scrollback lines kept when Options says
// nothing.
const DefaultHistory = 10000

// MaxHistory is the most of them that can be asked for.
const MaxHistory = 1_000_000

// MaxCols and MaxRows bound a grid; sizes outside 1..Max are clamped.
const (
	MaxCols = 2000
	MaxRows = 2000
)

// A cell counts as so many pixels where programs ask (CSI 14 t, TIOCGWINSZ) and
// where a picture's size in cells follows from its pixels, whatever an outer
// terminal's cells have: everybody who looks on must come to the same.
const (
	CellWidth  = 8
	CellHeight = 16
)

// Options configures an engine.
type Options struct {
	Cols, Rows int
	// History is the number of scrollback lines that are kept, counted as they
	// were printed where the engine reflows: a line that is wrapped counts once. 0
	// means DefaultHistory, a negative number none. A bound on memory comes first
	// where lines are very long.
	History int
	// Version is what XTVERSION answers; empty means "tandemux".
	Version string
	Allow   Allowed
	// Read gives a kitty graphics command that names data which is elsewhere (in a file,
	// in shared memory) as one that has it, or nil. Nil: no such data is there.
	Read func(command []byte) []byte
}

// Allowed is what a program may do only where its user wants it.
type Allowed uint8

const (
	// Checksums tell a program what its screen shows (DECRQCRA).
	Checksums Allowed = 1 << iota
	// Resizes have a program's requests for a size heard (EventResize); an engine does
	// not follow them by itself.
	Resizes
)

// Emulator is one terminal's screen.
type Emulator interface {
	// Write feeds output of the child. It consumes everything.
	Write(p []byte)

	// Resize changes the grid, reflowing where the engine can.
	Resize(cols, rows int)
	// Size is the grid's size in cells.
	Size() (cols, rows int)

	// LimitHistory changes Options.History; the oldest lines go.
	LimitHistory(lines int)
	// HistoryLen is the number of scrollback lines now, those of a wrapped line
	// each. History belongs to the main screen and is kept, and counted, while the alternate one shows.
	HistoryLen() int
	// Line appends the cells of a line to buf and returns it; the result has
	// exactly cols cells for screen lines, at most cols for history lines. y in
	// [0, rows) is the screen, y in [-HistoryLen, 0) history, -1 its newest
	// line. Out of range gives buf unchanged. A wide character is a cell of
	// Width 2 followed by one of Width 0.
	Line(y int, buf []Cell) []Cell
	// Wrapped reports whether line y continues on line y+1.
	Wrapped(y int) bool

	// Cursor is where the next character goes.
	Cursor() Cursor
	// Modes is what the child has asked of its terminal.
	Modes() Modes
	// Title is the last title set by OSC 0 or 2, without control characters.
	Title() string
	// Palette gives the colours that the child changed by OSC 4, 10, 11, 12.
	Palette() Palette

	// Damage reports which screen lines changed since the last call and clears
	// the record. The slice is valid until the next call of any method.
	Damage() Damage

	// Events returns what happened since the last call, in order: replies to
	// be written to the pty by the one who owns it, titles, bells, … A viewer
	// drops the replies.
	Events() []Event

	// Snapshot appends VT bytes that rebuild the state in a fresh engine of
	// the same size: history (at most the given number of lines, negative for
	// all), both screens, cursor, pen, modes, margins, tabs, title.
	Snapshot(buf []byte, history int) []byte

	// SetColors tells the engine what the outer terminal shows, which is what a
	// child that asks is told (OSC 4, 10, 11, 12, DSR ?996, graphics) unless it set a
	// colour itself. A change between light and dark is reported to a child
	// that wants to know (mode 2031). A reset does not undo it.
	SetColors(Colors)

	// Mark puts a mark at the cursor's place, on the main screen only: while
	// the alternate one shows it does nothing. ids are the caller's, rising. A
	// mark stays with its place in the text through scrolling, history and
	// reflow; it goes when its line is trimmed or a clear of the screen or of
	// history takes the whole line. What is printed over it or erased beside it
	// leaves it alone. Over MaxMarks the first in the text go.
	Mark(id uint64)
	// Marks appends the marks that are left, in the order of the text, those of
	// the main screen while the alternate one shows, too.
	Marks(buf []Mark) []Mark
	// SnapshotMarks is Snapshot, and where in the result the marks lie that are
	// in it: cutting there gives what is before and behind a mark. Fed to a
	// fresh engine piece by piece, Mark called at each cut, the result gives
	// the same Marks.
	SnapshotMarks(buf []byte, history int) ([]byte, []Cut)
}

// Historian is an Emulator whose history can be taken out and put back in the form
// in which it lies in memory, packed, where Snapshot writes every cell as a child would.
type Historian interface {
	Emulator
	// AppendHistory appends all history, with its marks.
	AppendHistory(buf []byte) []byte
	// Pack makes a part of the history smaller that was not looked at before, in a
	// fraction of a millisecond; it is for when nothing is printed. False says that
	// nothing is left to do.
	Pack() (more bool)
	// Move has what is packed lie where to says, with the same bytes, which must not change:
	// to is given each part of it, in the order of AppendHistory.
	Move(to func(packed []byte) []byte)
	// SetHistory puts it in place of the history of an engine as wide as the one
	// that it was taken from; over the engine's own limits the oldest lines go. On
	// an error, as for data that is damaged or of a newer program, the history is
	// what it was.
	SetHistory(data []byte) error
}

// MaxMarks bounds the marks of an engine.
const MaxMarks = 1 << 15

// Mark is a place in the text that the caller named.
type Mark struct {
	ID uint64
	// Line is numbered as for Emulator.Line, of the main screen; Col is
	// 0-based, and the number of columns where it lies behind a full line's
	// last cell.
	Line, Col int
}

// Cut is where a mark lies in a snapshot.
type Cut struct {
	ID uint64
	At int // offset in the bytes, never falling
}

// Colors is what a terminal shows: RGB colours, or zero where they are unknown.
type Colors struct {
	FG, BG, Cursor Color
	Indexed        [16]Color // the basic colours
	// Pictures: it shows kitty's graphics. A child that asks is answered only
	// then.
	Pictures bool
}

// Cell is one position of the grid, decoded.
type Cell struct {
	// Rune is the base character; 0 is an empty cell, drawn as a blank.
	Rune rune
	// Combining holds what follows Rune in the same grapheme cluster, mostly
	// empty.
	Combining string
	// Width is 1, 2 for a wide character, 0 for the cell behind one.
	Width uint8
	// Tab is how many columns a tab took that was printed in this empty cell; 0 is
	// none. What was printed over the others since may have left nothing of it.
	Tab   uint8
	Style Style
	// Link is the hyperlink's URI (OSC 8), mostly empty; LinkID its id.
	Link, LinkID string
}

// Style is how a cell is drawn.
type Style struct {
	FG, BG, UnderlineColor Color
	Attrs                  Attrs
	Underline              Underline
}

// Attrs is a set of attributes.
type Attrs uint16

// The attributes of SGR.
const (
	Bold Attrs = 1 << iota
	Faint
	Italic
	Blink
	Reverse
	Conceal
	Strike
	Overline
	Protected // DECSCA, not drawn
)

// Underline is an underline style.
type Underline uint8

// The underline styles, in the order of SGR 4:n.
const (
	NoUnderline Underline = iota
	Single
	Double
	Curly
	Dotted
	Dashed
)

// Color is a colour as the child named it: the kind in the top byte, the value
// below. The zero value is the default colour.
type Color uint32

// The kinds of Color.
const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// Indexed is the palette colour i; 0–15 are the basic ones.
func Indexed(i uint8) Color { return colorIndexed | Color(i) }

// RGB is a direct colour.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// IsDefault reports whether c is the default colour.
func (c Color) IsDefault() bool { return c>>24 == 0 }

// Index gives the palette index; ok is false for other kinds.
func (c Color) Index() (i uint8, ok bool) { return uint8(c), c>>24 == 1 }

// RGB gives a direct colour's parts; ok is false for other kinds.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == 2
}

// Cursor is the cursor's place and look.
type Cursor struct {
	X, Y    int // 0-based, inside the grid
	Visible bool
	Shape   CursorShape
	Blink   bool
	// Default is true until the child asks for a shape (DECSCUSR): the outer
	// terminal's own cursor is right then.
	Default bool
}

// CursorShape is DECSCUSR's shape.
type CursorShape uint8

// The cursor shapes.
const (
	CursorBlock CursorShape = iota
	CursorUnderline
	CursorBar
)

// Mouse tracking modes, in rising order of what is reported.
type Mouse uint8

// The mouse modes.
const (
	MouseOff    Mouse = iota
	MouseX10          // 9: presses
	MouseNormal       // 1000: presses and releases
	MouseButton       // 1002: and drags
	MouseAny          // 1003: and moves
)

// MouseEncoding is how mouse reports are written.
type MouseEncoding uint8

// The encodings.
const (
	MouseDefault   MouseEncoding = iota
	MouseUTF8                    // 1005
	MouseSGR                     // 1006
	MouseURXVT                   // 1015
	MouseSGRPixels               // 1016
)

// Modes is what the child asked of its terminal, as far as input, drawing or
// the host care.
type Modes struct {
	AltScreen        bool
	AppCursor        bool // DECCKM 1
	AppKeypad        bool // DECNKM 66, DECPAM
	BracketedPaste   bool // 2004
	FocusEvents      bool // 1004
	Mouse            Mouse
	MouseEncoding    MouseEncoding
	AltScroll        bool // 1007: the wheel sends arrows on the alternate screen
	Sync             bool // 2026: the child is in the middle of a frame
	Graphemes        bool // 2027
	ReverseScreen    bool // DECSCNM 5
	ModifyOtherKeys  int  // 0, 1 or 2
	Kitty            int  // kitty keyboard flags now in force
	Newline          bool // LNM 20: Enter sends CR LF
	BackspaceSendsBS bool // DECBKM 67

	// Pointer is the shape of the mouse's pointer over the terminal, by its CSS name;
	// empty is the terminal's own.
	Pointer string
}

// Palette holds colours changed by the child; zero RGB entries are absent.
type Palette struct {
	FG, BG, Cursor Color           // RGB or default
	Indexed        map[uint8]Color // nil when nothing was changed
}

// Damage says what to draw again.
type Damage struct {
	// All is set when everything may have changed.
	All bool
	// Lines has one entry for each screen line; Lines[y] is the changed range
	// of cells [From, To), empty when nothing changed. Undefined under All.
	Lines []Span
	// Scrolled is the number of lines that moved from the screen into history
	// since the last call, so that a scrolled-back view can stay in place.
	Scrolled int
}

// Span is a half-open range of cells.
type Span struct{ From, To int }

// Any reports whether anything changed.
func (d Damage) Any() bool {
	if d.All {
		return true
	}
	for _, s := range d.Lines {
		if s.To > s.From {
			return true
		}
	}
	return false
}

// MaxClipboard bounds what a program may put into a clipboard, in bytes.
const MaxClipboard = 1 << 20

// EventKind says what an Event is.
type EventKind uint8

// The kinds of Event; the comment names the members used.
const (
	EventReply     EventKind = iota // Text: bytes for the pty
	EventTitle                      // Text: the new title
	EventBell                       //
	EventCwd                        // Text: the URI of OSC 7
	EventClipboard                  // Name: selection, Text: decoded contents to set
	EventNotify                     // Name: title, Text: body (OSC 9, 99, 777)
	EventProgress                   // Text: the body of OSC 9;4
	EventMark                       // Text: the body of an OSC 133, 633 or 7501
	EventResize                     // Cols, Rows: the size that the program wants
)

// Event is something beyond the grid.
type Event struct {
	Kind       EventKind
	Name, Text string
	Cols, Rows int
}
