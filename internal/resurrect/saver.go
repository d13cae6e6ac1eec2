package resurrect

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/config/option"
	"tandemux/internal/memtrim"
	"tandemux/internal/pace"
)

// settle is how long changes are gathered before they are written.
const gatherTime = time.Second

// Saver follows a host and writes down what changes. It is the Sink of the
// client that it is given to Run with.
// It implements client.Sink.
type Saver struct {
	*client.Mirror
	dir    string
	report func(about string, err error)
	wake   chan struct{}
	work   sync.WaitGroup // recorders

	mu        sync.Mutex // guards the following
	stopped   bool
	history   HistoryOptions
	recorders map[ahp.URI]*recorder
	wanted    map[ahp.URI]bool // whose files were left when others were removed

	telling sync.Mutex // guards the following
	failed  bool       // to keep histories
}

// New makes a saver for a state directory. report is called with the error when
// writing fails, and with nil when it works again, from any goroutine but never
// within Stop.
func New(dir string, report func(about string, err error)) *Saver {
	return &Saver{
		Mirror: client.NewMirror(0), dir: dir, report: report, wake: make(chan struct{}, 1), recorders: map[ahp.URI]*recorder{},
	}
}

func (k *Saver) changed() { pace.Wake(k.wake) }

func (k *Saver) Snapshot(s ahp.Snapshot) {
	k.Mirror.Snapshot(s)
	k.changed()
}

func (k *Saver) Action(e ahp.Envelope) {
	k.Mirror.Action(e)
	k.changed()
}

// Stop ends all writing: later changes come from the host shutting down.
func (k *Saver) Stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
}

// Run writes what changes until ctx ends. It follows each layout that shows something.
func (k *Saver) Run(ctx context.Context, c *client.Client) {
	follows := map[ahp.URI]bool{}
	var last []byte
	failed := false
	defer k.release()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Done():
			return
		case <-k.wake:
		}
		if !pace.Sleep(ctx, gatherTime) {
			return
		}
		k.follow(ctx, c, follows) // now: a layout that is left out would be lost with the machine
		k.assign(ctx, c)
		err := k.save(follows, &last)
		if err != nil || failed {
			k.report(aboutLayouts, err)
		}
		failed = err != nil
		memtrim.Rest()
	}
}

func (k *Saver) follow(ctx context.Context, c *client.Client, follows map[ahp.URI]bool) {
	root, _ := k.Root()
	if root.Meta == nil {
		return
	}
	for uri := range root.Meta.Layouts {
		if !follows[uri] && len(follows) < maxLayouts {
			follows[uri] = c.Subscribe(ctx, uri) == nil
		}
	}
}

// save writes the file if its content has changed.
func (k *Saver) save(follows map[ahp.URI]bool, last *[]byte) error {
	m := k.current(follows)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return nil
	}
	text := m.compare()
	if bytes.Equal(text, *last) {
		return nil
	}
	m.Saved = time.Now()
	if err := m.write(k.dir); err != nil {
		return err
	}
	*last = text
	return nil
}

// current is what there is to save now.
func (k *Saver) current(follows map[ahp.URI]bool) File {
	m := File{Version: formatVersion, Layouts: []Layout{}, Terminals: []Terminal{}}
	shown := map[ahp.URI]bool{}
	for uri, yes := range follows {
		l, ok := k.Layout(uri)
		if !yes || !ok || len(l.Terminals) == 0 {
			continue
		}
		m.Layouts = append(m.Layouts, Layout{URI: uri, Doc: l.Doc, Terminals: l.Terminals})
		for _, t := range l.Terminals {
			shown[t] = true
		}
	}
	slices.SortFunc(m.Layouts, func(a, b Layout) int { return bytes.Compare([]byte(a.URI), []byte(b.URI)) })
	root, _ := k.Root()
	for _, info := range root.Terminals {
		if !shown[info.Resource] || len(m.Terminals) == maxTerminals {
			continue
		}
		t := Terminal{URI: info.Resource, Title: info.Title}
		if meta := info.Meta; meta != nil {
			if t.Name = meta.Name; t.Name != "" {
				t.Title = meta.Title
			}
			t.Cwd, t.Command = meta.Cwd, meta.Command
			if c := meta.LastCommand; c != nil && c.Running && meta.RunsShell() {
				t.Line = c.CommandLine
			}
		}
		m.Terminals = append(m.Terminals, t)
	}
	return m
}

// Settings say what comes back after a restart of the machine.
type Settings struct {
	// RestoreCommands are the programs that are run again.
	RestoreCommands []string
	// HistoryOnDisk keeps what terminals show on disk, of all together at most
	// HistoryOnDiskLimit MiB.
	HistoryOnDisk      bool
	HistoryOnDiskLimit int
}

// History is the part about what terminals show.
func (s *Settings) History() HistoryOptions {
	return HistoryOptions{On: s.HistoryOnDisk, Limit: int64(s.HistoryOnDiskLimit) << 20}
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{
		{
			Name: "restore-commands", Value: &s.RestoreCommands,
			Doc: "Programs that run again after a restart of the machine, such as [\"vim\", \"htop\"]; others leave a shell.",
		},
		{
			Name: "history-on-disk", Value: &s.HistoryOnDisk,
			Doc: "What your terminals show, printed passwords too, is kept on disk, for you alone, and is back after a restart of the machine; false removes it.",
		},
		{
			Name: "history-on-disk-limit", Value: option.Default(&s.HistoryOnDiskLimit, 64), Min: 1, Max: 4096,
			Doc: "How many MiB of it are kept.",
		},
	}
}
