package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/plaintext"
)

// runOptions are the flags of `tandemux run`.
type runOptions struct {
	Terminal string        `flag:"terminal" doc:"Run it in the shell of this terminal"`
	Timeout  time.Duration `flag:"timeout" doc:"Give up waiting after this long, such as 30s (exit code 124)"`
	Raw      bool          `flag:"raw" doc:"Print the output with its escape sequences"`
	Keep     bool          `flag:"keep" doc:"Keep the new terminal afterwards"`
	Name     string        `flag:"name" doc:"Name of the new terminal"`
	Cwd      string        `flag:"cwd" doc:"Working directory of the new terminal (default: the current one)"`
	Size     string        `flag:"size" doc:"Size of the new terminal as COLSxROWS (default 80x24)"`
	Chat     bool          `flag:"chat" doc:"For the chat whose agent's shell this is"`
	JSON     bool
}

// Command is `tandemux run`.
func Command() *cobra.Command {
	var o runOptions
	cmd := cli.WithJSON(cli.Command("run -- COMMAND [ARG...]", `Run a command in a terminal; print its output and exit as it does
COMMAND runs in a new terminal, or with --terminal in a shell that waits for a
command, with that shell's environment and directory. Its output is printed as
plain text: without colours and controls, lines as they were left. The exit code
is the command's, 128+n when signal n ended it; 127 when there is no such command,
126 when it can't be run; 124 when --timeout is over: then the command runs on, and
stderr says where.

An interrupt (ctrl+c) goes to the command. Standard input is passed on when it is
a pipe or a file: the command reads it, byte for byte, in place of the terminal; with
</dev/null it has none.

Several arguments are quoted for the shell of --terminal, so that the command gets
them as they are. A single one is a line of that shell: it may change the
directory, use a pipe, or set a variable.

  tandemux run --terminal build -- make -j4
  tandemux run --terminal build -- 'cd src && make'`, &o, func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); n != 0 || len(args) == 0 {
			return cli.Usagef("put the command after --, as in `tandemux run -- make`")
		}
		if o.Terminal != "" && (o.Name != "" || o.Cwd != "" || o.Size != "" || o.Keep) {
			return cli.Usagef("--name, --cwd, --size and --keep are for a new terminal, not for --terminal")
		}
		if o.Timeout < 0 {
			return cli.Usagef("--timeout %v is negative", o.Timeout)
		}
		o.JSON = cli.AsJSON(cmd)
		return runCommand(cmd, o, args)
	}), cli.One[runResult]())
	cmd.MarkFlagsMutuallyExclusive("raw", "json")
	cmd.Flags().MarkHidden("chat") //nolint:errcheck // it is there
	return cmd
}

// runCommand does the work of `tandemux run`. Signals are the command's, so the
// context of ours, which an interrupt ends, is not used.
func runCommand(cmd *cobra.Command, o runOptions, argv []string) error {
	params, err := endpoint.NewTerminal(o.Name, o.Cwd, o.Size, argv)
	if err != nil {
		return err
	}
	p, err := endpoint.Of(cmd)
	if err != nil {
		return err
	}
	ctx := context.WithoutCancel(cmd.Context())
	f := newFollower()
	defer close(f.done)
	opts := endpoint.Options{Start: o.Terminal == "", Reconnect: true, Sink: f, Kind: "run"}
	if o.Chat {
		opts.Agent = &ahp.AgentMeta{Name: "shell", Session: os.Getenv(sessionEnv)}
	}
	c, err := endpoint.Connect(cmd.Context(), p, opts)
	if err != nil {
		return err
	}
	defer c.Close()
	r := &runner{Conn: endpoint.NewConn(c, f.Mirror, p), o: o, f: f, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), stdin: isPiped(os.Stdin, o.Chat)}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	// A reader that went away must not end us before the terminal is removed.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := ctx
	if o.Timeout > 0 {
		var over context.CancelFunc
		late, over = context.WithTimeoutCause(ctx, o.Timeout, errLate)
		defer over()
	}
	if o.Terminal == "" {
		err = r.begin(late, params)
	} else {
		err = r.submit(late, argv)
	}
	switch {
	case err != nil && r.id != "" && errors.Is(context.Cause(late), errLate):
		return r.timedOut(cmd)
	case err != nil && errors.Is(context.Cause(late), errLate):
		return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v; no host has said whether the command was started: `tandemux ls` lists the terminals", o.Timeout)}
	case err != nil:
		return err
	}
	go r.pass(ctx, signals, cancel)
	go r.feed(ctx)
	return r.follow(ctx, late, cmd)
}

