package capture

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/internal/asciicast"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/ui/pane"
)

// Recording writes what a terminal shows to a file, from a connection of its own.
// It is the connection's sink: its reader calls it, in order.
// It implements client.Printer and client.Sink.
type Recording struct {
	uri    ahp.URI
	c      *client.Client
	header asciicast.Header
	done   chan struct{} // closed when nothing follows

	mu    sync.Mutex // guards the following
	file  io.Writer
	w     *asciicast.Writer // nil until the first state has come
	start time.Time
	last  time.Duration
	ended bool
	err   error
}

// Start connects, and returns when the recording has begun.
func Start(ctx context.Context, p endpoint.Endpoint, uri ahp.URI, file io.Writer, h asciicast.Header) (*Recording, error) {
	r := &Recording{uri: uri, header: h, file: file, done: make(chan struct{})}
	c, err := endpoint.Connect(ctx, p, endpoint.Options{Reconnect: true, Sink: r, Wants: client.Wants{Print: r}, Kind: "record"})
	if err != nil {
		return nil, err
	}
	r.c = c
	r.seenIn(ctx)
	if err := c.Subscribe(ctx, uri); err != nil {
		c.Close()
		return nil, fmt.Errorf("record: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r, r.err
}

// seenIn puts the colours that the terminal was last seen in into the header, if
// they are known. A recording goes on without.
func (r *Recording) seenIn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endpoint.CallTimeout)
	defer cancel()
	var seen ahp.ReadResult
	err := r.c.Call(ctx, ahp.MethodRead, ahp.ReadParams{Channel: r.uri, What: ahp.ReadScreen}, &seen)
	if c := seen.Colors; err == nil && c != nil && c.FG != "" && c.BG != "" {
		r.header.Theme = &asciicast.Theme{FG: c.FG, BG: c.BG}
		if !slices.Contains(c.Palette, "") {
			r.header.Theme.Palette = c.Palette
		}
	}
}

// Stop ends the recording and says how long it is.
func (r *Recording) Stop() (time.Duration, error) {
	defer r.c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended && r.w != nil {
		r.last = time.Since(r.start)
	}
	if !r.ended {
		r.end(nil)
	}
	return r.last, r.err
}

// event writes an event that happens now; the first is the beginning. The lock must
// be held.
func (r *Recording) event(e asciicast.Event) {
	if r.w == nil || r.ended {
		return
	}
	if r.start.IsZero() {
		r.start = time.Now()
	} else {
		e.At = max(time.Since(r.start), r.last)
	}
	r.last = e.At
	if err := r.w.Write(e); err != nil {
		r.end(err)
	}
}

// end stops writing. The lock must be held.
func (r *Recording) end(err error) {
	if r.ended {
		return
	}
	r.ended, r.err = true, err
	close(r.done)
}

// Snapshot implements client.Sink: the first begins the recording, further ones
// come after a reconnect that could not replay.
func (r *Recording) Snapshot(s ahp.Snapshot) {
	if s.Resource != r.uri {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	st, err := wire.Terminal(s)
	if err != nil {
		r.end(fmt.Errorf("read its state: %w", err))
		return
	}
	em, err := emulated(&st, 0)
	if err != nil {
		r.end(err)
		return
	}
	cols, rows := max(st.Cols, 1), max(st.Rows, 1)
	screen := string(em.Snapshot(nil, 0))
	if r.w == nil {
		r.begin(&st, cols, rows)
	} else {
		r.event(asciicast.Event{Kind: asciicast.Resize, Cols: cols, Rows: rows})
		screen = "\x1bc" + screen
	}
	r.event(asciicast.Event{Kind: asciicast.Output, Data: screen})
	if st.Lifecycle.Exited() {
		r.exit(st.Lifecycle.ExitCode)
	}
}

// begin writes the header. The lock must be held.
func (r *Recording) begin(st *ahp.TerminalState, cols, rows int) {
	h := r.header
	h.Cols, h.Rows, h.Term = cols, rows, "xterm-256color"
	h.Title = cmp.Or(h.Title, st.Title)
	h.Time = time.Now()
	w, err := asciicast.NewWriter(r.file, h)
	if err != nil {
		r.end(err)
		return
	}
	r.w = w
}

// exit writes the end of the program. The lock must be held.
func (r *Recording) exit(code *int) {
	if code != nil {
		r.event(asciicast.Event{Kind: asciicast.Exit, Code: *code})
	}
	r.end(nil)
}

func (r *Recording) Data(channel ahp.URI, data []byte, _ int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if channel == r.uri {
		r.event(asciicast.Event{Kind: asciicast.Output, Data: string(data)})
	}
}

// maxMarker bounds a marker's text, in bytes.
const maxMarker = 200

func (r *Recording) Action(e ahp.Envelope) {
	if e.Channel != r.uri || e.RejectionReason != "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch a := e.Action.(type) {
	case ahp.TerminalData:
		r.event(asciicast.Event{Kind: asciicast.Output, Data: a.Data})
	case ahp.TerminalResized:
		r.event(asciicast.Event{Kind: asciicast.Resize, Cols: max(a.Cols, 1), Rows: max(a.Rows, 1)})
	case ahp.TerminalCleared:
		r.event(asciicast.Event{Kind: asciicast.Output, Data: pane.ClearSequence})
	case ahp.TerminalCommandExecuted:
		line, _, _ := strings.Cut(a.CommandLine, "\n")
		r.event(asciicast.Event{Kind: asciicast.Marker, Data: strings.ToValidUTF8(line[:min(len(line), maxMarker)], "")})
	case ahp.TerminalExited:
		r.exit(a.ExitCode)
	}
}

func (r *Recording) Gone(channel ahp.URI) {
	if channel == r.uri {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.end(nil)
	}
}

func (r *Recording) Status(s client.Status, err error) {
	if s != client.Closed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("the connection is gone: %w", err)
	}
	r.end(err)
}

// Input takes what was typed, where that is to be in the recording.
func (r *Recording) Input(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event(asciicast.Event{Kind: asciicast.Input, Data: string(data)})
}
