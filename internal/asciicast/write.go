package asciicast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tandemux/internal/plaintext"
)

type Writer struct {
	w       io.Writer
	version Version
	last    time.Duration // of the event before, as it was written
	buf     []byte
}

// header is a Header in JSON. Width, Height, Env and Theme are v2's, Term v3's.
type header struct {
	Version   Version           `json:"version"`
	Width     int               `json:"width,omitempty"`
	Height    int               `json:"height,omitempty"`
	Term      term              `json:"term,omitzero"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Idle      float64           `json:"idle_time_limit,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Theme     *Theme            `json:"theme,omitempty"`
}

type term struct {
	Cols  int    `json:"cols"`
	Rows  int    `json:"rows"`
	Type  string `json:"type,omitempty"`
	Theme *Theme `json:"theme,omitempty"`
}

// wire gives the header in its version's shape.
func (h *Header) wire() header {
	w := header{Version: h.Version, Idle: h.IdleLimit.Seconds(), Title: h.Title}
	if !h.Time.IsZero() {
		w.Timestamp = h.Time.Unix()
	}
	if h.Version == V3 {
		w.Term = term{h.Cols, h.Rows, h.Term, h.Theme}
		return w
	}
	w.Width, w.Height, w.Theme = h.Cols, h.Rows, h.Theme
	if h.Term != "" {
		w.Env = map[string]string{"TERM": h.Term}
	}
	return w
}

func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if h.Version != V2 && h.Version != V3 {
		return nil, fmt.Errorf("write recording: there is no version %d", h.Version)
	}
	if err := checkSize(h.Cols, h.Rows); err != nil {
		return nil, fmt.Errorf("write recording: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h.wire()); err != nil {
		return nil, fmt.Errorf("write recording: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return nil, fmt.Errorf("write recording: %w", err)
	}
	return &Writer{w: w, version: h.Version}, nil
}

// Write writes an event. Times never fall: one before the last event's is taken
// for that. What the version has no event for is left out.
func (w *Writer) Write(e Event) error {
	data := e.Data
	switch e.Kind {
	case Output, Input:
		if data == "" {
			return nil
		}
	case Marker:
	case Resize:
		if err := checkSize(e.Cols, e.Rows); err != nil {
			return fmt.Errorf("write recording: %w", err)
		}
		data = fmt.Sprintf("%dx%d", e.Cols, e.Rows)
	case Exit:
		if w.version == V2 {
			return nil
		}
		data = strconv.Itoa(e.Code)
	default:
		return fmt.Errorf("write recording: there is no event %q", string(rune(e.Kind)))
	}
	// A long output is several events at the same time, as lines are bounded.
	for first := true; first || data != ""; first = false {
		piece := plaintext.Clip(data, MaxLine/8, "") // a byte takes six at most
		data = data[len(piece):]
		if err := w.line(e.At, e.Kind, piece); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) line(at time.Duration, kind Kind, data string) error {
	at = min(max(at, w.last), MaxTime)
	if w.version == V3 {
		// What rounding takes off goes to the next interval.
		interval := (at - w.last).Round(time.Millisecond)
		w.buf = fmt.Appendf(w.buf[:0], "[%.3f", interval.Seconds())
		at = w.last + interval
	} else {
		w.buf = fmt.Appendf(w.buf[:0], "[%.6f", at.Seconds())
	}
	w.last = at
	w.buf = fmt.Appendf(w.buf, ", \"%c\", ", kind)
	w.buf, _ = jsontext.AppendQuote(w.buf, data) // what is no UTF-8 becomes U+FFFD
	if _, err := w.w.Write(append(w.buf, "]\n"...)); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

func checkSize(cols, rows int) error {
	if cols < 1 || rows < 1 || cols > MaxSize || rows > MaxSize {
		return fmt.Errorf("a terminal of %dx%d; at most %d columns and rows", cols, rows, MaxSize)
	}
	return nil
}
