package asciicast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Writer writes a recording.
type Writer struct {
	w       io.Writer
	version Version
	last    time.Duration // of the event before, as it was written
	buf     []byte
}

// theme is a Theme in JSON; the palette is one text.
type theme struct {
	FG      string `json:"fg"`
	BG      string `json:"bg"`
	Palette string `json:"palette,omitempty"`
}

func (t *Theme) wire() *theme {
	if t == nil {
		return nil
	}
	return &theme{t.FG, t.BG, strings.Join(t.Palette, ":")}
}

type headerV2 struct {
	Version   int               `json:"version"`
	Width     int               `json:"width"`
	Height    int               `json:"height"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Idle      float64           `json:"idle_time_limit,omitempty"`
	Command   string            `json:"command,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Theme     *theme            `json:"theme,omitempty"`
}

type headerV3 struct {
	Version   int               `json:"version"`
	Term      termV3            `json:"term"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Idle      float64           `json:"idle_time_limit,omitempty"`
	Command   string            `json:"command,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
}

type termV3 struct {
	Cols  int    `json:"cols"`
	Rows  int    `json:"rows"`
	Type  string `json:"type,omitempty"`
	Theme *theme `json:"theme,omitempty"`
}

// wire gives the header in its version's shape.
func (h *Header) wire() any {
	stamp := int64(0)
	if !h.Time.IsZero() {
		stamp = h.Time.Unix()
	}
	if h.Version == V3 {
		return headerV3{
			int(V3),
			termV3{h.Cols, h.Rows, h.Term, h.Theme.wire()},
			stamp,
			h.IdleLimit.Seconds(), h.Command, h.Title, h.Env, h.Tags,
		}
	}
	env := h.Env
	if h.Term != "" {
		env = map[string]string{"TERM": h.Term}
		for k, v := range h.Env {
			env[k] = v
		}
	}
	return headerV2{int(V2), h.Cols, h.Rows, stamp, h.IdleLimit.Seconds(), h.Command, h.Title, env, h.Theme.wire()}
}

// NewWriter writes the header.
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
		piece := data
		if most := MaxLine / 8; len(piece) > most { // a byte takes six at most
			for most > 0 && !utf8.RuneStart(piece[most]) {
				most--
			}
			piece = piece[:most]
		}
		data = data[len(piece):]
		if err := w.line(e.At, e.Kind, piece); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) line(at time.Duration, kind Kind, data string) error {
	at, w.buf = min(max(at, w.last), MaxTime), append(w.buf[:0], '[')
	if w.version == V3 {
		// What rounding takes off goes to the next interval.
		interval := (at - w.last).Round(time.Millisecond)
		w.buf = strconv.AppendFloat(w.buf, interval.Seconds(), 'f', 3, 64)
		w.last += interval
	} else {
		w.buf = strconv.AppendFloat(w.buf, at.Seconds(), 'f', 6, 64)
		w.last = at
	}
	w.buf = append(w.buf, ", \""...)
	w.buf = append(w.buf, byte(kind), '"', ',', ' ')
	w.buf = append(appendString(w.buf, data), "]\n"...)
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

const hexDigits = "0123456789abcdef"

// appendString appends s as JSON. What is no UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c == '\n':
				b = append(b, '\\', 'n')
			case c == '\r':
				b = append(b, '\\', 'r')
			case c == '\t':
				b = append(b, '\\', 't')
			case c < 0x20 || c == 0x7f:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		b = utf8.AppendRune(b, r)
		i += n
	}
	return append(b, '"')
}

func checkSize(cols, rows int) error {
	if cols < 1 || rows < 1 || cols > MaxSize || rows > MaxSize {
		return fmt.Errorf("a terminal of %dx%d; at most %d columns and rows", cols, rows, MaxSize)
	}
	return nil
}
