package commands

import (
	"bytes"
	"cmp"
	"regexp"
	"sync"

	"tandemux/ahp"
	"tandemux/internal/pace"
	"tandemux/internal/plaintext"
)

// maxUnmatched bounds output in bytes that a pattern has yet to be matched
// against. Beyond it the wait ends with ahp.WaitOverrun, as a match may be
// missed: output is never held up for it.
const maxUnmatched = 8 << 20

// matcher looks for a pattern in output, line by line, on a goroutine of its
// own: it would take too long under the sequencing lock.
type matcher struct {
	w       *wait
	pattern *regexp.Regexp

	mu      sync.Mutex
	queue   []string
	bytes   int
	overrun bool
	final   *ahp.WaitResult // the answer if nothing queued matches; nil while more may come
	ended   bool
	wake    chan struct{} // holds one
}

// add queues output. It never blocks.
func (m *matcher) add(data string) {
	m.mu.Lock()
	switch {
	case m.final != nil || m.overrun || m.ended:
	case m.bytes+len(data) > maxUnmatched:
		m.queue, m.overrun = nil, true
	default:
		m.queue = append(m.queue, data)
		m.bytes += len(data)
	}
	m.mu.Unlock()
	m.signal()
}

// last sets the answer to give if nothing in the queue matches. The first call counts.
func (m *matcher) last(r ahp.WaitResult) {
	m.mu.Lock()
	m.final = cmp.Or(m.final, &r)
	m.mu.Unlock()
	m.signal()
}

func (m *matcher) stop() {
	m.mu.Lock()
	m.ended = true
	m.mu.Unlock()
	m.signal()
}

func (m *matcher) signal() { pace.Wake(m.wake) }

// run matches until a line matches, the matcher is stopped, or no more output comes.
func (m *matcher) run(present string) {
	defer m.w.cs.matching.Done()
	var text plaintext.Writer
	var lines []byte
	work := []string{present}
	for {
		for _, data := range work {
			lines = text.Write(lines[:0], []byte(data))
			for rest := lines; len(rest) > 0; {
				one, more, _ := bytes.Cut(rest, []byte{'\n'})
				if m.found(one) {
					return
				}
				rest = more
			}
			if m.found(text.AppendLine(nil)) {
				return
			}
		}
		var r *ahp.WaitResult
		var ended bool
		if work, r, ended = m.next(); ended {
			return
		}
		if r != nil && len(work) == 0 {
			m.reply(*r)
			return
		}
	}
}

// next waits for more to match; r is the answer once there is nothing more.
func (m *matcher) next() (work []string, r *ahp.WaitResult, ended bool) {
	for {
		m.mu.Lock()
		work, m.queue, m.bytes = m.queue, nil, 0
		if r = m.final; m.overrun {
			r = &ahp.WaitResult{Reason: ahp.WaitOverrun, Running: true}
		}
		ended = m.ended
		m.mu.Unlock()
		if ended || r != nil || len(work) > 0 {
			return work, r, ended
		}
		<-m.wake
	}
}

func (m *matcher) found(line []byte) bool {
	if !m.pattern.Match(line) {
		return false
	}
	const most = 4 << 10
	m.reply(ahp.WaitResult{Reason: ahp.WaitMet, Running: true, Line: string(bytes.ToValidUTF8(line[:min(len(line), most)], nil))})
	return true
}

func (m *matcher) reply(r ahp.WaitResult) {
	tx := m.w.cs.Core.Lock()
	defer tx.Unlock()
	if r.Running {
		r.Running = !m.w.t.Value.Lifecycle.Exited()
	}
	m.w.reply(tx, r)
}
