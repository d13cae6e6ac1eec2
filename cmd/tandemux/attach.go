package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/config"
	"tandemux/internal/desk"
	"tandemux/internal/doctor"
	"tandemux/internal/endpoint"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/memtrim"
	"tandemux/internal/termcmd"
	"tandemux/ui"
	"tandemux/ui/link"
)

func newAttachCommand() *cobra.Command {
	var in struct {
		Force bool `flag:"force" doc:"Open it inside a tandemux terminal all the same"`
	}
	return cli.Command("attach [LAYOUT]", `Open the interface on a layout, as it was left
Without LAYOUT it is the one that was left last; at another host, main.

  tandemux attach work
  tandemux attach --host ssh://me@machine
  tandemux attach --host wss://machine:7070 --token-file token --fingerprint sha256:…`, &in, func(cmd *cobra.Command, args []string) error {
		return attach(cmd, strings.Join(args, ""), in.Force)
	})
}

// attach checks everything that would make the interface fail before it
// touches the host or starts one. Without a name it opens the layout left last.
func attach(cmd *cobra.Command, name string, force bool) error {
	if err := termcmd.CheckLayoutName(name); err != nil {
		return err
	}
	if err := checkTerminal(os.Stdin, os.Stdout, os.Getenv("TERM")); err != nil {
		return err
	}
	if os.Getenv("TANDEMUX_TERMINAL") != "" && !force {
		return errors.New("this is a tandemux terminal already; detach with ctrl+space d first, or nest with --force")
	}
	p, err := endpoint.Of(cmd)
	if err != nil {
		return err
	}
	if name == "" {
		name = lastLayout(p)
	}
	// What is wrong in it is said where the person looks, with the defaults in
	// the place of what has a mistake.
	set, misread := loadSettings(p.Dirs)
	cwd, err := os.Getwd()
	if err != nil || p.Elsewhere() {
		cwd = ""
	}
	tune(2, 50, 64<<20) // one connection, one screen
	sink, d := sinkAdapter{link.NewSink()}, desk.New(p, func() (open, copy string) {
		set, _ := loadSettings(p.Dirs) // what is wrong in it was said when it was saved
		return set.openCommand, set.copyCommand
	})
	log, closeLog, err := p.Dirs.OpenLog("tui.log")
	if err != nil {
		return err
	}
	defer closeLog()
	go set.look.Preset() // which takes as long as the host's answer
	c, err := endpoint.Connect(cmd.Context(), p, endpoint.Options{Start: true, Reconnect: true, Follow: []ahp.URI{termcmd.LayoutURI(name)}, Sink: sink, Wants: client.Wants{Print: sink, Listen: sink, Observe: sink, Skim: sink, Serve: sink}, Kind: endpoint.KindInterface, Log: log})
	if err != nil {
		return err
	}
	defer c.Close()
	others := newOthers(cmd.Context(), p, sink.Sink, c.ClientID(), log)
	defer others.close()
	conf := ui.Config{
		Host: hostAdapter{c, p, sink.Agents}, Far: others.list, Sink: sink.Sink, Layout: name, Cwd: cwd, Log: log, Machine: p.MachineName(), Desk: ui.Desk{Texts: d, Clipper: d, Composer: d, Recorder: d, Segments: d},
		Look: set.look, Misread: shortly(p.Dirs, misread), Engine: set.engine.Emulator, Reload: rereader(p.Dirs, set),
		Hint: set.firstRunHint && !seen(p.Dirs), Learnt: func() error { return see(p.Dirs) },
		KeepTheme: func(choice string) error { return keepTheme(p.Dirs, choice) },
	}
	if p.Own() {
		conf.Notice = p.Dirs.Outdated(version)
	}
	following, unfollow := context.WithCancel(cmd.Context())
	defer unfollow()
	if conf.Changes, err = config.Follow(following, p.Dirs.Config, log); err != nil {
		log.Warn("the configuration is not read again by itself", "err", err)
	}
	conf.Person = (&endpoint.Conn{Client: c, At: p}).Me()
	exit, err := ui.Run(cmd.Context(), conf, os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	leaveLayout(p, exit, log)
	if exit.Reason == ui.HostGone {
		return errors.New(exit.Note)
	}
	if exit.Note != "" {
		fmt.Fprintln(cmd.OutOrStdout(), exit.Note)
	}
	return nil
}

// layoutLeft is the file below the state directory that names the layout of this user's
// host that was left last.
const layoutLeft = "layout-left"

// lastLayout is the layout to open where none is named.
func lastLayout(p endpoint.Endpoint) string {
	if p.Own() {
		text, err := os.ReadFile(filepath.Join(p.Dirs.State, layoutLeft))
		if name := strings.TrimSpace(string(text)); err == nil && name != "" && termcmd.CheckLayoutName(name) == nil {
			return name
		}
	}
	return termcmd.DefaultLayout
}

// leaveLayout notes the layout that was left; one without panes is not gone back to.
func leaveLayout(p endpoint.Endpoint, exit ui.Exit, log *slog.Logger) {
	name := exit.Layout
	if exit.Reason == ui.Emptied {
		name = termcmd.DefaultLayout
	}
	if !p.Own() || name == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(p.Dirs.State, layoutLeft), []byte(name+"\n"), 0o600); err != nil {
		log.Warn("the next interface won't know which layout was left", "err", err)
	}
}

