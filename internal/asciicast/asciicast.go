package asciicast

import (
	"strings"
	"time"
)

// Version is a version of the format.
type Version int

// The versions that are read and written.
const (
	V2 Version = 2
	V3 Version = 3
)

// Bounds of what is read.
const (
	// MaxLine bounds a line, in bytes.
	MaxLine = 16 << 20
	// MaxSize bounds columns and rows.
	MaxSize = 2000
	// MaxTime bounds the time of an event.
	MaxTime = 10_000 * time.Hour
)

// Header says what was recorded. Cols and Rows are required, the rest may be
// zero.
type Header struct {
	Version    Version
	Cols, Rows int
	Term       string // $TERM
	Theme      *Theme // colours of the terminal
	Time       time.Time
	IdleLimit  time.Duration // pauses are to be cut to that; 0 means as they are
	Title      string
}

// Theme is the terminal's colours as "#rrggbb"; Palette has 8 or 16, or none.
type Theme struct {
	FG      string  `json:"fg"`
	BG      string  `json:"bg"`
	Palette Palette `json:"palette,omitempty"`
}

// Palette is colours, which are one text in JSON.
type Palette []string

func (p Palette) MarshalText() ([]byte, error) { return []byte(strings.Join(p, ":")), nil }

func (p *Palette) UnmarshalText(text []byte) error {
	if len(text) > 0 {
		*p = strings.Split(string(text), ":")
	}
	return nil
}

// Kind is what an event is: the code that stands for it.
type Kind byte

// The kinds of events.
const (
	Output Kind = 'o' // Data was printed
	Input  Kind = 'i' // Data was typed
	Marker Kind = 'm' // Data names a place in the recording
	Resize Kind = 'r' // the terminal has another size
	Exit   Kind = 'x' // the program has ended with Code; v3 only
)

// Event is what happened at a time since the beginning.
type Event struct {
	At         time.Duration
	Kind       Kind
	Data       string
	Cols, Rows int // of a Resize
	Code       int // of an Exit
}
