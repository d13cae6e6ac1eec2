package emulator

// DefaultHistory is the number of scrollback lines if Options.History is 0.
const DefaultHistory = 10000

// MaxHistory bounds Options.History.
const MaxHistory = 1_000_000

// MaxCols and MaxRows bound a grid. Sizes outside 1..Max are clamped.
const (
	MaxCols = 2000
	MaxRows = 2000
)

// CellWidth and CellHeight are the nominal size of a cell in pixels. It answers programs
// (CSI 14 t, TIOCGWINSZ) and converts a picture's pixels to cells, whatever the size of an
// outer terminal's cells, so that the result is the same for every viewer.
const (
	CellWidth  = 8
	CellHeight = 16
)

// Options configures an engine.
type Options struct {
	Cols, Rows int
	// History is the number of scrollback lines to keep. In an engine that reflows, a
	// wrapped line counts once. 0 means DefaultHistory, a negative number none. If lines
	// are very long, a bound on memory keeps fewer.
	History int
	// Version is what XTVERSION answers; empty means "tandemux".
	Version string
	Allow   Allowed
	// Read turns a kitty graphics command that refers to data in a file or in shared
	// memory into one that contains the data. It returns nil if it can't. If Read is nil,
	// such commands are refused.
	Read func(command []byte) []byte
}

// Allowed is a set of things that a program may do only if its user allows them.
type Allowed uint8

const (
	// Checksums tell a program what its screen shows (DECRQCRA).
	Checksums Allowed = 1 << iota
	// Resizes reports a program's requests for a size (EventResize). The engine does not
	// resize by itself.
	Resizes
)

// Emulator is one terminal's screen.
type Emulator interface {
	// Write takes output of the child, all of it.
	Write(p []byte)

	// Resize changes the grid's size. It wraps lines anew if the engine can.
	Resize(cols, rows int)
	// Size returns the grid's size in cells.
	Size() (cols, rows int)

	// LimitHistory changes Options.History. It drops the oldest lines over the limit.
	LimitHistory(lines int)
	// HistoryLen returns the current number of scrollback lines. Each row of a wrapped
	// line counts. History belongs to the main screen; it is kept and counted while the
	// alternate one is shown.
	HistoryLen() int
	// Line appends the cells of a line to buf and returns it: exactly cols cells of a
	// screen line, at most cols of a history line. y in [0, rows) is the screen, y in
	// [-HistoryLen, 0) the history, -1 being its newest line. Another y returns buf
	// unchanged. A wide character is a cell of Width 2 followed by one of Width 0.
	Line(y int, buf []Cell) []Cell
	// Wrapped reports whether line y continues on line y+1.
	Wrapped(y int) bool

	// Cursor returns the cursor: where the next character goes.
	Cursor() Cursor
	// Modes returns the modes that the child has set.
	Modes() Modes
	// Title returns the last title set by OSC 0 or 2, without control characters.
	Title() string
	// Palette returns the colours that the child changed by OSC 4, 10, 11, 12.
	Palette() Palette

	// Damage reports which screen lines changed since the last call and clears
	// the record. The slice is valid until the next call of any method.
	Damage() Damage

	// Events returns what happened since the last call, in order: replies, titles, bells
	// and so on. The pty's owner writes the replies to it; a viewer drops them.
	Events() []Event

	// Snapshot appends VT bytes that rebuild the state in a fresh engine of
	// the same size: history (at most the given number of lines, negative for
	// all), both screens, cursor, pen, modes, margins, tabs, title.
	Snapshot(buf []byte, history int) []byte

	// SetColors tells the engine what the outer terminal shows. The engine answers the
	// child's queries with it (OSC 4, 10, 11, 12, DSR ?996, graphics), except for colours
	// that the child has set. A child that set mode 2031 gets a report of a change between
	// light and dark. A reset does not undo SetColors.
	SetColors(Colors)

	// Mark puts a mark at the cursor's place on the main screen. It does nothing while the
	// alternate one is shown. The caller chooses ids, each higher than the last. A mark
	// keeps its place in the text through scrolling, history, reflow, printing over it and
	// erasing beside it. It is dropped if its line is dropped or a clear of the screen or
	// the history removes the whole line. Over MaxMarks, the first in the text are
	// dropped.
	Mark(id uint64)
	// Marks appends the present marks in the order of the text, also while the alternate
	// screen is shown.
	Marks(buf []Mark) []Mark
	// SnapshotMarks is Snapshot and also returns the offsets of the marks in the result.
	// A fresh engine that is fed the pieces between the cuts, with Mark called at each cut,
	// has the same Marks.
	SnapshotMarks(buf []byte, history int) ([]byte, []Cut)
}

