package termcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/fileuri"
	"tandemux/ui/words"
)

func newHistoryCommand() *cobra.Command {
	in := struct {
		Dir    string `flag:"dir" doc:"Only those that ran in this directory"`
		Failed bool   `flag:"failed" doc:"Only those that failed"`
		Limit  int    `flag:"limit" doc:"How many at most, the newest"`
	}{Limit: 100}
	return cli.WithJSON(cli.Command("history [WORD...]", `Print the commands that ran in any terminal, the newest last
Those of terminals that are gone, too: command-history in config.toml says how many are
kept. Of each that has all WORDs: when it began, its exit code and how long it took,
its directory, and its line.

`+endpoint.OfAll+`

  tandemux history make test
  tandemux history --failed --dir .`, &in, func(cmd *cobra.Command, args []string) error {
		p := find.HistoryParams{Channel: ahp.RootURI, Words: args, Failed: in.Failed, Limit: in.Limit}
		if in.Limit < 1 {
			return cli.Usagef("--limit %d: must be 1 or more", in.Limit)
		}
		each, missed, err := endpoint.EachConn(cmd, func(ctx context.Context, s *endpoint.Conn) (got find.HistoryResult, err error) {
			p := p
			if in.Dir != "" {
				dir, err := directory(s, in.Dir)
				if err != nil {
					return got, err
				}
				p.Cwd = fileuri.Of(dir)
			}
			err = s.Ask(ctx, find.MethodHistory, p, &got)
			return got, err
		})
		if err != nil {
			return err
		}
		all := find.HistoryResult{Items: []find.Command{}}
		for _, a := range each {
			all.Items, all.More = append(all.Items, a.Got.Items...), all.More || a.Got.More
		}
		slices.SortStableFunc(all.Items, func(a, b find.Command) int { return cmp.Compare(b.Timestamp, a.Timestamp) })
		if len(all.Items) > in.Limit {
			all.Items, all.More = all.Items[:in.Limit], true
		}
		printed := cli.Print(cmd, all, func(w io.Writer) error {
			for _, c := range slices.Backward(all.Items) {
				fmt.Fprintln(w, pastText(c))
			}
			return nil
		})
		return cmp.Or(printed, missed)
	}), cli.One[find.HistoryResult]())
}

// directory is a directory of the host's machine.
func directory(s *endpoint.Conn, dir string) (string, error) {
	if !s.At.Elsewhere() {
		return filepath.Abs(dir)
	}
	if !strings.HasPrefix(dir, "/") {
		return "", cli.Usagef("--dir %s: must be the whole path, as the host is another machine", dir)
	}
	return dir, nil
}

// pastText is a line of the history.
func pastText(c find.Command) string {
	exit, took := "?", "?"
	if c.ExitCode != nil {
		exit = fmt.Sprint(*c.ExitCode)
	}
	if c.DurationMs != nil {
		took = words.Lasted(time.Duration(*c.DurationMs) * time.Millisecond)
	}
	at := time.UnixMilli(c.Timestamp).Format("2006-01-02 15:04")
	return fmt.Sprintf("%s %4s %6s  %s  %s", at, exit, took, words.Clean(Tilde(fileuri.Path(c.Cwd))), words.Line(c.CommandLine))
}

func newSearchCommand() *cobra.Command {
	in := struct {
		Context int `flag:"context" doc:"Lines before and after each that are printed, too, at most 10"`
		Limit   int `flag:"limit" doc:"How many lines are found at most"`
	}{Limit: 1000}
	return cli.WithJSON(cli.Command("search TEXT", `Print the lines of all terminals that match, by terminal
What shows and what has scrolled off is searched. TEXT is a regular expression (RE2), or
taken as it is; without upper case letters either case matches. Exit code 1: nothing
matches.
`+endpoint.OfAll+`

  tandemux search 'error:'`, &in, func(cmd *cobra.Command, args []string) error {
		p := find.SearchParams{Channel: ahp.RootURI, Pattern: args[0], Limit: in.Limit, Context: in.Context}
		if in.Limit < 1 || in.Context < 0 {
			return cli.Usagef("--limit must be 1 or more, --context 0 or more")
		}
		type found struct {
			find.SearchResult
			titles map[ahp.URI]string
		}
		each, missed, err := endpoint.EachConn(cmd, func(ctx context.Context, s *endpoint.Conn) (f found, err error) {
			err = s.Ask(ctx, find.MethodSearch, p, &f.SearchResult)
			f.titles = map[ahp.URI]string{}
			for _, t := range s.Terminals() {
				f.titles[t.Resource] = endpoint.TitleOf(t)
			}
			return f, err
		})
		if err != nil {
			return err
		}
		got, titles := find.SearchResult{Items: []find.SearchHit{}}, map[ahp.URI]string{}
		for _, a := range each {
			got.Items, got.Partial = append(got.Items, a.Got.Items...), got.Partial || a.Got.Partial
			maps.Copy(titles, a.Got.titles)
		}
		if len(got.Items) > in.Limit {
			got.Items, got.Partial = got.Items[:in.Limit], true
		}
		err = cli.Print(cmd, got, func(w io.Writer) error {
			printHits(w, got.Items, titles, in.Context > 0)
			return nil
		})
		if err == nil && got.Partial {
			fmt.Fprintln(cmd.ErrOrStderr(), "note: there may be more: not everything was searched")
		}
		if err = cmp.Or(err, missed); err == nil && len(got.Items) == 0 {
			err = cli.StatusError{Code: cli.ExitFailed}
		}
		return err
	}), cli.One[find.SearchResult]())
}

// printHits prints lines below the terminal that they are of, the oldest first.
func printHits(w io.Writer, hits []find.SearchHit, titles map[ahp.URI]string, around bool) {
	line := func(text string) { fmt.Fprintln(w, "  "+words.Lines(text)) }
	for len(hits) > 0 {
		n := 1
		for n < len(hits) && hits[n].Terminal == hits[0].Terminal {
			n++
		}
		uri := hits[0].Terminal
		fmt.Fprintf(w, "%s  %s\n", endpoint.LastPart(uri), cli.Short(titles[uri]))
		for i := n - 1; i >= 0; i-- {
			if around && i < n-1 {
				line("--")
			}
			for _, l := range hits[i].Before {
				line(l)
			}
			line(hits[i].Text)
			for _, l := range hits[i].After {
				line(l)
			}
		}
		hits = hits[n:]
	}
}
