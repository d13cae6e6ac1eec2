package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/host/workspace"
	"tandemux/internal/apiclient"
)

func newWsDiffCommand() *cobra.Command {
	var stat, asJSON bool
	cmd := &cobra.Command{
		Use:   "diff TASK [PATH]",
		Short: "Show what a task changed",
		Long: `Show what a task changed since it began, or since its work was merged last, committed
or not, as a unified diff. In a terminal, what is no text is left out of the lines, so
that what an agent wrote can't move the cursor; in a file or a pipe it is a patch.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			query := url.Values{}
			if len(args) > 1 {
				query.Set("path", args[1])
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				at := "/tasks/" + apiclient.Segment(args[0]) + "/workspace"
				if stat || asJSON {
					d, err := taskDiff(ctx, c, at, query)
					if err != nil {
						return err
					}
					if asJSON {
						return printJSON(cmd.OutOrStdout(), d)
					}
					printStat(cmd.OutOrStdout(), d.Files, d.Added, d.Deleted, d.Left)
					return nil
				}
				resp, err := c.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: at + "/patch", Query: query})
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				_, err = io.Copy(safely(cmd.OutOrStdout()), resp.Body)
				return err
			})
		}),
	}
	cmd.Flags().BoolVar(&stat, "stat", false, "only count lines, file by file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the counts as JSON")
	return cmd
}

func taskDiff(ctx context.Context, c *apiclient.Client, at string, query url.Values) (workspace.Diff, error) {
	var d workspace.Diff
	_, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: at + "/diff", Query: query}, &d)
	return d, err
}

// printStat prints a line for each file.
func printStat(w io.Writer, files []workspace.FileDiff, added, deleted int, left []string) {
	for _, f := range files {
		name := printableLong(f.Path)
		if f.From != "" {
			name = printableLong(f.From) + " → " + name
		}
		counts := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
		if f.Binary {
			counts = "binary"
		}
		fmt.Fprintf(w, "%-9s %-11s %s\n", f.Status, counts, name)
	}
	fmt.Fprintf(w, "%d files, +%d -%d\n", len(files), added, deleted)
	for _, p := range left {
		fmt.Fprintf(w, "stays in the workspace: %s\n", printableLong(p))
	}
}

func newWsMergeCommand() *cobra.Command {
	var message string
	var dry, yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "merge TASK",
		Short: "Bring home what a task changed",
		Long: `Bring home what a task changed: from a worktree into the branch that is checked out
in the repository, from a copy into its directory, from a filesystem's copy into the
filesystem. What will come is shown first; in a terminal you are asked. It is done
wholly or not at all: where both sides changed the same, or your uncommitted changes
are in the way, nothing is touched, and you are told where.`,
		Args: cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				at := "/tasks/" + apiclient.Segment(args[0]) + "/workspace"
				ask := !asJSON && !yes && !dry && term.IsTerminal(int(os.Stdin.Fd()))
				if ask {
					var m workspace.Merged
					if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: at + "/merge", Body: map[string]any{"dry_run": true}}, &m); err != nil {
						return err
					}
					tellMerged(cmd.OutOrStdout(), m)
					if m.Nothing {
						return nil
					}
					if !agrees(cmd, "Merge into "+printable(m.Into)+"?") {
						return errors.New("nothing was merged")
					}
				}
				var m workspace.Merged
				body := map[string]any{"dry_run": dry}
				if message != "" {
					body["message"] = message
				}
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: at + "/merge", Body: body}, &m); err != nil {
					return err
				}
				switch {
				case asJSON:
					return printJSON(cmd.OutOrStdout(), m)
				case ask:
					fmt.Fprintf(cmd.OutOrStdout(), "merged into %s\n", printable(m.Into))
				default:
					tellMerged(cmd.OutOrStdout(), m)
				}
				return nil
			})
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&message, "message", "m", "", "the commit's message, of a worktree")
	f.BoolVar(&dry, "dry-run", false, "only say what would come")
	f.BoolVarP(&yes, "yes", "y", false, "don't ask")
	f.BoolVar(&asJSON, "json", false, "print JSON, and don't ask")
	return cmd
}

func tellMerged(w io.Writer, m workspace.Merged) {
	if m.Nothing {
		fmt.Fprintf(w, "there is nothing to merge into %s\n", printable(m.Into))
		return
	}
	added, deleted := 0, 0
	for _, f := range m.Files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	printStat(w, m.Files, added, deleted, m.Left)
	if m.Commit != "" {
		fmt.Fprintf(w, "%s is at %s\n", printable(m.Into), m.Commit)
	}
}

// agrees asks a question; everything but y or yes is no.
func agrees(cmd *cobra.Command, question string) bool {
	fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	line, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

// safely writes what others wrote: to a terminal without controls, lines apart.
func safely(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return w
	}
	return harmlessWriter{w}
}

type harmlessWriter struct{ w io.Writer }

// Write drops controls. Of a character that a write cuts in two neither half is one.
func (h harmlessWriter) Write(b []byte) (int, error) {
	clean := bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, b)
	if _, err := h.w.Write(clean); err != nil {
		return 0, err
	}
	return len(b), nil
}