func checkTerminal(in, out *os.File, termName string) error {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return cli.Usagef("the interface needs a terminal on stdin and stdout; scripts use `tandemux new`, `send` and `read`")
	}
	if termName == "" || termName == "dumb" {
		return cli.Usagef("TERM=%q names a terminal that can't move its cursor; run tandemux in another one", termName)
	}
	return nil
}

// checkOuterTerminal is for doctor.
func checkOuterTerminal(*cobra.Command, local.Dirs) (string, string) {
	name := os.Getenv("TERM")
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return doctor.OK, "stdout is no terminal; the interface needs one"
	}
	if err := checkTerminal(os.Stdin, os.Stdout, name); err != nil {
		return doctor.Bad, err.Error()
	}
	cols, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return doctor.Warn, fmt.Sprintf("%s, size unknown: %v", name, err)
	}
	return doctor.OK, fmt.Sprintf("%s, %dx%d", name, cols, rows)
}

// hostAdapter gives the interface what it asks for of a connection.
type hostAdapter struct {
	*client.Client
	place endpoint.Endpoint
	// root gives the agents that the host says it has; nil for none.
	root func() []ahp.AgentInfo
}

// Create adds this process's environment, as a shell's child would have it.
func (h hostAdapter) Create(ctx context.Context, p ahp.CreateTerminalParams) error {
	meta := ahp.CreateMeta{}
	if p.Meta != nil {
		meta = *p.Meta
	}
	env := h.place.ChildEnv(os.Environ())
	maps.Copy(env, meta.Env)
	meta.Env = env
	p.Meta = &meta
	return h.Call(ctx, ahp.MethodCreateTerminal, p, nil)
}

// Colors tells the host what colours this terminal shows.
func (h hostAdapter) Colors(p ahp.ColorsParams) error {
	return h.Notify(ahp.MethodColors, p)
}

func (h hostAdapter) Dispatch(uri ahp.URI, a ahp.Action) (int64, error) {
	seq, err := h.Client.Dispatch(uri, a)
	if errors.Is(err, client.ErrDisconnected) {
		err = link.ErrAway
	}
	return seq, err
}

// sinkAdapter translates the connection's states; everything else passes.
type sinkAdapter struct{ *link.Sink }

var links = map[client.Status]link.State{client.Connected: link.Connected, client.Reconnecting: link.Reconnecting, client.Closed: link.Closed}

func (s sinkAdapter) Status(status client.Status, err error) {
	if closed, is := errors.AsType[*jsonrpc.CloseError](err); is && closed.Reason != "" {
		err = link.ClosedError(closed.Reason)
	}
	s.Sink.Status(links[status], err)
}

func (s sinkAdapter) Retrying(r client.Retry) { s.Sink.Retrying(link.Retry(r)) }

// floods notices the ends of floods of output in the interface's process, to give
// back what they took.
var floods memtrim.Trimmer

func (s sinkAdapter) Data(channel ahp.URI, data []byte, seq int64) {
	floods.Add(len(data))
	s.Sink.Data(channel, data, seq)
}

// Skimmed passes on a screen, in place of a flood.
func (s sinkAdapter) Skimmed(screen ahp.Snapshot) {
	floods.Add(memtrim.Flood)
	s.Sink.Skimmed(screen)
}

func (h hostAdapter) Sessions(ctx context.Context) ([]ahp.SessionSummary, error) {
	return (&endpoint.Conn{Client: h.Client, At: h.place}).Sessions(ctx)
}

// CreateSession implements link.Host: an agent that the host did not have when it
// started is made known to it first.
func (h hostAdapter) CreateSession(ctx context.Context, p ahp.CreateSessionParams) error {
	s := &endpoint.Conn{Client: h.Client, At: h.place}
	name, err := s.UseAgent(ctx, p.Provider, nil)
	if err != nil {
		return err
	}
	p.Provider = name
	return h.Call(ctx, ahp.MethodCreateSession, p, nil)
}

// Agents implements link.Host: those of the configuration and those that tandemux
// knows, and what the host has besides.
func (h hostAdapter) Agents(context.Context) ([]link.Agent, error) {
	if h.place.Elsewhere() {
		return h.hostAgents(nil), nil
	}
	set, err := loadSettings(h.place.Dirs)
	if err != nil {
		return nil, err
	}
	var agents []link.Agent
	have := map[string]bool{}
	for _, r := range set.catalog.Rows() {
		a := link.Agent{Name: r.Name, Title: r.Title}
		if !r.Found {
			a.Why = "not installed"
			if r.Configured && len(r.Command) > 0 {
				a.Why = fmt.Sprintf("there is no program %q", r.Command[0])
			}
		}
		have[r.Name] = true
		agents = append(agents, a)
	}
	return append(h.hostAgents(have), agents...), nil
}

// hostAgents are those of the running host, as the root says, that are not known
// otherwise.
func (h hostAdapter) hostAgents(known map[string]bool) []link.Agent {
	var agents []link.Agent
	if h.root == nil {
		return nil
	}
	for _, a := range h.root() {
		if !known[a.Provider] {
			agents = append(agents, link.Agent{Name: a.Provider, Title: a.DisplayName})
		}
	}
	return agents
}
