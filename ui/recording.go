package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Recorder is a Desk that records terminals. The command "record" needs it.
type Recorder interface {
	// Record writes what a terminal shows from now on to a file that is not there
	// yet; ~ is the home directory. It gives the file's full name.
	Record(ctx context.Context, uri ahp.URI, path string) (r Recording, full string, err error)
}

// Recording is one that runs. It ends by itself with its terminal's program, and
// with this client. The methods may be called from any goroutine.
type Recording interface {
	// Input takes what was typed.
	Input(data []byte)
	// Stop ends it and says how long it is, or what was wrong with it.
	Stop() (time.Duration, error)
}

// recorded is a terminal that is being recorded.
type recorded struct {
	Recording
	path string
}

// record begins to record the focused terminal, asking for a file's name without
// one, or ends that.
func record(m *Model, args []string) {
	_, t, _ := m.focused()
	recorder, ok := m.cfg.Desk.(Recorder)
	switch {
	case t == nil:
	case m.recordings[t.uri] != nil:
		m.endRecording(t.uri)
	case !ok:
		m.loop.Say(status.Info, "there is nowhere to record to")
	case t.exited():
		m.loop.Say(status.Info, "there is nothing to record: the program has ended")
	case len(args) > 0:
		m.startRecording(recorder, t, strings.Join(args, " "))
	default:
		name := fmt.Sprintf("~/tandemux-%s.cast", m.env.Now().Format("20060102-150405"))
		m.loop.Open(overlay.NewPrompt("record to", name, func(path string) {
			if path != "" {
				m.startRecording(recorder, t, path)
			}
		}))
	}
}

func (m *Model) startRecording(recorder Recorder, t *terminal, path string) {
	uri := t.uri
	m.loop.Async("record to "+path, func(ctx context.Context) (func(), error) {
		r, full, err := recorder.Record(ctx, uri, path)
		return func() {
			if err != nil {
				return
			}
			if m.recordings == nil {
				m.recordings = map[ahp.URI]*recorded{}
			}
			m.recordings[uri] = &recorded{r, words.Shorten(full, m.cfg.home())}
			m.loop.Dirty |= loop.Chrome
			m.loop.Brief("%s ends it: recording to %s", m.keysOf("record"), m.recordings[uri].path)
		}, err
	})
}

// endRecording ends a terminal's recording and says where it is.
func (m *Model) endRecording(uri ahp.URI) {
	r := m.recordings[uri]
	delete(m.recordings, uri)
	m.loop.Dirty |= loop.Chrome
	m.loop.Async("record to "+r.path, func(context.Context) (func(), error) {
		took, err := r.Stop()
		return func() {
			if err == nil {
				m.loop.Say(status.Info, "recorded %s to %s", pane.Lasted(took), r.path)
			}
		}, err
	})
}

// endRecordings ends the recordings of terminals whose program has ended or that
// are gone.
func (m *Model) endRecordings() {
	for uri := range m.recordings {
		if t := m.terms.get(uri); t == nil || t.exited() || t.done {
			m.endRecording(uri)
		}
	}
}

// leaveRecordings ends all recordings, which this client makes, and says so for the
// note that it leaves with.
func (m *Model) leaveRecordings() string {
	var paths []string
	for uri, r := range m.recordings {
		paths = append(paths, r.path)
		m.endRecording(uri)
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

// recordInput puts what is typed into a terminal's recording, where the person
// wants that.
func (m *Model) recordInput(uri ahp.URI, data []byte) {
	if r := m.recordings[uri]; r != nil && m.cfg.RecordInput {
		r.Input(data)
	}
}
