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
	// Record records a terminal from now on to a new file; ~ is the home directory. It returns
	// the file's full name.
	Record(ctx context.Context, uri ahp.URI, path string) (r Recording, full string, err error)
}

// Recording is a running recording. It ends with its terminal's program or with this client. The
// methods may be called from any goroutine.
type Recording interface {
	Input(data []byte)
	// Stop ends the recording and returns its length, or what went wrong.
	Stop() (time.Duration, error)
}

// recorded is a terminal that is being recorded.
type recorded struct {
	Recording
	path string
}

// Recordings is the running recordings.
type Recordings struct {
	loop     *loop.Loop
	recorder Recorder // may be nil
	byURI    map[ahp.URI]*recorded
}

// New makes an empty Recordings. recorder may be nil.
func New(l *loop.Loop, recorder Recorder) *Recordings {
	return &Recordings{loop: l, recorder: recorder, byURI: map[ahp.URI]*recorded{}}
}

// Of reports whether a terminal is being recorded.
func (rs *Recordings) Of(uri ahp.URI) bool { return rs.byURI[uri] != nil }

// Toggle starts to record a terminal, or ends its recording. It asks for the file's name if args
// has none. exited says that the terminal's program has ended.
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

// Prune ends the recordings of terminals for which runs returns false.
func (rs *Recordings) Prune(runs func(ahp.URI) bool) {
	for uri := range rs.byURI {
		if !runs(uri) {
			rs.end(uri)
		}
	}
}

// Leave ends all recordings. It returns a text about them for the note on leaving.
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

// Input adds what is typed to a terminal's recording, if there is one.
func (rs *Recordings) Input(uri ahp.URI, data []byte) {
	if r := rs.byURI[uri]; r != nil {
		r.Input(data)
	}
}
