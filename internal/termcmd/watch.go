package termcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/pace"
)

func newWatchCommand() *cobra.Command {
	var in struct {
		Snapshots bool `flag:"snapshots" doc:"Also print the states it starts from, as {\"resource\", \"state\", \"fromSeq\"}"`
	}
	return cli.WithJSON(cli.Command("watch [ID...]", `Stream what happens as JSON lines
Each is an action, {"channel", "action", "serverSeq", …}, until interrupted or until the
host is stopped: those of the list of terminals and of every terminal, new ones too; or
those of the terminals named, until all of them have ended. Of one that has ended
before, its state is printed, as with --snapshots.`, &in, func(cmd *cobra.Command, args []string) error {
		p, err := endpoint.Of(cmd)
		if err != nil {
			return err
		}
		w := &watcher{mirror: client.NewMirror(0), cmd: cmd, snapshots: in.Snapshots, changed: make(chan struct{}, 1), closed: make(chan struct{})}
		c, err := endpoint.Connect(cmd.Context(), p, endpoint.Options{Sink: w, Reconnect: true, Kind: "watch"})
		if err != nil {
			return err
		}
		defer c.Close()
		return w.follow(cmd.Context(), endpoint.NewConn(c, w.mirror, p), args)
	}), cli.Stream[ahp.Envelope](), cli.Stream[ahp.Snapshot]())
}

// watcher is the sink that prints. The mirror tells it which terminals exist.
// It implements client.Sink.
type watcher struct {
	mirror    *client.Mirror
	snapshots bool
	changed   chan struct{} // the list of terminals may have changed
	closed    chan struct{}

	mu  sync.Mutex // guards the following
	cmd *cobra.Command
	all bool // also print the root channel
	err error
	// running are the terminals named that have not ended.
	running map[ahp.URI]bool
}

func printed[T any](w *watcher, channel ahp.URI, v T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || channel == ahp.RootURI && !w.all {
		return
	}
	if w.err = cli.PrintLine[T](w.cmd, v); w.err != nil {
		w.wake() // the reader of our output went away
	}
}

func (w *watcher) wake() { pace.Wake(w.changed) }

func (w *watcher) Snapshot(s ahp.Snapshot) {
	if s.Resource == ahp.RootURI {
		w.mirror.Snapshot(s)
	}
	w.mu.Lock()
	named := w.running[s.Resource]
	w.mu.Unlock()
	var state ahp.TerminalState
	over := named && json.Unmarshal(s.State, &state) == nil && state.Lifecycle.Exited()
	if w.snapshots || over {
		printed(w, s.Resource, s)
	}
	if over {
		w.end(s.Resource)
	}
}

// end notes that a terminal has ended.
func (w *watcher) end(uri ahp.URI) {
	w.mu.Lock()
	delete(w.running, uri)
	w.mu.Unlock()
	w.wake()
}

func (w *watcher) Action(e ahp.Envelope) {
	if e.Channel == ahp.RootURI {
		w.mirror.Action(e)
		w.wake()
	}
	printed(w, e.Channel, e)
	if _, over := e.Action.(ahp.TerminalExited); over {
		w.end(e.Channel)
	}
}

func (w *watcher) Gone(ahp.URI) {}

func (w *watcher) Status(s client.Status, _ error) {
	if s == client.Closed {
		close(w.closed)
	}
}

