package termcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/fileuri"
	"tandemux/internal/local"
	"tandemux/ui/layout"
	"tandemux/ui/layout/layoutfile"
)

// DefaultLayout is the layout that is meant where nothing says another.
const DefaultLayout = "main"

// LayoutURI is the channel of a layout.
func LayoutURI(name string) ahp.URI { return ahp.LayoutScheme + "/" + name }

// LayoutsOf names the layouts that show a terminal.
func LayoutsOf(t ahp.TerminalInfo) (names []string) {
	if t.Meta != nil {
		for _, l := range t.Meta.Layouts {
			names = append(names, endpoint.LastPart(l))
		}
	}
	return names
}

// layoutMeant is the layout that was named, else the one that shows the terminal that
// this runs in.
func layoutMeant(s *endpoint.Conn, named string) string {
	if named != "" {
		return named
	}
	if own := os.Getenv("TANDEMUX_TERMINAL"); own != "" {
		for _, t := range s.Terminals() {
			if on := LayoutsOf(t); t.Resource == own && len(on) > 0 {
				return on[0]
			}
		}
	}
	return DefaultLayout
}

// CheckLayoutName keeps names to what is one part of a URI and easy to type; "" names none.
func CheckLayoutName(name string) error {
	const most = 64
	ok := len(name) <= most && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	}) < 0
	if !ok {
		return cli.Usagef("%q is no name for a layout; use up to %d letters, digits, dots, dashes and underscores", name, most)
	}
	return nil
}

// ReadLayout gives the newest state of a layout and its revision; the caller
// unsubscribes from the channel.
func ReadLayout(s *endpoint.Conn, ctx context.Context, channel ahp.URI) (l layout.Layout, rev int64, err error) {
	if err := s.Subscribe(ctx, channel); err != nil {
		return l, 0, err
	}
	state, ok := s.Mirror.Layout(channel)
	switch {
	case !ok:
		err = fmt.Errorf("the host gave no state for %s", channel)
	case state.Rev == 0:
		l = layout.New(endpoint.LastPart(channel))
	default:
		if l, err = layout.Decode(state.Doc); err != nil {
			err = fmt.Errorf("read layout %s: %w", endpoint.LastPart(channel), err)
		}
	}
	return l, state.Rev, err
}

// EditLayout applies op to the newest state of a layout; when another client
// was faster it tries again on what that one left.
func EditLayout(s *endpoint.Conn, ctx context.Context, channel ahp.URI, op func(layout.Layout) (layout.Layout, error)) error {
	const tries = 8
	ctx, cancel := context.WithTimeout(ctx, endpoint.CallTimeout)
	defer cancel()
	defer s.Unsubscribe(channel)
	for range tries {
		l, rev, err := ReadLayout(s, ctx, channel)
		if err == nil {
			l, err = op(l)
		}
		if err != nil {
			return err
		}
		next := ahp.LayoutChanged{Rev: rev + 1, Doc: l.Encode(), Terminals: l.Terminals()}
		_, err = s.DispatchWait(ctx, channel, next)
		var refused *client.RejectedError
		if !errors.As(err, &refused) {
			return err
		}
	}
	return errors.New("others keep changing the layout; try again")
}

// showInTab gives a terminal a tab of its own, leaving the focus where it is. A full layout loses
// the panes of this host's terminals that are gone, which otherwise the next interface closes.
func showInTab(s *endpoint.Conn, ctx context.Context, name string, terminal ahp.URI) error {
	return EditLayout(s, ctx, LayoutURI(name), func(l layout.Layout) (layout.Layout, error) {
		next, _, err := l.NewTab(terminal)
		if _, full := errors.AsType[layout.FullError](err); full {
			l = l.Prune(layout.Rect{}, func(uri ahp.URI) bool {
				return !strings.HasPrefix(uri, ahp.TerminalScheme) || hosted.Host(uri) != "" ||
					slices.ContainsFunc(s.Terminals(), func(t ahp.TerminalInfo) bool { return t.Resource == uri })
			})
			next, _, err = l.NewTab(terminal)
		}
		if err != nil || len(next.Tabs) == 1 {
			return next, err
		}
		return next.GoTab(l.Active), nil
	})
}

// Layout is `tandemux layout`.
func Layout() *cobra.Command {
	return cli.Group("layout", "Keep layouts as files: panes, directories, commands", "", newLayoutLsCommand(), newLayoutSaveCommand(), newLayoutLoadCommand())
}

// layoutRow is a layout as `tandemux layout ls --json` prints it; stable.
type layoutRow struct {
	Name string   `json:"name" doc:"What --layout takes"`
	Host string   `json:"host,omitempty" doc:"That it is of, by its name in tandemux hosts; absent for this machine's"`
	Tabs []tabRow `json:"tabs" doc:"From the left"`
	// Interfaces are the caller's own.
	Interfaces []string `json:"interfaces" doc:"Yours that show it, as tandemux do --interface takes them"`
}

