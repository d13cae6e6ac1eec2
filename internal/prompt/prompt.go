package prompt

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/fileuri"
)

// cancelTime is how long an interrupted prompt waits for its turn to end.
const cancelTime = 5 * time.Second

// promptOptions are the flags of `tandemux prompt`.
type promptOptions struct {
	Agent   string        `flag:"agent" doc:"The agent, by its name; see tandemux agent ls"`
	Command string        `flag:"agent-command" doc:"An agent that speaks ACP, by its command line (words, without quoting)"`
	Session string        `flag:"session" doc:"Go on with this session"`
	Approve string        `flag:"approve" enum:"ask,reads,all" doc:"Which tools run without a question: none (ask), those that only read (reads), or all (all)"`
	Cwd     string        `flag:"cwd" doc:"The agent's directory; this one by default"`
	End     bool          `flag:"end" doc:"End the session afterwards"`
	Timeout time.Duration `flag:"timeout" doc:"Cancel the turn after this long, and exit with 124"`
	JSON    bool          // print what happens as tandemux watch does
}

// Command is `tandemux prompt`.
func Command() *cobra.Command {
	o := promptOptions{Approve: ahp.ConfirmAsk}
	return cli.WithJSON(cli.Command("prompt [TEXT...]", `Ask an agent, and print its answer as it comes
It works in this directory. A TEXT that begins with ! is run in the shell instead, and the
agent is told with what comes next. What it does is told on stderr, and so are its questions
whether a tool may run: they are answered here, or by whoever else watches the session.

Without TEXT, or with -, the text is read from standard input. The exit code is
0 when the agent finished its turn and 1 when the turn failed or was cancelled;
ctrl+c cancels it. The session stays, so that --session can go on with it.

  tandemux prompt --agent gemini --approve reads "sum up the last ten commits"
  tandemux prompt --agent-command "my-agent --acp" --json hello
  tandemux prompt --session 7k2m "and now fix it"`, &o, func(cmd *cobra.Command, args []string) error {
		o.JSON = cli.AsJSON(cmd)
		if err := o.check(); err != nil {
			return err
		}
		text, err := cli.Text(args, cmd.InOrStdin(), "what should the agent do?")
		if err != nil {
			return err
		}
		p, err := endpoint.Of(cmd)
		if err != nil {
			return err
		}
		pr := newPrompter(o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		pr.line = func(e ahp.Envelope) error { return cli.PrintLine[ahp.Envelope](cmd, e) }
		c, err := endpoint.Connect(cmd.Context(), p, endpoint.Options{Start: true, Reconnect: true, Sink: pr, Kind: "prompt"})
		if err != nil {
			return err
		}
		defer c.Close()
		pr.s = endpoint.NewConn(c, pr.Mirror, p)
		m := ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
		if len(args) == 0 || args[0] == "-" { // Nobody may have read it: it is no command line.
			m.Meta = json.RawMessage(`{"tandemux/text":true}`)
		}
		return pr.run(cmd.Context(), m)
	}), cli.Stream[ahp.Envelope]())
}

func (o promptOptions) check() error {
	switch {
	case o.Agent != "" && o.Command != "":
		return cli.Usagef("--agent and --agent-command: give one of them")
	case o.Session != "" && (o.Agent+o.Command+o.Cwd != ""):
		return cli.Usagef("--session goes on with the agent and directory that the session has: leave --agent, --agent-command and --cwd out")
	case o.Timeout < 0:
		return cli.Usagef("--timeout is below zero")
	}
	return nil
}

// prompter runs one turn: it is the connection's sink, and prints.
type prompter struct {
	*client.Mirror
	o      promptOptions
	out    io.Writer
	line   func(e ahp.Envelope) error // prints it with --json
	err    io.Writer
	s      *endpoint.Conn
	events chan struct{} // holds one when there is something in queue
	lines  chan string   // of standard input, once it was asked for

	session, chat ahp.URI
	turn          string
	created       bool
	state         ahp.ChatState
	printed       printed
	asked         string // the tool call that a person is asked about
	asker         *Asker // the question

	mu   sync.Mutex // guards seen; also session and chat, but for the goroutine of run
	seen seen
}

func newPrompter(o promptOptions, out, err io.Writer) *prompter {
	p := &prompter{Mirror: client.NewMirror(0), o: o, out: out, err: err, turn: "turn-" + strings.ToLower(rand.Text()), events: make(chan struct{}, 1)}
	p.printed = printed{calls: map[string]string{}}
	return p
}

// run asks and waits for the end of the turn.
func (p *prompter) run(ctx context.Context, m ahp.Message) error {
	starting, stop := ctx, context.CancelFunc(func() {})
	var timeout <-chan time.Time
	if p.o.Timeout > 0 {
		timeout = time.After(p.o.Timeout)
		starting, stop = context.WithTimeout(ctx, p.o.Timeout)
	}
	defer stop()
	if err := p.begin(starting); err != nil {
		if ctx.Err() == nil && starting.Err() != nil {
			return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v: the agent was not ready yet", p.o.Timeout)}
		}
		return err
	}
	if p.o.End {
		defer p.end()
	}
	if err := p.s.Act(ctx, p.chat, ahp.ChatTurnStarted{
		TurnID: p.turn, Message: m,
	}); err != nil {
		if _, is := errors.AsType[*client.RejectedError](err); is {
			return fmt.Errorf("the session takes no message now: %w", err)
		}
		return err
	}
	if p.created && !p.o.JSON && !p.o.End {
		fmt.Fprintf(p.err, "session %s\n", endpoint.LastPart(p.session))
	}
	return p.follow(ctx, timeout)
}

// follow prints the turn to its end, or cancels it.
func (p *prompter) follow(ctx context.Context, timeout <-chan time.Time) error {
	for {
		if done, err := p.take(); done || err != nil {
			return err
		}
		select {
		case <-p.events:
		case line := <-p.lines:
			p.answered(ctx, line)
		case <-ctx.Done():
			p.cancel()
			return errors.New("interrupted: the turn was cancelled")
		case <-timeout:
			p.cancel()
			return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v: the turn was cancelled", p.o.Timeout)}
		}
	}
}

// begin finds or makes the session, and waits until its agent is there.
func (p *prompter) begin(ctx context.Context) (err error) {
	if p.o.Session != "" {
		one, err := p.s.SessionNamed(ctx, p.o.Session)
		if err != nil {
			return err
		}
		if one.DefaultChat == "" {
			return fmt.Errorf("the session %q has no chat", p.o.Session)
		}
		p.watch(one.Resource, one.DefaultChat)
		return p.s.Subscribe(ctx, p.chat)
	}
	cwd := p.o.Cwd
	if cwd == "" && !p.s.At.Elsewhere() {
		cwd = "."
	}
	var dirs []ahp.URI
	if cwd != "" {
		path := cwd
		if !p.s.At.Elsewhere() {
			var err error
			if path, err = filepath.Abs(cwd); err != nil {
				return err
			}
		}
		dirs = []ahp.URI{fileuri.Of(path)}
	}
	agent, err := p.s.UseAgent(ctx, p.o.Agent, strings.Fields(p.o.Command))
	if err != nil {
		return err
	}
	id := strings.ToLower(rand.Text()[:12])
	p.watch(ahp.SessionScheme+"/"+id, ahp.ChatScheme+"/"+id)
	err = p.s.Ask(ctx, ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: p.session, Provider: agent, WorkingDirectories: dirs, Meta: &ahp.SessionMeta{Chat: p.chat},
	}, nil)
	_, refused := errors.AsType[*ahp.Error](err)
	p.created = !refused // or it isn't known
	defer func() {
		if err != nil && p.created {
			p.end()
		}
	}()
	if err != nil {
		return err
	}
	for _, uri := range []ahp.URI{p.session, p.chat} {
		if err := p.s.Subscribe(ctx, uri); err != nil {
			return err
		}
	}
	return p.ready(ctx)
}

// ready waits for the session's agent.
func (p *prompter) ready(ctx context.Context) error {
	for {
		now := p.look()
		switch s := now.session; {
		case s.Lifecycle == ahp.LifecycleReady:
			return nil
		case s.Lifecycle == ahp.LifecycleFailed && s.CreationError != nil:
			return errors.New(s.CreationError.Message)
		case s.Lifecycle == ahp.LifecycleFailed:
			return errors.New("the agent did not start")
		case now.err != nil:
			return now.err
		}
		select {
		case <-p.events:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *prompter) end() {
	if err := p.s.EndSession(context.Background(), p.session); err != nil {
		fmt.Fprintf(p.err, "tandemux: end the session: %v\n", err)
	}
}

// cancel ends the turn and prints what it still says.
func (p *prompter) cancel() {
	ctx, stop := context.WithTimeout(context.Background(), cancelTime)
	defer stop()
	if err := p.s.Act(ctx, p.chat, ahp.ChatTurnCancelled{TurnID: p.turn}); err != nil {
		return // It has ended, or the host is gone.
	}
	p.take() //nolint:errcheck // cancelled is what it was
}
