package terminals

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/internal/jsonrpc"
)

// FeedDir is the directory below Config.Runtime that holds the named pipes of
// commands that a shell starts.
const FeedDir = "feed"

// maxFeed bounds one x-tandemux/feed in bytes.
const maxFeed = 1 << 20

// Feeder is a pipe that a command reads as its standard input, and that a client
// fills: what is sent is not typed into the terminal, so it is neither echoed, nor
// does a shell ever read what its command left.
type Feeder struct {
	c      *requests.Conn // whose it is
	path   string         // "" for a pipe without a name
	reach  string         // a path that is good as long as hold is open
	chunks chan chunk     // holds one
	over   chan struct{}
	once   sync.Once

	mu   sync.Mutex
	pipe *os.File // nil until the shell has opened it
	hold *os.File
	stop *os.File // opened by End instead, so that open returns
}

// chunk is one request.
type chunk struct {
	req  *jsonrpc.Request
	data []byte
	end  bool
}

// newPipe gives a Feeder and what the command reads.
func newPipe(ts *Terminals, c *requests.Conn) (*Feeder, *os.File, error) {
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return nil, nil, ahp.Internal("make a pipe for the command: %v", err)
	}
	f := &Feeder{c: c, chunks: make(chan chunk, 1), over: make(chan struct{}), pipe: pipe}
	ts.feeding.Go(f.run)
	return f, stdin, nil
}

// NewFeeder makes a pipe with a name, which a shell opens (Redirect).
func (ts *Terminals) NewFeeder(c *requests.Conn) (*Feeder, error) {
	dir := filepath.Join(ts.Runtime, FeedDir)
	f := &Feeder{c: c, path: filepath.Join(dir, strings.ToLower(rand.Text())), chunks: make(chan chunk, 1), over: make(chan struct{})}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = syscall.Mkfifo(f.path, 0o600)
	}
	if err == nil {
		f.hold, f.reach, err = hold(f.path)
	}
	if err != nil {
		return nil, ahp.Internal("make a pipe for the command: %v", err)
	}
	ts.feeding.Go(func() { f.open(); f.run() })
	return f, nil
}

// open opens the pipe, which takes until the shell does.
func (f *Feeder) open() {
	pipe, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	os.Remove(f.path)
	if err != nil {
		f.End()
	}
	f.mu.Lock()
	f.pipe = pipe
	f.stop.Close() // nil is fine
	f.hold.Close()
	f.mu.Unlock()
}

// run fills the pipe.
func (f *Feeder) run() {
	defer f.pipe.Close()
	for open := true; ; {
		select {
		case c := <-f.chunks:
			if open {
				_, err := f.pipe.Write(c.data)
				open = err == nil
			}
			if c.end {
				open = false
				f.pipe.Close() // the command's end of input
			}
			f.c.Out.RPC.Reply(c.req, ahp.FeedResult{Open: open}, nil) //nolint:errcheck // a connection that has ended needs no answer
		case <-f.over:
			select {
			case c := <-f.chunks:
				f.c.Out.RPC.Reply(c.req, ahp.FeedResult{}, nil) //nolint:errcheck // see above
			default:
			}
			return
		}
	}
}

// End closes the pipe, also one that was never opened. It may be nil.
func (f *Feeder) End() {
	if f == nil {
		return
	}
	f.once.Do(func() {
		close(f.over)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.pipe != nil {
			f.pipe.Close() // ends a write
			return
		}
		f.stop, _ = os.OpenFile(f.reach, os.O_RDWR, 0)
	})
}

// feed fills a command's standard input (x-tandemux/feed). The answer comes when
// the pipe has taken it: then the next may be sent.
func (ts *Terminals) feed(_ context.Context, c *requests.Conn, p ahp.FeedParams) (any, error) {
	if len(p.Data) > maxFeed {
		return nil, ahp.InvalidParams("feed: data: more than %d bytes at once", maxFeed)
	}
	tx := ts.Core.Lock()
	defer tx.Unlock()
	t, err := Find(tx, c.Principal, p.Channel, "feed")
	if err != nil {
		return nil, err
	}
	if t.feed == nil || t.feed.c != c {
		return ahp.FeedResult{}, nil
	}
	select {
	case t.feed.chunks <- chunk{c.Req, p.Data, p.End}:
		return nil, jsonrpc.ErrReplied
	default:
		return nil, ahp.Conflict("feed: wait for the answer to the last one")
	}
}

// SetFeed gives a terminal a Feeder, ending another.
func (t *Terminal) SetFeed(tx core.Tx, f *Feeder) {
	t.feed.End()
	t.feed = f
}

// fed makes a command read a Feeder that has a name.
func (f *Feeder) fed(argv []string) []string {
	return append([]string{"/bin/sh", "-c", `in=$1; shift; exec "$@" <"$in"`, "tandemux", f.path}, argv...)
}

// Redirect is fed for a command line.
func (f *Feeder) Redirect(line string) string { return fmt.Sprintf("%s <%s", line, f.path) }