// errLate says that --timeout is over.
var errLate = errors.New("the time limit is over")

// runner is one `tandemux run` under way.
type runner struct {
	*endpoint.Conn
	o     runOptions
	f     *follower
	out   io.Writer
	err   io.Writer
	uri   ahp.URI
	id    string // the command's
	stdin bool   // the command reads a pipe that we fill
	fed
	text   plaintext.Writer
	buf    []byte
	got    int64 // bytes of its output
	broken error // of writing what was asked for
	have   int64 // number of the last action that is in what was asked for after a gap
}

// begin creates a terminal that runs the command. The host keeps its output
// until we watch.
func (r *runner) begin(ctx context.Context, params ahp.CreateTerminalParams) error {
	if err := r.At.Adapt(&params, r.o.Cwd); err != nil {
		return err
	}
	// Also a shell is one command here.
	params.Meta.AwaitHolder, params.Meta.Stdin, params.Meta.ShellIntegration = true, r.stdin, new(false)
	params.Claim = ahp.Claim{Kind: ahp.ClaimClient, ClientID: r.ClientID()}
	if r.o.Chat { // The host knows for which tool call.
		params.Claim = ahp.Claim{Kind: ahp.ClaimSession, Session: r.Session(), Chat: os.Getenv(chatEnv), ToolCallID: "shell"}
		delete(params.Meta.Env, sessionEnv)
		delete(params.Meta.Env, chatEnv)
	}
	if err := r.Create(ctx, params); err != nil {
		return err
	}
	r.uri, r.id = params.Channel, firstCommand
	r.f.want(r.uri, r.id)
	return r.watch(ctx)
}

// Of the host's for its agents (host/agent.SessionEnv, ChatEnv).
const sessionEnv, chatEnv = "TANDEMUX_SESSION", "TANDEMUX_CHAT"

// firstCommand is the id of the command that a terminal was started with.
const firstCommand = "c1"

// submit has the shell of a terminal run the command.
func (r *runner) submit(ctx context.Context, argv []string) error {
	t, err := r.Conn.Terminal(r.o.Terminal)
	if err != nil {
		return err
	}
	r.uri = t.Resource
	r.f.want(r.uri, "")
	if err := r.watch(ctx); err != nil {
		return err
	}
	var begun ahp.RunResult
	ctx, cancel := context.WithTimeout(ctx, 2*endpoint.CallTimeout)
	defer cancel()
	params := ahp.RunParams{Channel: r.uri, Command: argv, Stdin: r.stdin}
	if len(argv) == 1 {
		params.Command, params.Line = nil, argv[0]
	}
	if err := r.Carry(ctx, ahp.MethodRun, params, &begun); err != nil {
		return err
	}
	r.id = begun.CommandID
	return nil
}

func (r *runner) watch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	return r.Subscribe(ctx, r.uri)
}

// pass hands interrupts to the command; any other signal ends us, and a new
// terminal with it.
func (r *runner) pass(ctx context.Context, signals <-chan os.Signal, cancel func()) {
	for {
		select {
		case s := <-signals:
			if s != os.Interrupt {
				cancel()
				return
			}
			go r.CarryDispatch(ctx, r.uri, ahp.TerminalInput{Data: "\x03"}) //nolint:errcheck // the lost connection is reported by follow
		case <-ctx.Done():
			return
		}
	}
}

// watchTimeout bounds subscribing, also through a change of hosts.
const watchTimeout = 3 * endpoint.CallTimeout

// follow prints until the command has ended.
func (r *runner) follow(ctx, late context.Context, cmd *cobra.Command) error {
	for {
		if e, ok := r.f.next(); ok {
			if e.kind == stateCame {
				if e, ok = r.catchUp(ctx); !ok {
					continue
				}
			}
			if e.id != r.id && e.kind != terminalEnded || e.seq > 0 && e.seq <= r.have {
				continue
			}
			done, err := r.take(e)
			err = cmp.Or(r.broken, err)
			if err != nil {
				return r.unread(err)
			}
			if done {
				return r.finish(cmd, e)
			}
		}
		select {
		case <-r.f.came:
		case <-late.Done():
			if ctx.Err() == nil {
				return r.timedOut(cmd)
			}
			r.dispose()
			return cli.StatusError{Code: cli.ExitFailed}
		case <-r.f.closed:
			return fmt.Errorf("the connection to the host was lost (%v); the command may still run: `tandemux read %s --command %s` shows its output", cmp.Or(r.f.err, errors.New("it was closed")), endpoint.LastPart(r.uri), r.id)
		}
	}
}