// tabRow is a tab of it.
type tabRow struct {
	ID     string    `json:"id" doc:"Within the layout"`
	Name   string    `json:"name,omitempty" doc:"Which somebody gave it"`
	Active bool      `json:"active" doc:"It is the one that shows"`
	Panes  []paneRow `json:"panes" doc:"From the upper left, then the floating ones"`
}

// paneRow is a pane of that.
type paneRow struct {
	ID       string `json:"id" doc:"Within the layout: what do --pane takes"`
	URI      string `json:"uri" doc:"Of what it shows: a terminal or a chat"`
	Name     string `json:"name,omitempty" doc:"Which somebody gave the pane"`
	Focused  bool   `json:"focused" doc:"It has its tab's focus"`
	Floating bool   `json:"floating" doc:"It lies above the others"`
}

func newLayoutLsCommand() *cobra.Command {
	return cli.WithJSON(cli.Command("ls", `List the layouts that show something
INTERFACES are yours that show one, as "tandemux do --interface" takes them. With --json
it has their tabs and panes, too. `+endpoint.OfAll, nil, func(cmd *cobra.Command, _ []string) error {
		rows, missed, err := ofEach(cmd, func(ctx context.Context, s *endpoint.Conn) (rows []layoutRow, _ error) {
			faces, _ := s.Interfaces(ctx) //nolint:errcheck // an older host, or one that tells us nothing of them
			for _, uri := range s.Layouts() {
				l, _, err := ReadLayout(s, ctx, uri)
				s.Unsubscribe(uri)
				if err != nil {
					return nil, err
				}
				row := rowOfLayout(endpoint.LastPart(uri), l)
				row.Host = hosted.Host(uri)
				for _, one := range faces {
					if one.On() == row.Name {
						row.Interfaces = append(row.Interfaces, one.Name())
					}
				}
				rows = append(rows, row)
			}
			return rows, nil
		})
		if err != nil && !errors.Is(err, local.ErrNoHost) {
			return err
		}
		printed := cli.PrintTable(cmd, "there are no layouts; `tandemux` opens one", "LAYOUT\tTABS\tPANES\tINTERFACES", rows, func(r layoutRow) []any {
			panes := 0
			for _, t := range r.Tabs {
				panes += len(t.Panes)
			}
			return []any{r.Name, len(r.Tabs), panes, strings.Join(r.Interfaces, " ")}
		})
		return cmp.Or(printed, missed)
	}), cli.One[[]layoutRow]())
}

func rowOfLayout(name string, l layout.Layout) layoutRow {
	r := layoutRow{Name: name, Tabs: []tabRow{}, Interfaces: []string{}}
	for i, t := range l.Tabs {
		tab := tabRow{ID: t.ID, Name: t.Name, Active: i == l.Active}
		for _, p := range t.Panes() {
			tab.Panes = append(tab.Panes, paneRow{string(p.Pane), p.Terminal, p.Name, p.Pane == t.Focus, t.Floating(p.Pane)})
		}
		r.Tabs = append(r.Tabs, tab)
	}
	return r
}

func newLayoutSaveCommand() *cobra.Command {
	var in struct {
		Layout string `flag:"layout" doc:"Layout to save (default: which shows this shell, or main)"`
		Force  bool   `flag:"force" doc:"Write over a file that is there"`
	}
	return cli.Command("save [FILE]", `Write a layout to a file, or to stdout
The tabs and panes are written as TOML: how they are arranged, the directories that
their programs are in now, and the commands that were started in them. Shells are
started anew when the file is loaded.

  tandemux layout save work.toml
  tandemux layout save --layout work > work.toml`, &in, func(cmd *cobra.Command, args []string) error {
		if err := CheckLayoutName(in.Layout); err != nil {
			return err
		}
		var doc []byte
		err := endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
			f, err := saveLayout(s, ctx, layoutMeant(s, in.Layout))
			if err == nil {
				doc, err = f.Format()
			}
			return err
		})
		if err != nil {
			return err
		}
		if len(args) == 0 || args[0] == "-" {
			_, err = cmd.OutOrStdout().Write(doc)
			return err
		}
		return cli.WriteFile(args[0], doc, in.Force)
	})
}

// saveLayout describes a layout of the host.
func saveLayout(s *endpoint.Conn, ctx context.Context, name string) (layoutfile.File, error) {
	terminals := map[ahp.URI]ahp.TerminalInfo{}
	for _, t := range s.Terminals() {
		terminals[t.Resource] = t
	}
	channel := LayoutURI(name)
	ctx, cancel := context.WithTimeout(ctx, endpoint.CallTimeout)
	defer cancel()
	l, _, err := ReadLayout(s, ctx, channel)
	defer s.Unsubscribe(channel)
	if err != nil {
		return layoutfile.File{}, err
	}
	if len(l.Tabs) == 0 {
		return layoutfile.File{}, ahp.NotFound("there is nothing in layout %s", name)
	}
	describe := func(uri ahp.URI) layoutfile.Pane {
		meta := terminals[uri].Meta
		if meta == nil {
			return layoutfile.Pane{}
		}
		cwd := fileuri.Path(meta.Cwd)
		if !s.At.Elsewhere() {
			cwd = Tilde(cwd)
		}
		return layoutfile.Pane{Name: meta.Name, Cwd: cwd, Command: meta.Command}
	}
	return layoutfile.Saving{Describe: describe}.File(l), nil
}

