package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/termcmd"
	"tandemux/ui"
	"tandemux/ui/command"
	"tandemux/ui/link"
)

// ordered is what `tandemux do --json` prints; stable.
type ordered struct {
	Layout   string `json:"layout" doc:"Which it was done in"`
	Tab      string `json:"tab,omitempty" doc:"Of the pane that was made, else of the one that it was done to"`
	Pane     string `json:"pane,omitempty" doc:"As --pane takes it; absent where the layout shows none"`
	ID       string `json:"id,omitempty" doc:"Its terminal: what verbs take"`
	URI      string `json:"uri,omitempty" doc:"Its terminal's channel in the protocol"`
	Made     bool   `json:"made" doc:"The terminal was made"`
	ExitCode *int   `json:"exitCode,omitempty" doc:"Of a popup's program"`
	// Interface is absent where it was done to a layout.
	Interface string `json:"interface,omitempty" doc:"The interface that it was done in, as --interface takes it"`
}

// doable is a command as `tandemux do --json` lists it; stable.
type doable struct {
	Name  string   `json:"name" doc:"Of the command"`
	Title string   `json:"title" doc:"As the palette has it"`
	Args  []string `json:"args" doc:"What it takes, optional ones in brackets"`
	Group string   `json:"group" doc:"As the help of the interface has it"`
	Does  string   `json:"does" doc:"In a sentence"`
	In    string   `json:"in" doc:"layout: whether an interface shows it or none; interface: in one that runs"`
}

// doFlags are those of `tandemux do`.
type doFlags struct {
	Focus  bool   `flag:"focus" doc:"Let the focus go where the command takes it; --focus=false leaves it"`
	Pane   string `flag:"pane" value:"ID" doc:"Which pane: its id, or a terminal (default: where this runs, or the focused one)"`
	With   string `flag:"with" value:"ID" doc:"The marked pane, for join-pane and swap-marked"`
	Layout string `flag:"layout" doc:"Layout to change (default: which shows the pane, or main)"`
	In     string `flag:"interface" value:"INTERFACE" doc:"Interface to do it in, as layout ls names it (default: which shows the layout)"`
	Cwd    string `flag:"cwd" doc:"Working directory of what is started (default: the current one)"`
	Yes    bool   `flag:"yes" doc:"Answer yes to what the interface would ask"`
}

func newDoCommand() *cobra.Command {
	in := doFlags{Focus: true}
	cmd := cli.WithJSON(cli.Command("do [COMMAND] [ARG...] [-- PROGRAM...]", `Run a command of the palette: split, rename, search, copy
Those about panes and tabs work on the layout that the shell runs in or another, whether
an interface shows that or none does. What is made is told by its id; a popup's program
is waited for. All others are done in an interface of yours, as if their key had been
pressed: to the focused pane, or to --pane, which gets the focus. Without COMMAND they
are listed. Commands of tmux's are understood where they are the same as ours.

  tandemux do split-right --focus=false -- htop
  tandemux do split-window -h htop
  tandemux do go-tab 3
  tandemux do rename-pane --pane build tests
  tandemux do new-tab --layout work ';' split-down
  tandemux do search error`, &in, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return listDoable(cmd)
		}
		if args[0] == "select-tab" {
			args[0] = "go-tab" // as others call it
		}
		name, words, err := command.FromTmux(args)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		if name != "" {
			args = append([]string{name}, words...)
		}
		err = ui.CheckOrder(args[0], args[1:])
		needs, _ := errors.AsType[*ui.NeedsInterfaceError](err)
		if err != nil && needs == nil {
			return cli.Usagef("%w", err)
		}
		done, err := order(cmd, args[0], args[1:], in, needs)
		if err != nil {
			return err
		}
		err = cli.Print(cmd, done, func(w io.Writer) error {
			if !done.Made || done.ExitCode != nil {
				return nil
			}
			_, err := fmt.Fprintln(w, done.ID)
			return err
		})
		if code := done.ExitCode; err == nil && code != nil && *code != 0 {
			err = cli.StatusError{Code: *code}
		}
		return err
	}), cli.One[ordered](), cli.One[[]doable]())
	cmd.ValidArgsFunction = completeDo
	return cmd
}

// tmuxFlags gives args with -- before a command of tmux's that do gets: the flags behind it
// are its own.
func tmuxFlags(args []string) []string {
	if !slices.ContainsFunc(args, command.OfTmux) {
		return args
	}
	c, rest, err := newRoot().Find(args)
	if err != nil || c.Name() != "do" {
		return args
	}
	c.InitDefaultHelpFlag()
	c.Flags().SetInterspersed(false)
	if err := c.ParseFlags(rest); err != nil || slices.Contains(rest[:len(rest)-c.Flags().NArg()], "--") {
		return args
	}
	first := len(args) - c.Flags().NArg()
	for i := first; i < len(args) && args[i] != "--"; i++ {
		if (i == first || args[i-1] == command.Then) && command.OfTmux(args[i]) {
			return slices.Insert(slices.Clone(args), i, "--")
		}
	}
	return args
}

