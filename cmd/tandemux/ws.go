package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/apiclient"
)

// wsRow is a filesystem as the command line prints it with --json.
type wsRow struct {
	ID      string `json:"id"`
	Project string `json:"project_id"`
	Name    string `json:"name"`
	Version string `json:"archive_version"`
	Files   int64  `json:"files"`
	Size    int64  `json:"size"`
	Created string `json:"created_at"`
}

// fileRow is a file of one.
type fileRow struct {
	Path     string `json:"path"`
	Raw      []byte `json:"path_base64,omitempty"`
	Kind     string `json:"type"`
	Size     int64  `json:"size"`
	Mode     string `json:"mode"`
	MIME     string `json:"mime_type"`
	Modified string `json:"modified_at,omitempty"`
	Version  string `json:"file_version,omitempty"`
}

func newWsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ws",
		Short: "Files that tasks work on: keep them, compare them, bring them home",
		Long: `Workspaces. A task works on files of its own: a worktree, a copy, or a copy of a
filesystem, which is a tree that the host keeps and that several tasks can share.

  create, ls, get, push, pull   filesystems: "tandemux task create -f ID" gives one to a task
  diff, merge                   what a task changed, and its way home`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWsCreateCommand(), newWsLsCommand(), newWsGetCommand(), newWsPushCommand(), newWsPullCommand(), newWsDiffCommand(), newWsMergeCommand())
	return cmd
}

// defaultProject is what a filesystem belongs to when nobody says what.
const defaultProject = "default"

func newWsCreateCommand() *cobra.Command {
	var project, name, dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create [--name NAME] [--dir DIR]",
		Short: "Make a filesystem and print its id",
		Long: `Make a filesystem and print its id. With --dir it begins with the files of a
directory. It belongs to a project, whose rights are its rights; to "default", which is
made when it is missing, unless --project says otherwise.`,
		Args: cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				if project == "" {
					project = defaultProject
					if err := ensureProject(ctx, c); err != nil {
						return err
					}
				}
				var row wsRow
				body := map[string]string{"project_id": project}
				if name != "" {
					body["name"] = name
				}
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/filesystems", Body: body}, &row); err != nil {
					return err
				}
				if dir != "" {
					if _, err := pushDir(ctx, cmd, c, row.ID, dir); err != nil {
						// Nobody has seen it yet.
						c.Do(context.WithoutCancel(ctx), apiclient.Request{Method: http.MethodDelete, Path: filesystemPath(row.ID)}, nil) //nolint:errcheck // the other error says more
						return err
					}
				}
				if !asJSON {
					fmt.Fprintln(cmd.OutOrStdout(), row.ID)
					return nil
				}
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: filesystemPath(row.ID)}, &row); err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), row)
			})
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&name, "name", "n", "", "a name, unique in the project")
	f.StringVarP(&project, "project", "p", "", "the project")
	f.StringVar(&dir, "dir", "", "begin with this directory's files")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func ensureProject(ctx context.Context, c *apiclient.Client) error {
	_, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/projects/" + defaultProject}, nil)
	if !hasStatus(err, http.StatusNotFound) {
		return err
	}
	_, err = c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/projects", Body: map[string]string{"name": defaultProject}}, nil)
	if hasStatus(err, http.StatusConflict) {
		return nil // somebody was faster
	}
	return err
}

func hasStatus(err error, status int) bool {
	var refused *apiclient.Error
	return errors.As(err, &refused) && refused.StatusCode == status
}

func filesystemPath(id string) string { return "/filesystems/" + apiclient.Segment(id) }

func newWsLsCommand() *cobra.Command {
	var project string
	var recursive, asJSON bool
	cmd := &cobra.Command{
		Use:   "ls [ID [DIR]]",
		Short: "List filesystems, or the files of one",
		Args:  cobra.MaximumNArgs(2),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				if len(args) > 0 {
					return lsFiles(ctx, cmd, c, args, recursive, asJSON)
				}
				query := url.Values{"limit": {"1000"}}
				if project != "" {
					query.Set("project_id", project)
				}
				rows, err := list[wsRow](ctx, c, "/filesystems", query)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				if len(rows) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "there are no filesystems; `tandemux ws create` makes one")
					return nil
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tNAME\tPROJECT\tFILES\tBYTES")
				for _, r := range rows {
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", r.ID, printable(r.Name), r.Project, r.Files, r.Size)
				}
				return w.Flush()
			})
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&project, "project", "p", "", "only those of this project")
	f.BoolVarP(&recursive, "recursive", "r", false, "list the files of all directories")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func lsFiles(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, args []string, recursive, asJSON bool) error {
	query := url.Values{"limit": {"1000"}, "recursive": {strconv.FormatBool(recursive)}}
	if len(args) > 1 {
		query.Set("directory", args[1])
	}
	rows, err := list[fileRow](ctx, c, filesystemPath(args[0])+"/files", query)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), rows)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, r := range rows {
		name := printableLong(r.Path)
		if r.Kind == "directory" {
			name += "/"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\n", r.Mode, r.Size, name)
	}
	return w.Flush()
}

func newWsGetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get ID [PATH]",
		Short: "Show a filesystem, or print a file of it",
		Args:  cobra.RangeArgs(1, 2),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				if len(args) == 2 {
					return getFile(ctx, cmd, c, args[0], args[1], asJSON)
				}
				var r wsRow
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: filesystemPath(args[0])}, &r); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), r)
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  %d files, %d bytes\nproject %s\nversion %s\n", r.ID, printable(r.Name), r.Files, r.Size, r.Project, r.Version)
				return err
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: of a file what is known of it, not its contents")
	return cmd
}

func getFile(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, id, path string, asJSON bool) error {
	if asJSON {
		var r fileRow
		if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: filesystemPath(id) + "/files/" + (&url.URL{Path: path}).EscapedPath()}, &r); err != nil {
			return err
		}
		return printJSON(cmd.OutOrStdout(), r)
	}
	resp, err := c.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: filesystemPath(id) + "/file-download", Query: url.Values{"path": {path}}})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(safely(cmd.OutOrStdout()), resp.Body)
	return err
}

func newWsPushCommand() *cobra.Command {
	var base string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "push ID DIR",
		Short: "Replace a filesystem's files by a directory's",
		Long: `Replace all files of a filesystem by those of a directory. Tasks that work on it get
what changed before their next event. With --base it is done only while the filesystem
is at that version.`,
		Args: cobra.ExactArgs(2),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				got, err := pushDirAt(ctx, cmd, c, args[0], args[1], base)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), got)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d changed, version %s\n", got.Count, got.Version)
				return err
			})
		}),
	}
	cmd.Flags().StringVar(&base, "base", "", "the version that it must be at")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func pushDir(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, id, dir string) (filetree.Synced, error) {
	return pushDirAt(ctx, cmd, c, id, dir, "")
}

// pushDirAt sends a directory as an archive.
func pushDirAt(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, id, dir, base string) (filetree.Synced, error) {
	var got filetree.Synced
	at, err := absolute(dir)
	if err != nil {
		return got, err
	}
	if st, err := os.Stat(at); err != nil || !st.IsDir() {
		return got, fmt.Errorf("%s is not a directory", dir)
	}
	r, w := io.Pipe()
	type packed struct {
		skipped []string
		err     error
	}
	done := make(chan packed, 1)
	go func() {
		skipped, err := filetree.PackDir(ctx, at, w)
		w.CloseWithError(err) //nolint:errcheck // never fails
		done <- packed{skipped, err}
	}()
	query := url.Values{}
	if base != "" {
		query.Set("baseVersion", base)
	}
	_, err = c.Do(ctx, apiclient.Request{Method: http.MethodPut, Path: filesystemPath(id) + "/archive", Query: query, Raw: r, Type: "application/zstd"}, &got)
	r.CloseWithError(errPushed) //nolint:errcheck // never fails
	p := <-done
	if err == nil && p.err != nil {
		err = p.err
	}
	if p.err != nil && !errors.Is(p.err, errPushed) {
		err = p.err // the host only saw an archive that ended early
	}
	for _, path := range p.skipped {
		fmt.Fprintf(cmd.ErrOrStderr(), "left out, as it can't be kept: %s\n", printable(path))
	}
	return got, err
}

// errPushed ends packing when the host has answered.
var errPushed = errors.New("the host has answered already")

func newWsPullCommand() *cobra.Command {
	var overwrite, asJSON bool
	cmd := &cobra.Command{
		Use:   "pull ID DIR",
		Short: "Write a filesystem's files, or a task's, into a directory",
		Long: `Write the files of a filesystem into a directory; of a task, workspace/ and its
system folders, as "tandemux task pull" does. The directory is made; one that has files
takes --overwrite. git's own files (.git) are left out: the git that you run would
believe what an agent wrote there.`,
		Args: cobra.ExactArgs(2),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			dir, err := absolute(args[1])
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				resp, err := c.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: filesystemPath(args[0]) + "/archive"})
				if hasStatus(err, http.StatusNotFound) {
					var other error
					if resp, other = c.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/tasks/" + apiclient.Segment(args[0]) + "/archive"}); other == nil {
						err = nil
					} else if !hasStatus(other, http.StatusNotFound) {
						err = other
					}
				}
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				got, err := filetree.Unpack(ctx, resp.Body, dir, filetree.PullOptions{Overwrite: overwrite})
				if err != nil {
					return err
				}
				return tellPulled(cmd, got, asJSON)
			})
		}),
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace files that are there")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func tellPulled(cmd *cobra.Command, got filetree.Pulled, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), got)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d files, %d bytes in %s\n", got.Files, got.Bytes, printable(got.Out))
	for _, path := range got.Skipped {
		fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s\n", printable(path))
	}
	return nil
}
