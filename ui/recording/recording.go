package recording

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

type Recorder interface {
	// Record writes what a terminal shows from now on to a file that is not there
	// yet; ~ is the home directory. It gives the file's full name.
	Record(ctx context.Context, uri ahp.URI, path string) (r Recording, full string, err error)
}

// Recording is one that runs. It ends by itself with its terminal's program, and
// with this client. The methods may be called from any goroutine.
type Recording interface {
	Input(data []byte)
	// Stop ends it and says how long it is, or what was wrong with it.
	Stop() (time.Duration, error)
}

// recorded is a terminal that is being recorded.
type recorded struct {
	Recording
	path string
}

// Recordings are those that run. They end with this client.
type Recordings struct {
	loop     *loop.Loop
	recorder Recorder // may be nil
	byURI    map[ahp.URI]*recorded
}

// New makes an empty set of recordings. recorder may be nil.
func New(l *loop.Loop, recorder Recorder) *Recordings {
	return &Recordings{loop: l, recorder: recorder, byURI: map[ahp.URI]*recorded{}}
}

// Of reports whether a terminal is recorded.
func (rs *Recordings) Of(uri ahp.URI) bool { return rs.byURI[uri] != nil }

// Toggle begins to record a terminal, asking for a file's name where args have none,
// or ends that. exited says that its program has ended.
func (rs *Recordings) Toggle(uri ahp.URI, exited bool, args []string) {
	switch {
	case rs.Of(uri):
		rs.end(uri)
	case rs.recorder == nil:
		rs.loop.Say(status.Info, "there is nowhere to record to")
	case exited:
		rs.loop.Say(status.Info, "there is nothing to record: the program has ended")
	default:
		name := fmt.Sprintf("~/tandemux-%s.cast", rs.loop.Now().Format("20060102-150405"))
		rs.loop.Ask(args, "record to", name, func(path string) {
			if path != "" {
				rs.start(uri, path)
			}
		})
	}
}

func (rs *Recordings) start(uri ahp.URI, path string) {
	rs.loop.Async("record to "+path, func(ctx context.Context) (func(), error) {
		r, full, err := rs.recorder.Record(ctx, uri, path)
		return func() {
			if err != nil {
				return
			}
			full = words.Shorten(full, rs.loop.Home)
			rs.byURI[uri] = &recorded{r, full}
			rs.loop.Dirty |= loop.Chrome
			rs.loop.Brief("%s ends it: recording to %s", rs.loop.Keys("record"), full)
		}, err
	})
}

// end ends a terminal's recording and says where it is.
func (rs *Recordings) end(uri ahp.URI) {
	r := rs.byURI[uri]
	delete(rs.byURI, uri)
	rs.loop.Dirty |= loop.Chrome
	loop.Get(rs.loop, "record to "+r.path, func(context.Context) (time.Duration, error) { return r.Stop() }, func(took time.Duration) {
		rs.loop.Say(status.Info, "recorded %s to %s", words.Lasted(took), r.path)
	})
}

// Prune ends the recordings of terminals that don't run any more.
func (rs *Recordings) Prune(runs func(ahp.URI) bool) {
	for uri := range rs.byURI {
		if !runs(uri) {
			rs.end(uri)
		}
	}
}

// Leave ends all recordings, and says so for the note that the client leaves with.
func (rs *Recordings) Leave() string {
	var paths []string
	for uri, r := range rs.byURI {
		paths = append(paths, r.path)
		rs.end(uri)
	}
	slices.Sort(paths)
	switch len(paths) {
	case 0:
		return ""
	case 1:
		return "\nbut the recording to " + paths[0] + " ended with the interface; tandemux record goes on without one"
	}
	return "\nbut these recordings ended with the interface, as tandemux record would not: " + strings.Join(paths, ", ")
}

// Input puts what is typed into a terminal's recording, if there is one.
func (rs *Recordings) Input(uri ahp.URI, data []byte) {
	if r := rs.byURI[uri]; r != nil {
		r.Input(data)
	}
}
