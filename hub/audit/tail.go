package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/server"
	"tandemux/internal/statefile"
)

// hostSubject begins the subject of a host's records, before its name.
const hostSubject = "audit.host."

// Grant is what a host may do for its own records: add to them.
func Grant(host string) server.Grant { return server.Grant{Publish: []string{hostSubject + host}} }

// Host tells the hub what a host notes in its own log.
type Host struct {
	Name string
	NATS *nats.Conn
	// Path is the host's audit.log, beside which is the one before; Place is a file of this
	// process's own, that says how far the hub was told.
	Path, Place string
	Log         *slog.Logger
}

// place is how far a file was told: by its number, as it is renamed.
type place struct {
	File   uint64 `json:"file"`
	Offset int64  `json:"offset"`
}

const (
	maxLine   = 16 << 10
	tellTime  = 5 * time.Second
	tellAgain = 2 * time.Second
)

// Run tells each line, in their order, until ctx ends: those of before the first time are
// left out. One that the hub does not take is told again until it does.
func (h *Host) Run(ctx context.Context) error {
	js, err := jetstream.New(h.NATS)
	if err != nil {
		return err
	}
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		err = w.Add(filepath.Dir(h.Path))
	}
	if err != nil {
		return fmt.Errorf("follow %s: %w", h.Path, err)
	}
	at, err := h.begin()
	if err != nil {
		return fmt.Errorf("follow %s: %w", h.Path, err)
	}
	for {
		again := time.NewTimer(tellAgain)
		if err = h.tell(ctx, js, &at); err == nil {
			again.Stop()
		} else if ctx.Err() == nil {
			h.Log.Warn("tell the hub what was done here", "err", err)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return nil
			case <-again.C:
				waiting = false
			case e := <-w.Events:
				waiting = err != nil || e.Name != h.Path
			case <-w.Errors:
			}
		}
	}
}

// begin is where to go on.
func (h *Host) begin() (at place, err error) {
	if statefile.ReadJSON(h.Place, 1<<10, &at) == nil {
		return at, nil
	}
	info, err := os.Stat(h.Path)
	if errors.Is(err, os.ErrNotExist) {
		return place{}, nil
	}
	if err != nil {
		return at, err
	}
	at = place{number(info), info.Size()}
	return at, statefile.WriteJSON(h.Place, at)
}

func number(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

// tell says all that is new: the rest of the file before, if that is where it was, then the
// file that is written to.
func (h *Host) tell(ctx context.Context, js jetstream.JetStream, at *place) error {
	for _, path := range []string{h.Path + ".1", h.Path} {
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = h.file(ctx, js, f, path == h.Path, at)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) file(ctx context.Context, js jetstream.JetStream, f *os.File, newest bool, at *place) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch n := number(info); {
	case n == at.File && at.Offset <= info.Size():
	case !newest: // it was told whole, or is older than that
		return nil
	default:
		*at = place{File: n}
	}
	if _, err := f.Seek(at.Offset, io.SeekStart); err != nil {
		return err
	}
	was := at.Offset
	for in := bufio.NewReaderSize(f, maxLine); ; {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !long { // no more, or half a line
			break
		}
		if !long && json.Valid(line) {
			if err := h.say(ctx, js, bytes.TrimSpace(line), *at); err != nil {
				return errors.Join(err, statefile.WriteJSON(h.Place, *at))
			}
		}
		at.Offset += int64(len(line))
	}
	if at.Offset == was && was != 0 {
		return nil
	}
	return statefile.WriteJSON(h.Place, *at)
}

// say tells a line. Its place tells the hub's NATS one that was told before.
func (h *Host) say(ctx context.Context, js jetstream.JetStream, line []byte, at place) error {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	_, err := js.Publish(ctx, hostSubject+h.Name, line, jetstream.WithMsgID(fmt.Sprintf("%s/%d/%d", h.Name, at.File, at.Offset)))
	return err
}

// ofHost is the record that a host's line is. What a host says of others counts for nothing:
// which one it is, the subject says.
func ofHost(host string, line []byte) (Record, bool) {
	var said struct {
		Time                       time.Time
		Level, Msg                 string
		Principal, Person, Channel string
		Refused, Remote            string
	}
	if json.Unmarshal(line, &said) != nil {
		return Record{}, false
	}
	r := Record{Time: said.Time, Host: host, Who: said.Principal, Person: said.Person, What: said.Msg, On: said.Channel, Outcome: "done", Remote: said.Remote, Detail: json.RawMessage(line)}
	if said.Refused != "" || said.Level == "WARN" {
		r.Outcome = "refused"
	}
	return r, r.What != ""
}
