package asciicast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

type Reader struct {
	r      *bufio.Reader
	header Header
	last   time.Duration
	line   int
}

func NewReader(r io.Reader) (*Reader, error) {
	rd := &Reader{r: bufio.NewReaderSize(r, 64<<10)}
	line, err := rd.next()
	if err == io.EOF {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = rd.header.parse(line)
	}
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	return rd, nil
}

// Header says what was recorded.
func (r *Reader) Header() Header { return r.header }

// next reads a line without its end.
func (r *Reader) next() ([]byte, error) {
	var line []byte
	r.line++
	for {
		piece, err := r.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > MaxLine:
			return nil, fmt.Errorf("line %d is longer than %d MiB", r.line, MaxLine>>20)
		case err == nil || err == io.EOF && len(line) > 0:
			return bytes.TrimSpace(line), nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

func (h *Header) parse(line []byte) error {
	var w header
	if err := json.Unmarshal(line, &w); err != nil {
		return fmt.Errorf("line 1 is no header of an asciicast: %w", err)
	}
	*h = Header{
		Version: w.Version, Cols: w.Width, Rows: w.Height, Term: w.Env["TERM"], Theme: w.Theme,
		IdleLimit: duration(w.Idle), Title: w.Title,
	}
	switch h.Version {
	case V2:
	case V3:
		h.Cols, h.Rows, h.Term, h.Theme = w.Term.Cols, w.Term.Rows, w.Term.Type, w.Term.Theme
	case 1:
		return errors.New("it is an asciicast v1; `asciinema convert` of asciinema 3 makes a v3 of it")
	default:
		return fmt.Errorf("its version is %d; 2 and 3 can be read", w.Version)
	}
	if w.Timestamp > 0 {
		h.Time = time.Unix(w.Timestamp, 0)
	}
	if err := checkSize(h.Cols, h.Rows); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	return nil
}

// duration makes a time of seconds, within 0 and MaxTime.
func duration(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	if s >= MaxTime.Seconds() {
		return MaxTime
	}
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond)
}

// Next gives the next event; io.EOF when there is none. Events of kinds that are
// not known are skipped.
func (r *Reader) Next() (Event, error) {
	for {
		line, err := r.next()
		if err != nil {
			if err != io.EOF {
				err = fmt.Errorf("read recording: %w", err)
			}
			return Event{}, err
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		e, known, err := r.parse(line)
		if err != nil {
			return e, fmt.Errorf("read recording: line %d: %w", r.line, err)
		}
		if known {
			return e, nil
		}
	}
}

func (r *Reader) parse(line []byte) (e Event, known bool, err error) {
	var raw []json.RawMessage
	var at float64
	var code, data string
	if err := json.Unmarshal(line, &raw); err != nil {
		return e, false, fmt.Errorf("it is no event: %w", err)
	}
	if len(raw) != 3 {
		return e, false, fmt.Errorf("an event has three parts, this has %d", len(raw))
	}
	for i, to := range []any{&at, &code} {
		if err := json.Unmarshal(raw[i], to); err != nil {
			return e, false, fmt.Errorf("it is no event: %w", err)
		}
	}
	switch r.header.Version {
	case V3:
		r.last = min(r.last+duration(at), MaxTime)
	default:
		r.last = max(r.last, duration(at)) // times never fall
	}
	e.At = r.last
	if len(code) != 1 || !strings.ContainsAny(code, "oimrx") {
		return e, false, nil
	}
	if err := json.Unmarshal(raw[2], &data); err != nil {
		return e, false, fmt.Errorf("its data: %w", err)
	}
	e.Kind = Kind(code[0])
	switch e.Kind {
	case Resize:
		cols, rows, ok := strings.Cut(data, "x")
		c, err1 := strconv.Atoi(cols)
		n, err2 := strconv.Atoi(rows)
		if !ok || err1 != nil || err2 != nil {
			return e, false, fmt.Errorf("%q is no size such as 80x24", data[:min(len(data), 20)])
		}
		e.Cols, e.Rows = c, n
		return e, true, checkSize(c, n)
	case Exit:
		e.Code, err = strconv.Atoi(data)
		if err != nil {
			return e, false, fmt.Errorf("%q is no exit status", data[:min(len(data), 20)])
		}
		return e, true, nil
	}
	e.Data = data
	return e, true, nil
}
