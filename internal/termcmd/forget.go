package termcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/history"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/resurrect"
)

// Forget is `tandemux forget`.
func Forget() *cobra.Command {
	var in struct {
		All bool `flag:"all" doc:"Also what all terminals showed, and the commands that ran"`
	}
	return cli.Command("forget [ID]", `Remove what is kept on disk for the next start of the machine
That is which layouts there are, and of their terminals the directories, titles and
commands. With an ID, what that terminal showed, in its place; with --all, both, of all
terminals, and the history of commands. What terminals show is kept only with
history-on-disk in config.toml. A host that runs writes things anew when they change.`, &in, func(cmd *cobra.Command, args []string) error {
		out, dir := cmd.OutOrStdout(), local.FindDirs().State
		switch {
		case len(args) > 0 && in.All:
			return cli.Usagef("--all and a terminal's id exclude each other")
		case len(args) > 0:
			return forgetTerminal(out, dir, args[0])
		case in.All:
			if err := errors.Join(forgetHistories(out, dir), history.Forget(dir)); err != nil {
				return err
			}
		}
		return forgetLayouts(out, dir)
	})
}

func forgetLayouts(out io.Writer, dir string) error {
	m, err := resurrect.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(out, "nothing is kept")
		return nil
	}
	if err := resurrect.Forget(dir); err != nil {
		return err
	}
	if err != nil { // it was damaged
		fmt.Fprintln(out, "forgotten")
		return nil
	}
	fmt.Fprintf(out, "forgot %s with %s, kept at %s\n", cli.Count(len(m.Layouts), "layout"), cli.Count(len(m.Terminals), "terminal"), m.Saved.Local().Format(cli.Minutes))
	return nil
}

// forgetTerminal removes what a terminal showed. The terminal need not be there
// any more, nor a host.
func forgetTerminal(out io.Writer, dir, id string) error {
	all, err := resurrect.Histories(dir)
	if err != nil {
		return err
	}
	infos := make([]ahp.TerminalInfo, len(all))
	names := map[ahp.URI]resurrect.History{}
	for i, h := range all {
		uri := cmp.Or(h.URI, ahp.TerminalScheme+"/"+h.Name)
		infos[i], names[uri] = ahp.TerminalInfo{Resource: uri, Title: h.Title, Meta: &ahp.TerminalMeta{Name: h.Called, Title: h.Title}}, h
	}
	t, err := endpoint.Resolve(infos, id)
	if err != nil {
		return fmt.Errorf("of what is kept on disk: %w", err)
	}
	h := names[t.Resource]
	if err := resurrect.ForgetHistory(dir, h.Name); err != nil {
		return err
	}
	fmt.Fprintf(out, "forgot what %s showed until %s\n", endpoint.LastPart(t.Resource), h.Saved.Local().Format(cli.Minutes))
	return nil
}

func forgetHistories(out io.Writer, dir string) error {
	all, err := resurrect.Histories(dir)
	if err != nil {
		return err
	}
	if err := resurrect.ForgetHistories(dir); err != nil {
		return err
	}
	if len(all) > 0 {
		fmt.Fprintf(out, "forgot what %s showed\n", cli.Count(len(all), "terminal"))
	}
	return nil
}