// follow subscribes to what is named, or to everything as it appears.
func (w *watcher) follow(ctx context.Context, s *endpoint.Conn, ids []string) error {
	seen, named := map[ahp.URI]bool{}, map[ahp.URI]bool{}
	for _, id := range ids {
		t, err := s.Terminal(id)
		if err != nil {
			return err
		}
		named[t.Resource] = true
	}
	w.mu.Lock()
	w.all, w.running = len(ids) == 0, maps.Clone(named)
	w.mu.Unlock()
	for uri := range named {
		if err := s.Subscribe(ctx, uri); err != nil {
			return err
		}
	}
	for {
		if len(ids) == 0 {
			for _, t := range s.Terminals() {
				if seen[t.Resource] {
					continue
				}
				seen[t.Resource] = true
				// A terminal that is gone again by now is no failure.
				if err := s.Subscribe(ctx, t.Resource); err != nil && !errors.Is(err, &ahp.Error{Code: ahp.CodeNotFound}) {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.closed:
			return errors.New("the host closed the connection")
		case <-w.changed:
		}
		w.mu.Lock()
		err, over := w.err, len(ids) > 0 && len(w.running) == 0
		w.mu.Unlock()
		if err != nil || over {
			return err
		}
	}
}

func newWaitCommand() *cobra.Command {
	var in struct {
		Exit    bool          `flag:"exit" doc:"Until its program has exited; exit with its exit code"`
		Command bool          `flag:"command" doc:"Until the command that runs now has finished"`
		Idle    time.Duration `flag:"idle" doc:"Until there is no output for this long, such as 500ms"`
		Text    cli.Pattern   `flag:"text" doc:"Until a line of output matches this regular expression"`
		New     bool          `flag:"new" doc:"For --text: what is there already does not count, but for the cursor's line"`
		Timeout time.Duration `flag:"timeout" doc:"Give up after this long (exit code 124)"`
	}
	cmd := cli.WithJSON(onTerminal("wait ID", `Wait until a terminal's program, command or output is done
It is waited, in the host, until the terminal's program has exited (--exit, with its
exit code), until the command that its shell runs now has finished (--command), until
there is no output for a time (--idle), or until a line of output matches an RE2
expression (--text). What the command that runs now has printed since it began counts,
or the program of a terminal whose shell does not tell of commands, and all output from
now on; with --new only that and the line that the cursor is on. It returns at once,
with exit code 1, when what it is bound to is gone:
the terminal, or for --text the command that ran when it began; and when the exit
code is not known, as that of a program whose keeper was killed; 124 when --timeout is
over.

  tandemux wait build --command --timeout 10m
  tandemux wait server --text 'listening on .*:8080'`, &in,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
			p := ahp.WaitParams{Channel: t.Resource, TimeoutMs: in.Timeout.Milliseconds()}
			switch {
			case in.Exit:
				p.Until = ahp.WaitExit
			case in.Command:
				p.Until = ahp.WaitCommand
			case cmd.Flags().Changed("idle"):
				p.Until, p.IdleMs = ahp.WaitIdle, in.Idle.Milliseconds()
			default:
				p.Until, p.Pattern, p.New = ahp.WaitText, string(in.Text), in.New
			}
			var r ahp.WaitResult
			if err := s.Carry(ctx, ahp.MethodWait, p, &r); err != nil {
				return err
			}
			err := cli.Print(cmd, r, func(w io.Writer) error {
				if r.Line != "" {
					fmt.Fprintln(w, r.Line)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return waited(p, r, endpoint.LastPart(t.Resource), in.Timeout)
		}), cli.One[ahp.WaitResult]())
	cmd.MarkFlagsMutuallyExclusive("exit", "command", "idle", "text")
	cmd.MarkFlagsOneRequired("exit", "command", "idle", "text")
	for _, other := range []string{"exit", "command", "idle"} {
		cmd.MarkFlagsMutuallyExclusive("new", other)
	}
	return cmd
}

// waited makes the exit code and the words of a wait's end.
func waited(p ahp.WaitParams, r ahp.WaitResult, id string, timeout time.Duration) error {
	switch r.Reason {
	case ahp.WaitMet:
		switch {
		case p.Until != ahp.WaitExit:
			return nil
		case r.ExitCode == nil:
			return fmt.Errorf("the program of terminal %s has exited, but its exit code is not known: the keeper, which would have been told, was gone", id)
		case *r.ExitCode != 0:
			return cli.StatusError{Code: *r.ExitCode}
		}
		return nil
	case ahp.WaitTimeout:
		what := "its program has ended"
		if r.Running {
			what = "it still runs"
		}
		return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v waiting for terminal %s; %s", timeout, id, what)}
	case ahp.WaitFinished:
		return fmt.Errorf("the command in terminal %s has finished, and no line matched %q", id, p.Pattern)
	case ahp.WaitExited:
		if p.Until == ahp.WaitText {
			return fmt.Errorf("the program of terminal %s has exited, and no line matched %q", id, p.Pattern)
		}
		return fmt.Errorf("the program of terminal %s has exited", id)
	case ahp.WaitGone:
		return fmt.Errorf("the terminal %s was removed", id)
	case ahp.WaitOverrun:
		return fmt.Errorf("the output of terminal %s came faster than it could be searched; wait for something simpler", id)
	}
	return fmt.Errorf("wait for terminal %s: the host answers %q, which this version does not know", id, r.Reason)
}
