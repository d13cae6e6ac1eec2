package local

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

	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/statefile"
)

// recordName is the file in the runtime directory that says which host runs
// there, and how to bring it back when it has died or made room for its successor.
// A host that ends on purpose says so in it, one that ends with all its terminals
// removes it.
const recordName = "host.json"

// Record is what it takes to bring a host back.
type Record struct {
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

// Program is the path of this program. When the file was replaced while we ran,
// it is the new one's.
func Program() (string, error) {
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

func Identify(path string) (identity, error) {
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

// Running describes the program that this process runs, which need not be what lies
// at its path by now.
func Running() (identity, error) {
	path, err := Program()
	if err != nil {
		return identity{}, err
	}
	id, err := Identify("/proc/self/exe")
	if err != nil { // not Linux
		return Identify(path)
	}
	id.Path = path
	return id, nil
}

// ReadRecord reads the record of the host that runs, or should.
func (d Dirs) ReadRecord() (Record, error) {
	var r Record
	text, err := os.ReadFile(filepath.Join(d.Runtime, recordName))
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(text, &r)
	return r, err
}

// WriteRecord writes the record, whole or not at all.
func (d Dirs) WriteRecord(r Record) error {
	text, err := json.Marshal(r)
	if err == nil {
		err = statefile.Replace(filepath.Join(d.Runtime, recordName), text)
	}
	if err != nil {
		return fmt.Errorf("write down which host runs: %w", err)
	}
	return nil
}

// Ending is what a host does before it tells its clients that it ends, with code.
func (d Dirs) Ending(code int) {
	r, err := d.ReadRecord()
	if code == jsonrpc.CloseRestart || err == nil && r.Pid != os.Getpid() { // another one has taken over
		return
	}
	if r.Ended = true; err == nil && code != jsonrpc.CloseDone && d.WriteRecord(r) == nil {
		return
	}
	os.Remove(filepath.Join(d.Runtime, recordName))
}

// HostDied reports, when no host answers, whether one is to be brought back. Without
// the record, as when the runtime directory was removed, one is if a keeper runs.
func (d Dirs) HostDied() bool {
	r, err := d.ReadRecord()
	if errors.Is(err, fs.ErrNotExist) {
		pid, err := d.KeeperPlace().Holder()
		return err == nil && pid > 0
	}
	return err != nil || !r.Foreground && !r.Ended
}

// bringBack starts a host, the way the one that died was started. One that can't
// listen on its addresses any more serves this machine at least: terminals
// matter more.
func (d Dirs) bringBack() error {
	r, err := d.ReadRecord()
	if err != nil || len(r.Args) == 0 || r.Args[0] != "host" {
		return d.Start(nil, "host")
	}
	err = d.Start(nil, r.Args...)
	if err != nil && len(r.Args) > 1 {
		if again := d.Start(nil, "host"); again == nil {
			return nil
		}
	}
	return err
}

// Reviver dials this user's own host, and brings it back when it has died. A host
// that ended on purpose stays away.
type Reviver struct {
	Dirs    Dirs
	Connect func(context.Context) (jsonrpc.Transport, error)

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
func (r *Reviver) Dial(ctx context.Context) (jsonrpc.Transport, error) {
	t, err := r.Connect(ctx)
	switch was, _ := r.Dirs.ReadRecord(); {
	case err == nil || !NobodyThere(err), was.Foreground && !was.Ended: // who watches over it may start it again
		return t, err
	case !r.Dirs.HostDied():
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
	return r.Connect(ctx)
}

// begin starts a host, unless that is under way.
func (r *Reviver) begin() *revival {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.start != nil {
		return r.start
	}
	s := &revival{done: make(chan struct{})}
	r.start = s
	go func() {
		s.err = r.Dirs.StartOnce(func() bool {
			err := Dialled(r.Connect(context.Background())) // one that refuses is there
			return !NobodyThere(err) || !r.Dirs.HostDied()
		})
		r.mu.Lock()
		r.start = nil
		r.mu.Unlock()
		close(s.done)
	}()
	return s
}

// Dialled is the error of a dial that only asks whether somebody is there.
func Dialled(t jsonrpc.Transport, err error) error {
	if err == nil {
		t.Close(jsonrpc.CloseDone, "") //nolint:errcheck // see above
	}
	return err
}
