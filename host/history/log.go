package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/host/core"
	"tandemux/host/terminals"
	"tandemux/internal/config/option"
	"tandemux/internal/statefile"
)

// FileName is the file's, in the state directory.
const FileName = "commands.jsonl"

const (
	// maxLine bounds a command's line, in bytes.
	maxLine = 4 << 10
	// maxWaiting bounds the commands that have yet to be written; the oldest go.
	maxWaiting = 1024
	// maxFile bounds what is read of the file, in bytes: more than it ever has.
	maxFile = MaxCommands * (maxLine + 4<<10)
	// MaxCommands bounds Settings.CommandHistory.
	MaxCommands = 100_000
)

// Settings are the owner's.
type Settings struct{ CommandHistory int }

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{{
		Name: "command-history", Value: option.Default(&s.CommandHistory, 10_000), Max: MaxCommands,
		Doc: "How many commands that ran in your terminals are kept on disk, for you alone; those typed with a blank first are not. 0 removes them.",
	}}
}

// Log is the commands that are kept.
type Log struct {
	path string
	log  *slog.Logger

	// Guarded by core's lock.
	running map[ahp.URI]find.Command

	mu      sync.Mutex // guards what follows
	most    int
	waiting [][]byte
	closed  bool
	wake    *sync.Cond

	file    sync.Mutex // guards the file, and is taken before mu
	lines   int        // in the file; -1 while that is not known
	trouble bool       // it could not be written last; that was logged
	done    chan struct{}
}

// Open makes the Log of a state directory. It must be closed.
func Open(state string, s Settings, log *slog.Logger) *Log {
	l := &Log{path: filepath.Join(state, FileName), log: log, running: map[ahp.URI]find.Command{}, most: -1, lines: -1, done: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	l.Set(s)
	go l.write()
	return l
}

// Set takes other settings.
func (l *Log) Set(s Settings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = s.CommandHistory
	l.wake.Signal()
}

// Close ends the Log when all is written.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	l.wake.Signal()
	l.mu.Unlock()
	<-l.done
}

// Follow looks at an action that was applied to a channel. The Log may be nil.
func (l *Log) Follow(tx core.Tx, uri ahp.URI, a ahp.Action) {
	if l == nil {
		return
	}
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		if t, ok := terminals.At(tx, uri); ok {
			l.begin(t, ahp.CommandInfo{ID: a.CommandID, CommandLine: a.CommandLine, Timestamp: a.Timestamp, Cwd: t.Value.Cwd})
		}
	case ahp.TerminalCommandFinished:
		if _, seen := l.running[uri]; !seen { // it began under another host
			if t, ok := terminals.At(tx, uri); ok && t.Meta.LastCommand != nil && !strings.HasSuffix(t.Meta.LastCommand.CommandLine, "…") {
				l.begin(t, *t.Meta.LastCommand)
			}
		}
		l.end(uri, a.CommandID, a.ExitCode, a.DurationMs)
	case ahp.TerminalExited:
		l.end(uri, l.running[uri].ID, nil, nil)
	}
}

// begin notes a command until it ends.
func (l *Log) begin(t *terminals.Terminal, info ahp.CommandInfo) {
	c := find.Command{
		Terminal: t.URI(), Name: t.Meta.Name, ID: info.ID, CommandLine: info.CommandLine, Timestamp: info.Timestamp, Cwd: info.Cwd,
	}
	switch person := t.Value.Claim.Kind == ahp.ClaimClient; {
	case !person:
		c.Agent = t.Meta.Agent
	case len(t.Meta.Command) > 0 && !t.Meta.CommandIsShell:
		return // an editor in a popup, say: nobody typed it here
	}
	l.running[t.URI()] = c
}

// end has a command kept.
func (l *Log) end(uri ahp.URI, id string, code *int, took *int64) {
	if c, ok := l.running[uri]; ok && c.ID == id {
		c.ExitCode, c.DurationMs = code, took
		l.add(c)
	}
	delete(l.running, uri)
}

// add has a command written.
func (l *Log) add(c find.Command) {
	line := c.CommandLine
	if strings.TrimSpace(line) == "" || line[0] == ' ' || line[0] == '\t' || len(line) > maxLine {
		return
	}
	b, err := json.Marshal(c)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most <= 0 || l.closed {
		return
	}
	if l.waiting = append(l.waiting, b); len(l.waiting) > maxWaiting {
		l.waiting = l.waiting[1:]
	}
	l.wake.Signal()
}

// write writes what waits, until the Log is closed.
func (l *Log) write() {
	defer close(l.done)
	last := -1
	for {
		l.mu.Lock()
		for len(l.waiting) == 0 && !l.closed && l.most == last {
			l.wake.Wait()
		}
		closed := l.closed
		last = l.most
		l.mu.Unlock()
		if l.flush(); closed {
			return
		}
	}
}

// flush writes what waits.
func (l *Log) flush() {
	l.file.Lock()
	defer l.file.Unlock()
	l.mu.Lock()
	waiting, most := l.waiting, l.most
	l.waiting = nil
	l.mu.Unlock()
	err := l.put(waiting, most)
	if err != nil && !l.trouble {
		l.log.Warn("commands are not kept", "err", err)
	}
	l.trouble = err != nil
}

// put appends commands to the file, and cuts or removes that.
func (l *Log) put(list [][]byte, most int) error {
	if most <= 0 {
		l.lines = 0
		return Forget(filepath.Dir(l.path))
	}
	if l.lines < 0 {
		b, err := l.read()
		if err != nil {
			return err
		}
		l.lines = bytes.Count(b, []byte{'\n'})
	}
	if len(list) > 0 {
		f, err := statefile.Open(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND)
		if err != nil {
			return err
		}
		_, err = f.Write(append(bytes.Join(list, []byte{'\n'}), '\n'))
		if err = errors.Join(err, f.Close()); err != nil {
			l.lines = -1 // a part may be there
			return err
		}
		l.lines += len(list)
	}
	if l.lines <= most+most/4 {
		return nil
	}
	b, err := l.read()
	if err != nil {
		return err
	}
	all := slices.Collect(bytes.Lines(b))
	all = all[max(len(all)-most, 0):]
	if err := statefile.Write(l.path, bytes.Join(all, nil)); err != nil {
		return err
	}
	l.lines = len(all)
	return nil
}

// Forget removes what is kept in a state directory; a Log that is open there goes on.
func Forget(state string) error {
	if err := os.Remove(filepath.Join(state, FileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the history of commands: %w", err)
	}
	return nil
}

// read gives the file's contents, of a file that isn't there nothing.
func (l *Log) read() ([]byte, error) {
	b, err := statefile.Read(l.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