// Historian is an Emulator whose history can be saved and restored in its form in memory,
// compressed. Snapshot writes it as a child would instead.
type Historian interface {
	Emulator
	// AppendHistory appends all history, with its marks.
	AppendHistory(buf []byte) []byte
	// Pack compresses the next part of the history, in a fraction of a millisecond. It is
	// meant for times when nothing is printed. False says that nothing is left to do.
	Pack() (more bool)
	// Move calls to for each compressed part, in the order of AppendHistory, and from then
	// on uses the memory that to returns. That must have the same bytes and never change.
	Move(to func(packed []byte) []byte)
	// SetHistory replaces the history by data of AppendHistory, of an engine of the same
	// width. It drops the oldest lines over the engine's own limits. If data is damaged or
	// of a newer program, it returns an error and leaves the history as it was.
	SetHistory(data []byte) error
}

// MaxMarks bounds the marks of an engine.
const MaxMarks = 1 << 15

// Mark is a place in the text that the caller named.
type Mark struct {
	ID uint64
	// Line is the main screen's, numbered as in Emulator.Line. Col is 0-based; behind a
	// full line's last cell it is the number of columns.
	Line, Col int
}

// Cut is a mark's place in a snapshot.
type Cut struct {
	ID uint64
	At int // offset in bytes, not below that of the Cut before
}

// Colors is what an outer terminal shows. Its colours are RGB, or zero if unknown.
type Colors struct {
	FG, BG, Cursor Color
	Indexed        [16]Color // the basic colours
	// Pictures says that it shows kitty's graphics. Only then are a child's graphics
	// queries answered.
	Pictures bool
}

// Cell is one position of the grid, decoded.
type Cell struct {
	// Rune is the base character; 0 is an empty cell, drawn as a blank.
	Rune rune
	// Combining is the rest of Rune's grapheme cluster, mostly empty.
	Combining string
	// Width is 1, 2 for a wide character, 0 for the cell behind one.
	Width uint8
	// Tab is the number of columns of a tab that was printed in this empty cell, 0 for
	// none. The other columns may have been overwritten since.
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

// Color is a colour as the child gave it: its kind in the top byte, its value below. The
// zero value is the default colour.
type Color uint32

// The kinds of Color.
const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// Indexed returns palette colour i; 0–15 are the basic ones.
func Indexed(i uint8) Color { return colorIndexed | Color(i) }

// RGB returns a direct colour.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// IsDefault reports whether c is the default colour.
func (c Color) IsDefault() bool { return c>>24 == 0 }

// Index returns the palette index; ok is false for other kinds.
func (c Color) Index() (i uint8, ok bool) { return uint8(c), c>>24 == 1 }

// RGB returns a direct colour's components; ok is false for other kinds.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == 2
}

// Cursor is the cursor's place and look.
type Cursor struct {
	X, Y    int // 0-based, inside the grid
	Visible bool
	Shape   CursorShape
	Blink   bool
	// Default is true until the child sets a shape (DECSCUSR): use the outer terminal's
	// own cursor then.
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

// Mouse is a mouse tracking mode. A higher one reports more.
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

// Modes are the modes that the child has set, as far as they matter for input, drawing or
// the host.
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

	// Pointer is the CSS name of the mouse pointer's shape; empty for the outer
	// terminal's own.
	Pointer string
}

// Palette has the colours that the child changed. A default colour is one that it did not
// change.
type Palette struct {
	FG, BG, Cursor Color           // RGB or default
	Indexed        map[uint8]Color // may be nil
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

// MaxClipboard bounds the bytes that a program may put into a clipboard.
const MaxClipboard = 1 << 20

// EventKind says what an Event is.
type EventKind uint8

// The kinds of Event, each with the fields that it uses.
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

// Event is something that happened besides changes of the grid.
type Event struct {
	Kind       EventKind
	Name, Text string
	Cols, Rows int
}