// catchUp asks for what came while the host could not tell it: as output, and the
// end if it has come. What follows up to the number in the answer is in it.
func (r *runner) catchUp(ctx context.Context) (e runEvent, ok bool) {
	var c ahp.CommandResult
	ctx, cancel := context.WithTimeout(ctx, 2*endpoint.CallTimeout)
	defer cancel()
	err := r.Carry(ctx, ahp.MethodCommand, ahp.CommandParams{Channel: r.uri, ID: r.id, Format: ahp.FormatRaw, From: &r.got}, &c)
	if err != nil {
		fmt.Fprintf(r.err, "tandemux: what the command printed while the host was away is lost: %v\n", err)
		return e, false
	}
	if lost := c.Omitted; lost > 0 || c.Bytes < r.got {
		fmt.Fprintf(r.err, "tandemux: %d bytes of the command's output are lost: the host was away\n", max(lost, 0))
	}
	r.have = c.Seq
	e = runEvent{id: r.id, data: c.Output + c.Tail}
	if c.Running {
		return e, true
	}
	if _, err := r.take(e); err != nil {
		r.broken = err
	}
	return runEvent{kind: commandEnded, id: r.id, code: c.ExitCode}, true
}

// take prints what came; done says that it was the last.
func (r *runner) take(e runEvent) (done bool, err error) {
	r.got += int64(len(e.data))
	switch {
	case e.kind != outputCame:
		if !r.o.Raw && !r.o.JSON {
			_, err = r.out.Write(r.text.Flush(r.buf[:0]))
		}
		return true, err
	case r.o.JSON:
		return false, nil
	case r.o.Raw:
		_, err = io.WriteString(cli.Raw(r.out), e.data)
	default:
		r.buf = r.text.Write(r.buf[:0], []byte(e.data))
		_, err = r.out.Write(r.buf)
	}
	return false, err
}

// unread is what is left to do when nobody takes our output.
func (r *runner) unread(err error) error {
	r.dispose()
	if errors.Is(err, syscall.EPIPE) {
		return cli.StatusError{Code: cli.ExitFailed} // as all programs, without a word
	}
	return fmt.Errorf("write the output: %w", err)
}

// finish ends a run whose command has ended.
func (r *runner) finish(cmd *cobra.Command, e runEvent) error {
	if r.o.JSON && e.kind == commandEnded {
		if err := r.printResult(cmd, false); err != nil {
			return err
		}
	}
	if t, err := r.Conn.Terminal(r.uri); !r.o.Chat { // The chat shows it.
		r.dispose()
	} else if err == nil && t.Claim.Kind == ahp.ClaimClient {
		fmt.Fprintln(os.Stderr, "[the person has taken this command's terminal]")
	}
	switch {
	case e.kind == terminalEnded:
		return fmt.Errorf("the terminal %s was ended while the command ran", endpoint.LastPart(r.uri))
	case e.code == nil:
		return fmt.Errorf("the command has ended, with an exit code that the shell did not tell")
	case *e.code != 0:
		return cli.StatusError{Code: *e.code}
	case r.starved(): // It succeeded, with something else than was meant.
		return cli.StatusError{Code: cli.ExitFailed}
	}
	return nil
}

// dispose removes the terminal that was made for the command.
func (r *runner) dispose() {
	if r.o.Terminal != "" || r.o.Keep {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endpoint.CallTimeout)
	defer cancel()
	// It may be gone already, by somebody else's hand.
	r.Carry(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: r.uri}, nil) //nolint:errcheck // see above
}

// timedOut says what became of the command.
func (r *runner) timedOut(cmd *cobra.Command) error {
	if !r.o.Raw && !r.o.JSON {
		if _, err := r.out.Write(r.text.Flush(r.buf[:0])); err != nil {
			return r.unread(err)
		}
	}
	if r.o.JSON {
		if err := r.printResult(cmd, true); err != nil {
			return err
		}
	}
	r.Unsubscribe(r.uri) // else its output would wait for us to come back
	id := endpoint.LastPart(r.uri)
	wait := "--exit"
	if r.o.Terminal != "" {
		wait = "--command"
	}
	return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v; the command still runs in terminal %s: `tandemux wait %s %s` waits for it, `tandemux send %s --key ctrl+c` interrupts it", r.o.Timeout, id, id, wait, id)}
}

