package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandemux/internal/plaintext"
)

// Level is the severity of a log line.
type Level int

const (
	Debug   Level = 10
	Info    Level = 20
	Warning Level = 30
	Severe  Level = 40
)

var levels = map[Level]string{Debug: "DEBUG", Info: "INFO", Warning: "WARNING", Severe: "ERROR"}

func (l Level) String() string { return levels[l] }

func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// ParseLevel parses the name of a level, ignoring case.
func ParseLevel(s string) (Level, error) {
	for l, word := range levels {
		if strings.EqualFold(s, word) || strings.EqualFold(s, "warn") && l == Warning {
			return l, nil
		}
	}
	return 0, Errorf(Invalid, "the level %.40q is none of DEBUG, INFO, WARNING, ERROR", s)
}

func (l *Level) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLevel(string(text))
	return err
}

// LogEntry is a line of an agent's log (U106). Whoever adds it has to mask secrets before.
type LogEntry struct {
	N         int64     `db:"n" json:"id"`
	AgentID   string    `db:"agent" json:"agent_id"`
	VersionID string    `db:"version,ref" json:"version_id,omitempty"`
	TaskID    string    `db:"task,ref" json:"task_id,omitempty"`
	Level     Level     `db:"level" json:"level" enum:"DEBUG,INFO,WARNING,ERROR"`
	Source    string    `db:"source" json:"source" doc:"agent, hook, task or deploy"`
	Text      string    `db:"text" json:"text"`
	Created   time.Time `db:"created" json:"created_at"`
}

// AddLogs adds lines to agents' logs. A line without a time gets the current one. Of each agent the
// newest MaxLogs are kept; the oldest are deleted, a tenth at a time. Lines of deleted agents are
// dropped.
func (s *Store) AddLogs(ctx context.Context, entries []LogEntry) error {
	return s.write(ctx, relaxed, func(tx conn) error {
		grown := map[string]int64{}
		for _, e := range entries {
			e.Text = plaintext.Clip(e.Text, MaxLogText, fmt.Sprintf("… (%d bytes)", len(e.Text)))
			e.Text = strings.ToValidUTF8(e.Text, "\uFFFD")
			there, err := one[bool](ctx, tx, nil, "select exists (select 1 from agents where id = ?)", e.AgentID)
			if err == nil && there {
				grown[e.AgentID]++
				err = s.logs.insert(ctx, tx, &e)
			}
			if err != nil {
				return err
			}
		}
		s.sizes.mu.Lock()
		defer s.sizes.mu.Unlock()
		for agent, n := range grown {
			have := s.sizes.logs[agent] + n
			if have > s.most.logs {
				drop := have - s.most.logs + s.most.logs/10
				if err := tx.exec(ctx, "delete from logs where agent = ?1 and n <= (select n from logs where agent = ?1 order by n limit 1 offset ?2)", agent, drop-1); err != nil {
					return err
				}
				have -= drop
			}
			s.sizes.logs[agent] = have
		}
		return nil
	})
}

// LogFilter selects lines. Empty members select all.
type LogFilter struct {
	Agent, Task, Version string // ids; Agent is required
	Level                Level  // the lowest level
	Source               string
	Since, Until         time.Time
	After                int64 // only lines after this number, oldest first
	Limit                int   // at most so many: the newest, or with After the oldest
}

// Logs returns the selected lines in the order in which they were written: the newest ones or, with
// After, those that follow it.
func (s *Store) Logs(ctx context.Context, f LogFilter) ([]LogEntry, error) {
	where, args := []string{"agent = ?"}, []any{f.Agent}
	add := func(given bool, clause string, arg any) {
		if given {
			where, args = append(where, clause), append(args, arg)
		}
	}
	add(f.Task != "", "task = ?", f.Task)
	add(f.Version != "", "version = ?", f.Version)
	add(f.Level > 0, "level >= ?", int(f.Level))
	add(f.Source != "", "source = ?", f.Source)
	add(!f.Since.IsZero(), "created >= ?", f.Since.UnixMilli())
	add(!f.Until.IsZero(), "created <= ?", f.Until.UnixMilli())
	add(f.After > 0, "n > ?", f.After)
	order := " order by n desc limit ?"
	if f.After > 0 {
		order = " order by n limit ?"
	}
	return all[LogEntry](ctx, s.reading(), "select * from ("+s.logs.query()+strings.Join(where, " and ")+order+") as chosen order by n", append(args, Page{Limit: f.Limit}.limit())...)
}
