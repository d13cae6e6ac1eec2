package acp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"tandemux/internal/jsonrpc"
)

const (
	// defaultMaxLine bounds a message in bytes: a prompt's images fit.
	defaultMaxLine = 32 << 20
	// maxGarbage bounds what is not a message, in bytes between two that are.
	maxGarbage = 16 << 20
	// maxNoted is how much of a line that is no message goes to the log, and
	// maxLines how many such lines between two messages.
	maxNoted = 2 << 10
	maxLines = 1000
)

// errGarbage ends a connection to what isn't an agent.
var errGarbage = fmt.Errorf("it wrote more than %d MB to stdout that are no messages: is it an ACP agent, with the right arguments?", maxGarbage>>20)

// lines is a jsonrpc.Transport over a child's stdin and stdout: one message a
// line.
type lines struct {
	in   *os.File // the child's stdin
	out  *os.File // the child's stdout
	r    *bufio.Reader
	max  int
	note func(line []byte) // takes what is no message

	buf     []byte
	garbage int
	noted   int
	line    []byte // Write's, reused
}

func newLines(in, out *os.File, most int, note func([]byte)) *lines {
	return &lines{in: in, out: out, r: bufio.NewReaderSize(out, 64<<10), max: most, note: note}
}

// Read gives the next line that may be a message. Others are noted and skipped,
// without being held.
func (l *lines) Read(context.Context) ([]byte, error) {
	for {
		line, size, err := l.next()
		text := bytes.TrimSpace(line)
		message := len(text) > 0 && (text[0] == '{' || text[0] == '[')
		switch {
		case message && size > l.max:
			return nil, fmt.Errorf("it wrote a message of more than %d MB", l.max>>20)
		case message && err == nil:
			l.garbage, l.noted = 0, 0
			return text, nil
		case len(text) > 0:
			if l.noted++; l.noted <= maxLines {
				l.note(text[:min(len(text), maxNoted)])
			}
			if l.garbage += size; l.garbage > maxGarbage {
				return nil, errGarbage
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
				return nil, &jsonrpc.CloseError{Code: 1000, Reason: "end of its output"}
			}
			return nil, err
		}
	}
}

// next reads a line, of which it holds what a message may have and counts the
// rest, as far as there are bounds.
func (l *lines) next() (line []byte, size int, err error) {
	if cap(l.buf) > 1<<20 {
		l.buf = nil // One large message must not be kept for ever.
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		size += len(part)
		start := l.buf
		if len(start) == 0 {
			start = part
		}
		keep := maxNoted
		if start = bytes.TrimLeft(start, " \t\r\n"); len(start) > 0 && start[0] == '{' {
			keep = l.max + 1
		}
		l.buf = append(l.buf, part[:min(len(part), max(0, keep-len(l.buf)))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.buf, size, err
		}
		if size > l.max && keep > maxNoted || l.garbage+size > maxGarbage && keep == maxNoted {
			return l.buf, size, nil
		}
	}
}

// Write sends a message and the end of its line in one piece.
func (l *lines) Write(_ context.Context, msg []byte) error {
	l.line = append(append(l.line[:0], msg...), '\n')
	_, err := l.in.Write(l.line)
	if cap(l.line) > 1<<20 {
		l.line = nil
	}
	return err
}

// Close ends both directions; the child is told by the end of its stdin.
func (l *lines) Close(int, string) error {
	return errors.Join(l.in.Close(), l.out.Close())
}
