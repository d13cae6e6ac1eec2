package guard

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tandemux/internal/statefile"
)

const (
	// maxQuotas bounds the agents that are counted, and maxStarts the starts that are
	// remembered of each, and with them any rate.
	maxQuotas = 1000
	maxStarts = 1000
	// startsWindow is what spawns are counted in (T12).
	startsWindow = time.Minute
	startsFile   = "agent-starts.json"
	maxFile      = 32 << 20
)

// Quotas limit how many terminals each agent has at once, and how many it starts in a
// minute (T12, T13; docs/contributing/decisions.md §24). What they have started in the last minute
// is in a file of the state directory before it is started, so that a host that is
// killed forgets none. Its methods may be called from any goroutine.
type Quotas struct {
	path string
	now  func() time.Time
	log  *slog.Logger

	saving sync.Mutex // held while the file is written

	mu  sync.Mutex
	all map[string]*quota // by whose they are
}

type quota struct {
	held   int
	starts []time.Time // within the window, oldest first
}

// idle reports whether there is nothing to remember.
func (q *quota) idle(now time.Time) bool {
	q.starts = slices.DeleteFunc(q.starts, func(at time.Time) bool { return now.Sub(at) >= startsWindow })
	return q.held == 0 && len(q.starts) == 0
}

// OpenQuotas takes up what an earlier host wrote down in a state directory; now is the
// clock. Starts of the future, by a clock that was set back, count as of now.
func OpenQuotas(dir string, now func() time.Time, log *slog.Logger) *Quotas {
	q := &Quotas{path: filepath.Join(dir, startsFile), now: now, log: log, all: map[string]*quota{}}
	b, err := statefile.Read(q.path, maxFile)
	if err != nil {
		return q // Nothing was started yet.
	}
	var all map[string][]int64
	if err := json.Unmarshal(b, &all); err != nil {
		log.Warn("what agents have started in the last minute is forgotten", "err", err)
		return q
	}
	for of, starts := range all {
		if len(q.all) >= maxQuotas {
			break
		}
		one := &quota{}
		slices.Sort(starts)
		for _, ms := range starts[max(0, len(starts)-maxStarts):] {
			one.starts = append(one.starts, time.UnixMilli(min(ms, now().UnixMilli())))
		}
		q.all[of] = one
	}
	return q
}

// LimitError is the refusal of one terminal too many.
type LimitError struct{ text string }

// Error is the documents' text (T15, T16).
func (e *LimitError) Error() string { return e.text }

// Slot is a place under an agent's quota.
type Slot struct {
	q     *Quotas
	of    string
	at    time.Time
	ended bool // it was given back
}

// Reserve takes a place of live at once, and of rate starts in a minute; 0 means any
// number of either. It says with a *LimitError why there is none. What is refused
// doesn't count.
func (q *Quotas) Reserve(of string, live, rate int) (*Slot, error) {
	slot, err := q.reserve(of, live, rate)
	if err == nil && rate > 0 {
		if err := q.save(); err != nil {
			q.log.Warn("keep what agents have started", "err", err)
		}
	}
	return slot, err
}

func (q *Quotas) reserve(of string, live, rate int) (*Slot, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.now()
	if q.all[of] == nil && len(q.all) >= maxQuotas {
		maps.DeleteFunc(q.all, func(_ string, one *quota) bool { return one.idle(at) })
		if len(q.all) >= maxQuotas {
			return nil, &LimitError{"too many agents have started something in the last minute: try again later"}
		}
	}
	one := q.quota(of)
	one.idle(at)
	switch {
	case rate > 0 && len(one.starts) >= min(rate, maxStarts):
		return nil, &LimitError{fmt.Sprintf("Spawn rate limit exceeded (max %d/minute)", rate)}
	case live > 0 && one.held >= live:
		return nil, &LimitError{fmt.Sprintf("Maximum concurrent agent terminals reached (%d)", live)}
	}
	one.held++
	if rate > 0 {
		one.starts = append(one.starts, at)
	}
	return &Slot{q: q, of: of, at: at}, nil
}

// quota is that of an agent, made on first use. The mutex is held.
func (q *Quotas) quota(of string) *quota {
	if q.all[of] == nil {
		q.all[of] = &quota{}
	}
	return q.all[of]
}

// Retake gives a terminal of an earlier host its place again, whatever the limit is now.
func (q *Quotas) Retake(of string) *Slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.quota(of).held++
	return &Slot{q: q, of: of}
}

// save writes down which agents have started something in the last minute.
func (q *Quotas) save() error {
	q.saving.Lock()
	defer q.saving.Unlock()
	all := map[string][]int64{}
	q.mu.Lock()
	for of, one := range q.all {
		one.idle(q.now())
		for _, at := range one.starts {
			all[of] = append(all[of], at.UnixMilli())
		}
	}
	q.mu.Unlock()
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write %s: %w", q.path, err)
	}
	return statefile.Write(q.path, b)
}

// Of names whose place it is; empty once it was given back, and for a nil Slot.
func (s *Slot) Of() string {
	if s == nil {
		return ""
	}
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	if s.ended {
		return ""
	}
	return s.of
}

// End gives the place back when the terminal has ended. Later calls do nothing,
// and neither does that of a nil Slot.
func (s *Slot) End() { s.end(false) }

// Cancel gives the place back as if it had never been taken: nothing was started.
func (s *Slot) Cancel() { s.end(true) }

func (s *Slot) end(never bool) {
	if s == nil {
		return
	}
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	one := s.q.all[s.of]
	one.held--
	if i := slices.Index(one.starts, s.at); never && i >= 0 {
		one.starts = slices.Delete(one.starts, i, i+1)
	}
}

// Limits is what one agent may do (docs/contributing/decisions.md §23–§25).
type Limits struct {
	Policy Policy
	// Spawns a minute and Terminals at once are for the background terminals of one
	// agent, Calls at once for those in which a tool call runs; 0 means any number.
	Spawns, Terminals, Calls int
	// Idle is how long an agent's background terminal may be without input and
	// output before it is ended; 0 means for ever.
	Idle time.Duration
}

// DefaultLimits are those of the documents (T10–T13, T38).
func DefaultLimits() Limits {
	p := Default()
	p.Uses = true
	return Limits{Policy: p, Spawns: 3, Terminals: 5, Calls: 20, Idle: 5 * time.Minute}
}
