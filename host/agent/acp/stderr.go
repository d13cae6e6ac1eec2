package acp

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"tandemux/host/agent"
	"tandemux/internal/plaintext"
)

const (
	// maxLog bounds the log of an agent's stderr, in bytes. One older log of that size is kept.
	maxLog = 1 << 20
	// tailBytes is how much of the end of stderr is kept for messages, in bytes.
	tailBytes = 8 << 10
)

// stderr receives an agent's stderr, and lines of stdout that are not messages.
type stderr struct {
	r    *agent.Output
	done chan struct{}
	each func(string) // called with whole lines; may be nil
	part []byte       // the incomplete line for each

	mu   sync.Mutex
	tail []byte
	path string
	file *os.File // nil if there is no log
	size int64
}

// newStderr reads r until it ends. path is the log file, or ""; each may be nil.
func newStderr(r *os.File, path string, each func(string)) *stderr {
	s := &stderr{r: agent.NewOutput(r), path: path, done: make(chan struct{}), each: each}
	if path != "" && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		s.open()
	}
	go func() {
		defer close(s.done)
		io.Copy(s, s.r) //nolint:errcheck // it ends with the agent, or is closed
		s.tell([]byte("\n"))
	}()
	return s
}

func (s *stderr) open() {
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	if info, err := f.Stat(); err == nil {
		s.file, s.size = f, info.Size()
	}
}

// Write implements io.Writer.
func (s *stderr) Write(b []byte) (int, error) {
	s.write(b)
	s.tell(b)
	return len(b), nil
}

// tell calls each with the lines that b completes. Lines longer than tailBytes are split.
func (s *stderr) tell(b []byte) {
	if s.each == nil {
		return
	}
	s.part = append(s.part, b...)
	for {
		line, rest, ok := bytes.Cut(s.part, []byte("\n"))
		if !ok && len(s.part) < tailBytes {
			return
		}
		if text := strings.ToValidUTF8(string(bytes.TrimRight(line, "\r")), "\uFFFD"); text != "" {
			s.each(text)
		}
		s.part = append(s.part[:0], rest...)
	}
}

func (s *stderr) write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = append(s.tail, b[max(0, len(b)-tailBytes):]...)
	if n := len(s.tail) - tailBytes; n > 0 {
		s.tail = append(s.tail[:0], s.tail[n:]...)
	}
	if s.file == nil {
		return
	}
	if s.size+int64(len(b)) > maxLog {
		s.file.Close()
		s.file, s.size = nil, 0
		if os.Rename(s.path, s.path+".1") == nil {
			s.open()
		}
		if s.file == nil {
			return
		}
	}
	n, _ := s.file.Write(b)
	s.size += int64(n)
}

// note logs a line of stdout that is not a message.
func (s *stderr) note(line []byte) {
	s.write(append([]byte("stdout: "), append(bytes.Clone(line), '\n')...))
}

// quoted returns lead and the last line, or "" if there is none.
func (s *stderr) quoted(lead string) string {
	if last := s.last(); last != "" {
		return lead + last
	}
	return ""
}

// last returns the last informative line, for a message. It skips stack traces, members of values and
// node's version, which failing programs print.
func (s *stderr) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.ToValidUTF8(string(s.tail), "\uFFFD")
	other := ""
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		part := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "Node.js v")
		line = strings.TrimSpace(plaintext.Without(line, unicode.IsControl))
		if !strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		if !part && !strings.HasSuffix(line, "{") {
			return clip(line, 300)
		}
		other = cmp.Or(other, line)
	}
	return clip(other, 300)
}

// close reads what is left after the agent has ended, and stops.
func (s *stderr) close() {
	s.r.Ended()
	<-s.done
	s.r.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// clip shortens a text to a number of bytes.
func clip(s string, most int) string { return plaintext.Clip(s, most, "…") }
