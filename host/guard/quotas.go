package guard

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tandemux/internal/statefile"
)

const (
	// maxQuotas bounds the agents that are counted.
	maxQuotas = 1000
	// startsWindow is what spawns are counted in (T12).
	startsWindow = time.Minute
	startsFile   = "agent-starts.json"
)

// Quotas are those of all agents. What they have started in the last minute is in a
// file of the state directory before it is started, so that a host that is killed
// forgets none. Its methods may be called from any goroutine.
type Quotas struct {
	path string
	now  func() time.Time
	log  *slog.Logger

	saving sync.Mutex // held while the file is written

	mu  sync.Mutex
	all map[string]*Quota // by whose they are
}

// OpenQuotas takes up what an earlier host wrote down in a state directory; now is the
// clock.
func OpenQuotas(dir string, now func() time.Time, log *slog.Logger) *Quotas {
	q := &Quotas{path: filepath.Join(dir, startsFile), now: now, log: log, all: map[string]*Quota{}}
	b, err := os.ReadFile(q.path)
	if err != nil {
		return q // Nothing was started yet.
	}
	var all map[string][]int64
	if err := json.Unmarshal(b, &all); err != nil {
		log.Warn("what agents have started in the last minute is forgotten", "err", err)
		return q
	}
	for of, list := range all {
		if len(q.all) >= maxQuotas {
			break
		}
		starts := make([]time.Time, 0, len(list))
		for _, ms := range list {
			starts = append(starts, time.UnixMilli(ms))
		}
		q.all[of] = NewQuota(of, startsWindow, now)
		q.all[of].Recall(starts)
	}
	return q
}

// Reserve takes a place under an agent's quota, as Quota.Reserve does.
func (q *Quotas) Reserve(of string, live, rate int) (*Slot, error) {
	one := q.quota(of, maxQuotas)
	if one == nil {
		return nil, &LimitError{"too many agents have started something in the last minute: try again later"}
	}
	slot, err := one.Reserve(live, rate)
	if err == nil && rate > 0 {
		if err := q.save(); err != nil {
			q.log.Warn("keep what agents have started", "err", err)
		}
	}
	return slot, err
}

// Retake gives a terminal of an earlier host its place again.
func (q *Quotas) Retake(of string) *Slot { return q.quota(of, 0).Retake() }

// quota is that of an agent, made on first use; nil if there are most already and none
// of them is idle. most is 0 for any number.
func (q *Quotas) quota(of string, most int) *Quota {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.all[of]
	if one == nil {
		if most > 0 && len(q.all) >= most {
			maps.DeleteFunc(q.all, func(_ string, q *Quota) bool { return q.Idle() })
			if len(q.all) >= most {
				return nil
			}
		}
		one = NewQuota(of, startsWindow, q.now)
		q.all[of] = one
	}
	return one
}

// save writes down which agents have started something in the last minute.
func (q *Quotas) save() error {
	q.saving.Lock()
	defer q.saving.Unlock()
	q.mu.Lock()
	quotas := maps.Clone(q.all)
	q.mu.Unlock()
	all := map[string][]int64{}
	for of, one := range quotas {
		for _, at := range one.Starts() {
			all[of] = append(all[of], at.UnixMilli())
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write %s: %w", q.path, err)
	}
	return statefile.Write(q.path, b)
}