func newLayoutLoadCommand() *cobra.Command {
	var in struct {
		Layout string `flag:"layout" doc:"Layout that gets the tabs (default: which shows this shell, or main)"`
		Add    bool   `flag:"add" doc:"Add the tabs to a layout that has some"`
	}
	return cli.Command("load [FILE]", `Open the panes of a file, or of stdin, in a layout
What a saved layout names is started and arranged as it was. The layout must be empty;
with --add the file's tabs come behind those that are there.

  tandemux layout load work.toml --layout work && tandemux attach work`, &in, func(cmd *cobra.Command, args []string) error {
		if err := CheckLayoutName(in.Layout); err != nil {
			return err
		}
		f, dir, err := readLayoutFile(cmd.InOrStdin(), args)
		if err != nil {
			return err
		}
		return endpoint.WithHost(cmd, endpoint.Options{Start: true}, func(ctx context.Context, s *endpoint.Conn) error {
			return loadLayout(s, ctx, layoutMeant(s, in.Layout), f, dir, in.Add)
		})
	})
}

// readLayoutFile reads a file and gives the directory that its paths are
// relative to.
func readLayoutFile(stdin io.Reader, args []string) (f layoutfile.File, dir string, err error) {
	in, what := stdin, "stdin"
	if dir, err = os.Getwd(); err != nil {
		return f, "", fmt.Errorf("find the working directory: %w", err)
	}
	if len(args) > 0 && args[0] != "-" {
		file, err := os.Open(args[0])
		if err != nil {
			return f, "", fmt.Errorf("load the layout: %w", err)
		}
		defer file.Close()
		in, what = file, args[0]
		if dir, err = filepath.Abs(filepath.Dir(args[0])); err != nil {
			return f, "", err
		}
	}
	if f, err = layoutfile.Parse(in); err != nil {
		return f, "", fmt.Errorf("read a layout from %s: %w", what, err)
	}
	return f, dir, nil
}

// loadLayout starts what a file names and puts it into a layout: all of it, or
// nothing.
func loadLayout(s *endpoint.Conn, ctx context.Context, name string, f layoutfile.File, dir string, add bool) (err error) {
	var starts []ahp.CreateTerminalParams
	ld := layoutfile.Loading{Open: func(p layoutfile.Pane) ahp.URI {
		starts = append(starts, starting(s, p, dir))
		return starts[len(starts)-1].Channel
	}}
	tabs, err := ld.Tabs(f)
	if err != nil {
		return fmt.Errorf("load the layout: %w", err)
	}
	var made []ahp.URI
	defer func() {
		if err == nil {
			return
		}
		for _, uri := range made {
			s.Ask(context.WithoutCancel(ctx), ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil) //nolint:errcheck // the first error is the one to tell
		}
	}()
	put := func(l layout.Layout) (layout.Layout, error) {
		if len(l.Tabs) > 0 && !add {
			return l, fmt.Errorf("layout %s has %d tabs already: load into another one with --layout, or add to it with --add", name, len(l.Tabs))
		}
		return l.Append(tabs)
	}
	channel := LayoutURI(name)
	l, _, err := ReadLayout(s, ctx, channel)
	defer s.Unsubscribe(channel)
	if err == nil {
		_, err = put(l) // what can't be put there is not started
	}
	if err != nil {
		return err
	}
	for _, p := range starts {
		if err := s.Ask(ctx, ahp.MethodCreateTerminal, p, nil); err != nil {
			return err
		}
		made = append(made, p.Channel)
	}
	return EditLayout(s, ctx, channel, put)
}

// starting says how a pane's terminal is started.
func starting(s *endpoint.Conn, p layoutfile.Pane, dir string) ahp.CreateTerminalParams {
	params := ahp.CreateTerminalParams{
		Channel: endpoint.NewTerminalURI(), Name: p.Name, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: s.ClientID()},
		Meta: &ahp.CreateMeta{Command: p.Command, Env: s.At.ChildEnv(os.Environ())},
	}
	cwd := p.Cwd
	if s.At.Elsewhere() {
		if filepath.IsAbs(cwd) {
			params.Cwd = fileuri.Of(cwd)
		}
		return params // the host's home is where the others start
	}
	if rest, ok := strings.CutPrefix(cwd, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			cwd = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(cwd) {
		cwd = filepath.Join(dir, cwd)
	}
	params.Cwd = fileuri.Of(cwd)
	return params
}
