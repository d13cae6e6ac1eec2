package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
)

// recordName is the file in the runtime directory that says which host runs
// there, and how to bring it back when it has died or made room for its successor.
// A host that ends on purpose says so in it, one that ends with all its terminals
// removes it.
const recordName = "host.json"

// hostRecord is what it takes to bring a host back.
type hostRecord struct {
	Pid     int      `json:"pid"`
	Version string   `json:"version"`
	Program identity `json:"program"` // what it runs
	// Args are those of `tandemux`, with the addresses that the host got.
	Args   []string `json:"args"`
	Keeper int      `json:"keeper"` // pid
	// Journal is the form in which it leaves its state (journal.Format).
	Journal int `json:"journal"`
	// Foreground says that somebody watches over it, who may start it again.
	Foreground bool `json:"foreground,omitempty"`
	// Ended says that it ended on purpose.
	Ended bool `json:"ended,omitempty"`
}

// identity tells one program file from another of the same path.
type identity struct {
	Path  string `json:"path"`
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`
	Time  int64  `json:"time"` // of its last change, in ns
}

// program is the path of this program. When the file was replaced while we ran,
// it is the new one's.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	// The kernel's way to say that what we run has lost its name.
	if path, gone := strings.CutSuffix(self, " (deleted)"); gone {
		if _, err := os.Stat(self); err != nil {
			return path, nil
		}
	}
	return self, nil
}

// identify describes a program file.
func identify(path string) (identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return identity{}, fmt.Errorf("look at the program: %w", err)
	}
	id := identity{Path: path, Size: info.Size(), Time: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id.Inode = st.Ino
	}
	return id, nil
}

// running describes the program that this process runs, which need not be what lies
// at its path by now.
func running() (identity, error) {
	path, err := program()
	if err != nil {
		return identity{}, err
	}
	id, err := identify("/proc/self/exe")
	if err != nil { // not Linux
		return identify(path)
	}
	id.Path = path
	return id, nil
}

// record reads the record of the host that runs, or should.
func (d dirs) record() (hostRecord, error) {
	var r hostRecord
	text, err := os.ReadFile(filepath.Join(d.runtime, recordName))
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(text, &r)
	return r, err
}

// putRecord writes the record, whole or not at all.
func (d dirs) putRecord(r hostRecord) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := filepath.Join(d.runtime, recordName)
	temp := fmt.Sprintf("%s.%d", path, os.Getpid())
	err = os.WriteFile(temp, text, 0o600)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("write down which host runs: %w", err)
	}
	return nil
}

// ending is what a host does before it tells its clients that it ends, with code.
func (d dirs) ending(code int) {
	r, err := d.record()
	if code == ahp.CloseRestart || err == nil && r.Pid != os.Getpid() { // another one has taken over
		return
	}
	if r.Ended = true; err == nil && code != closeStopped && d.putRecord(r) == nil {
		return
	}
	os.Remove(filepath.Join(d.runtime, recordName))
}

// died reports, when no host answers, whether one is to be brought back. Without
// the record, as when the runtime directory was removed, one is if a keeper runs.
func (d dirs) died() bool {
	r, err := d.record()
	if errors.Is(err, fs.ErrNotExist) {
		pid, err := d.keeperPlace().Holder()
		return err == nil && pid > 0
	}
	return err != nil || !r.Foreground && !r.Ended
}

// bringBack starts a host, the way the one that died was started. One that can't
// listen on its addresses any more serves this machine at least: terminals
// matter more.
func bringBack(d dirs) error {
	r, err := d.record()
	if err != nil || len(r.Args) == 0 || r.Args[0] != "host" {
		return startHost(d, hostOptions{})
	}
	err = startBackground(d, r.Args...)
	if err != nil && len(r.Args) > 1 {
		if again := startHost(d, hostOptions{}); again == nil {
			return nil
		}
	}
	return err
}

// reviver dials this user's own host, and brings it back when it has died. A host
// that ended on purpose stays away.
type reviver struct {
	dirs dirs
	dial func(context.Context) (jsonrpc.Transport, error)

	mu    sync.Mutex
	start *revival // under way, nil for none
}

// revival is a start under way.
type revival struct {
	done chan struct{}
	err  error // once done is closed
}

// Dial connects. However long a start takes, it returns when ctx ends; the next
// call then waits for the same start.
func (r *reviver) Dial(ctx context.Context) (jsonrpc.Transport, error) {
	t, err := r.dial(ctx)
	switch was, _ := r.dirs.record(); {
	case err == nil || !isNobodyThere(err), was.Foreground && !was.Ended: // who watches over it may start it again
		return t, err
	case !r.dirs.died():
		return nil, fmt.Errorf("%w: %w", client.ErrAbsent, err)
	}
	s := r.begin()
	select {
	case <-s.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the host to start: %w", ctx.Err())
	}
	if s.err != nil {
		return nil, fmt.Errorf("bring the host back: %w", s.err)
	}
	return r.dial(ctx)
}

// begin starts a host, unless that is under way.
func (r *reviver) begin() *revival {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.start != nil {
		return r.start
	}
	s := &revival{done: make(chan struct{})}
	r.start = s
	go func() {
		s.err = startOnce(r.dirs, func() bool { return r.answers() || !r.dirs.died() })
		r.mu.Lock()
		r.start = nil
		r.mu.Unlock()
		close(s.done)
	}()
	return s
}

func (r *reviver) answers() bool {
	t, err := r.dial(context.Background())
	if err != nil {
		return !isNobodyThere(err) // one that refuses is there
	}
	t.Close(1000, "") //nolint:errcheck // only asked whether somebody is there
	return true
}