// lateTimeout bounds the telling of what a command that takes too long has printed.
const lateTimeout = 3 * time.Second

// runResult is what `tandemux run --json` prints; stable.
type runResult struct {
	Terminal string `json:"terminal" doc:"The id of the terminal that it ran in"`
	URI      string `json:"uri" doc:"Its channel in the protocol"`
	TimedOut bool   `json:"timedOut" doc:"It runs on"`
	ahp.CommandResult
}

func (r *runner) printResult(cmd *cobra.Command, timedOut bool) error {
	patience := endpoint.CallTimeout
	if timedOut {
		patience = lateTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got := runResult{Terminal: endpoint.LastPart(r.uri), URI: r.uri, TimedOut: timedOut}
	err := r.Carry(ctx, ahp.MethodCommand, ahp.CommandParams{Channel: r.uri, ID: r.id}, &got.CommandResult)
	switch {
	case err != nil && !timedOut:
		return err
	case err != nil: // There may be no host just now, and it is late.
		got.CommandInfo = ahp.CommandInfo{ID: r.id, Running: true}
	}
	return cli.Print(cmd, got, nil)
}

// isPiped reports whether a file is something to be passed on: a pipe, a file, a socket
// or /dev/null, but no terminal; for a chat not /dev/null, which its agent gives to all
// commands: there the person may answer.
func isPiped(f *os.File, chat bool) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	m := info.Mode()
	null, err := os.Stat(os.DevNull)
	return m.IsRegular() || m&(os.ModeNamedPipe|os.ModeSocket) != 0 || !chat && err == nil && os.SameFile(info, null)
}

// feedBytes is how much of our standard input is sent at once.
const feedBytes = 128 << 10

// fed is what the command got of our standard input.
type fed struct {
	taking sync.Mutex   // held while bytes go from our standard input into hand
	passed atomic.Int64 // bytes
	hand   atomic.Int64 // bytes that were read and not yet passed
	over   atomic.Bool  // it got all, or takes no more
	cut    atomic.Bool  // it did not get all, as was said
}

// feed passes our standard input on to the command, until it takes no more. The pipe is
// of a host and a connection, and ends with them: then the command has come to the end of
// its input too early, which is said. A host that answers with an error has removed the
// terminal: the command has ended.
func (r *runner) feed(ctx context.Context) {
	if !r.stdin {
		return
	}
	buf := make([]byte, feedBytes)
	for {
		for ready(os.Stdin, -1) == unix.EINTR { // so that it is read at once
		}
		r.taking.Lock()
		n, err := os.Stdin.Read(buf)
		r.hand.Store(int64(n))
		r.taking.Unlock()
		var got ahp.FeedResult
		failed := r.Call(ctx, ahp.MethodFeed, ahp.FeedParams{Channel: r.uri, Data: buf[:n], End: err != nil}, &got)
		switch {
		case failed == nil && got.Open:
			r.passed.Add(int64(n))
			r.hand.Store(0)
			continue
		case ctx.Err() == nil && (failed != nil && ahp.CodeOf(failed) == 0 || r.f.lost.Load()) && (n > 0 || err == nil):
			r.cutOff()
		default:
			r.hand.Store(0)
			r.over.Store(true)
		}
		return
	}
}

// starved reports that the command did not get all of our standard input: the connection
// was lost, and there is more.
func (r *runner) starved() bool {
	if r.stdin && r.f.lost.Load() && !r.over.Load() {
		r.taking.Lock()
		defer r.taking.Unlock()
		if r.hand.Load() > 0 || ready(os.Stdin, 0) == nil {
			r.cutOff()
		}
	}
	return r.cut.Load()
}

// cutOff says that the command did not get all, once.
func (r *runner) cutOff() {
	if !r.cut.Swap(true) {
		fmt.Fprintf(r.err, "tandemux: the command did not get all of its standard input, but its first %d bytes and at most %d more: the host went away\n", r.passed.Load(), r.hand.Load())
	}
}

// ready waits, for ms milliseconds or with -1 for as long as it takes, until a file has something
// to read, which nil says, or has come to its end.
func ready(f *os.File, ms int) error {
	p := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	if _, err := unix.Poll(p, ms); err != nil {
		return err
	}
	if p[0].Revents&unix.POLLIN == 0 {
		return io.EOF
	}
	return nil
}
