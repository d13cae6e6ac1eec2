package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	asked   bool // to write
	wake    *sync.Cond

	file    sync.Mutex // guards the file, and is taken before mu
	lines   int        // in the file; -1 while that is not known
	trouble bool       // it could not be written last; that was told
	failed  func(error)
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

// OnFailure has f told, in a goroutine of its own, that commands can't be written, until
// Write can, and with nil that they are. The Log may be nil; without f they are logged.
func (l *Log) OnFailure(f func(error)) {
	if l == nil {
		return
	}
	l.file.Lock()
	defer l.file.Unlock()
	l.failed, l.trouble = f, false // so that what was logged is told
}

// Set takes other settings.
func (l *Log) Set(s Settings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = s.CommandHistory
	l.ask()
}

// Close ends the Log when all is written.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	l.ask()
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
	l.ask()
}

// ask has what waits written. mu must be held.
func (l *Log) ask() {
	l.asked = true
	l.wake.Signal()
}

// write writes what waits, until the Log is closed.
func (l *Log) write() {
	defer close(l.done)
	for {
		l.mu.Lock()
		for !l.asked {
			l.wake.Wait()
		}
		l.asked = false
		closed := l.closed
		l.mu.Unlock()
		if l.Write(); closed { //nolint:errcheck // it was told
			return
		}
	}
}

// Write writes what waits; what can't be written waits on.
func (l *Log) Write() error {
	l.file.Lock()
	defer l.file.Unlock()
	l.mu.Lock()
	waiting, most := l.waiting, l.most
	l.waiting = nil
	l.mu.Unlock()
	err := l.put(waiting, most)
	if err == nil {
		err = l.cut(most)
	} else {
		l.mu.Lock()
		l.waiting = append(waiting, l.waiting...)
		l.waiting = l.waiting[max(len(l.waiting)-maxWaiting, 0):]
		l.mu.Unlock()
	}
	switch {
	case (err != nil) == l.trouble:
	case l.failed != nil:
		go l.failed(err)
	case err != nil:
		l.log.Warn("commands are not kept", "err", err)
	}
	l.trouble = err != nil
	return err
}

// put appends commands to the file, all or none, or removes that.
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
		end, err := f.Seek(0, io.SeekEnd)
		if err == nil {
			if _, err = f.Write(append(bytes.Join(list, []byte{'\n'}), '\n')); err != nil {
				err = errors.Join(err, f.Truncate(end)) // a part may be there
			}
		}
		if err = errors.Join(err, f.Close()); err != nil {
			l.lines = -1
			return err
		}
		l.lines += len(list)
	}
	return nil
}

// cut takes the oldest commands out of the file, when there are many more than there may be.
func (l *Log) cut(most int) error {
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