// listDoable prints the commands.
func listDoable(cmd *cobra.Command) error {
	rows := []doable{}
	for _, c := range ui.Doable() {
		in := "interface"
		if ui.OnLayout(c) {
			in = "layout"
		}
		rows = append(rows, doable{c.Name, c.Title, argWords(c), c.Group, c.Help, in})
	}
	return cli.PrintTable(cmd, "", "COMMAND\tIN\tDOES", rows, func(r doable) []any {
		return []any{cli.Whole(strings.Join(append([]string{r.Name}, r.Args...), " ")), r.In, r.Title}
	})
}

func argWords(c command.Command) []string {
	all := []string{}
	for _, a := range c.Args {
		word := strings.ToUpper(a.Name)
		if a.Kind == command.Choice && len(a.Choices) < 5 {
			word = strings.Join(a.Choices, "|")
		}
		if a.Kind == command.Program {
			word += "..."
		}
		if a.Optional {
			word = "[" + word + "]"
		}
		all = append(all, word)
	}
	return all
}

// completeDo completes the names of commands, and what they may be given.
func completeDo(_ *cobra.Command, args []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, c := range ui.Doable() {
			all = append(all, cobra.CompletionWithDesc(c.Name, c.Title))
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	c, ok := command.Find(args[0])
	if n := len(args) - 1; ok && n < len(c.Args) && c.Args[n].Kind != command.Program {
		return c.Args[n].Choices, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// order has a command done at the host, or for needs in an interface.
func order(cmd *cobra.Command, name string, args []string, in doFlags, needs *ui.NeedsInterfaceError) (ordered, error) {
	if err := termcmd.CheckLayoutName(in.Layout); err != nil {
		return ordered{}, err
	}
	p, err := endpoint.Of(cmd)
	if err != nil {
		return ordered{}, err
	}
	cwd := in.Cwd
	if cwd != "" && !filepath.IsAbs(cwd) {
		if p.Elsewhere() {
			return ordered{}, cli.Usagef("--cwd %s: on another machine a directory is named by an absolute path", cwd)
		}
		if cwd, err = filepath.Abs(cwd); err != nil {
			return ordered{}, fmt.Errorf("find the working directory: %w", err)
		}
	}
	sink := rootSink{sinkAdapter{link.NewSink()}, client.NewMirror(0)}
	opts := endpoint.Options{Start: creates(name) && needs == nil, Reconnect: true, Sink: sink, Kind: "cli"}
	c, err := endpoint.Connect(cmd.Context(), p, opts)
	if err != nil {
		return ordered{}, err
	}
	defer c.Close()
	if cwd == "" && !p.Elsewhere() {
		cwd, _ = os.Getwd() //nolint:errcheck // then it is the pane's
	}
	root, _ := sink.mirror.Root()
	w := where{root.Terminals, os.Getenv("TANDEMUX_TERMINAL"), in}
	o := ui.Order{Name: name, Args: args, KeepFocus: !in.Focus, Yes: in.Yes}
	conn := &endpoint.Conn{Client: c, At: p}
	if needs != nil || in.In != "" {
		it, err := w.face(cmd.Context(), conn, needs)
		switch {
		case err != nil:
			return ordered{}, err
		case in.Layout != "" && in.Layout != it.On():
			return ordered{}, fmt.Errorf("%s shows layout %s, not %s", it.Name(), it.On(), in.Layout)
		}
		w.in.Layout = it.On()
		if needs != nil {
			w.own = "" // its focus is the person's
			if _, err := w.find(&o); err != nil {
				return ordered{}, err
			}
			return inside(cmd, conn, it, o)
		}
	}
	layout, err := w.find(&o)
	if err != nil {
		return ordered{}, err
	}
	did, err := ui.Do(cmd.Context(), ui.Config{
		Host: hostAdapter{c, p, sink.Agents}, Sink: sink.Sink, Layout: layout, Cwd: cwd,
		Person: conn.Me(),
	}, o)
	if err != nil {
		return ordered{}, err
	}
	if did.Made && did.Pane == "" && did.Exit == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s shows in no pane, as others have changed layout %s meanwhile\n", endpoint.LastPart(did.Terminal), layout)
	}
	if did.Said != "" && !cli.AsJSON(cmd) {
		fmt.Fprintln(cmd.ErrOrStderr(), did.Said)
	}
	return ordered{did.Layout, did.Tab, string(did.Pane), endpoint.LastPart(did.Terminal), did.Terminal, did.Made, did.Exit, ""}, nil
}

// inside has a command done in an interface.
func inside(cmd *cobra.Command, c *endpoint.Conn, it endpoint.Interface, o ui.Order) (ordered, error) {
	var done palette.Result
	err := c.Call(cmd.Context(), palette.Method, palette.Params{
		Channel: it.Layout, Interface: it.ClientID, Command: o.Name, Args: o.Args, Pane: o.At, With: o.Marked, KeepFocus: o.KeepFocus, Yes: o.Yes,
	}, &done)
	if err != nil {
		return ordered{}, err
	}
	if done.Said != "" && !cli.AsJSON(cmd) {
		fmt.Fprintln(cmd.ErrOrStderr(), cli.Line(done.Said))
	}
	return ordered{it.On(), done.Tab, done.Pane, endpoint.LastPart(done.Terminal), done.Terminal, false, nil, it.Name()}, nil
}

// creates reports whether a command makes a terminal, for which a host is started.
func creates(name string) bool {
	c, _ := command.Find(name)
	return len(c.Args) > 0 && c.Args[0].Kind == command.Program
}

// rootSink notes the list of terminals besides.
type rootSink struct {
	sinkAdapter
	mirror *client.Mirror
}

// Snapshot implements client.Sink.
func (s rootSink) Snapshot(snap ahp.Snapshot) {
	if snap.Resource == ahp.RootURI {
		s.mirror.Snapshot(snap)
	}
	s.sinkAdapter.Snapshot(snap)
}

// where finds what a command is done to.
type where struct {
	terminals []ahp.TerminalInfo
	own       string // the terminal that this runs in, "" for none
	in        doFlags
}

// paneID is what panes are called within a layout.
var paneID = regexp.MustCompile(`^p[0-9]+$`)

// roams reports whether a command is about the focus and not about a pane.
func roams(name string) bool {
	return strings.HasPrefix(name, "focus-") || slices.Contains([]string{"next-tab", "previous-tab", "last-tab", "go-tab", "new-tab", "rename-layout"}, name)
}

// find completes an order, and gives the layout that it is for.
func (w where) find(o *ui.Order) (layout string, err error) {
	layout = w.in.Layout
	name := func(id string) (string, error) {
		if id == "" || paneID.MatchString(id) {
			return id, nil
		}
		t, err := endpoint.Resolve(w.terminals, id)
		if err != nil {
			return "", err
		}
		on := termcmd.LayoutsOf(t)
		if layout == "" && len(on) > 0 {
			layout = on[0]
		}
		if !slices.Contains(on, layout) {
			return "", fmt.Errorf("%s shows in no pane of %s", endpoint.LastPart(t.Resource), layoutWords(layout))
		}
		return t.Resource, nil
	}
	if o.At, err = name(w.in.Pane); err != nil {
		return "", err
	}
	if o.Marked, err = name(w.in.With); err != nil {
		return "", err
	}
	own := slices.IndexFunc(w.terminals, func(t ahp.TerminalInfo) bool { return w.own != "" && t.Resource == w.own })
	if own >= 0 {
		on := termcmd.LayoutsOf(w.terminals[own])
		switch {
		case layout == "" && len(on) == 0:
			return "", errors.New("this terminal is in no layout: say which one is meant with --layout, or which pane with --pane")
		case layout == "":
			layout = on[0]
		}
		if o.At == "" && slices.Contains(on, layout) && !roams(o.Name) {
			o.At = w.own
		}
	}
	return cmp.Or(layout, termcmd.DefaultLayout), nil
}

// face finds the interface that is meant: one that shows the layout that is named or that this
// runs in, else the only one.
func (w where) face(ctx context.Context, c *endpoint.Conn, needs *ui.NeedsInterfaceError) (it endpoint.Interface, err error) {
	all, err := c.Interfaces(ctx)
	if err != nil {
		return it, err
	}
	layout := w.in.Layout
	if t, err := endpoint.Resolve(w.terminals, cmp.Or(w.in.Pane, w.own)); layout == "" && w.in.In == "" && err == nil {
		if on := termcmd.LayoutsOf(t); len(on) > 0 {
			layout = on[0]
		}
	}
	it, err = endpoint.ChooseInterface(all, w.in.In, layout)
	if err != nil && needs != nil {
		err = fmt.Errorf("%s needs an interface: %w", needs.Command, err)
		if len(all) == 0 {
			err = fmt.Errorf("%w: %s", err, needs.Instead)
		}
	}
	return it, err
}

func layoutWords(name string) string {
	if name == "" {
		return "any layout"
	}
	return "layout " + name
}
