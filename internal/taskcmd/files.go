package taskcmd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

func (h Host) newWs() *cobra.Command {
	return group(&cobra.Command{
		Use:   "ws",
		Short: "Files that tasks work on: keep them, compare them, bring them home",
		Long: `Workspaces. A task works on files of its own: a worktree, a copy, or a copy of a
filesystem, which is a tree that the host keeps and that several tasks can share.

  create, ls, get, push, pull   filesystems: "tandemux task create -f ID" gives one to a task
  diff, merge                   what a task changed, and its way home`,
		RunE: help,
	}, h.newWsCreate(), h.newWsLs(), h.newWsGet(), h.newWsPush(), h.newWsPull(), h.newWsDiff(), h.newWsMerge())
}

// defaultProject is what a filesystem belongs to when nobody says what.
const defaultProject = "default"

func (h Host) newWsCreate() *cobra.Command {
	var in api.NewFilesystem
	var dir string
	cmd := h.asJSON(&cobra.Command{
		Use:   "create [--name NAME] [--dir DIR]",
		Short: "Make a filesystem and print its id",
		Long: `Make a filesystem and print its id. With --dir it begins with the files of a
directory. It belongs to a project, whose rights are its rights; to "default", which is
made when it is missing, unless --project says otherwise.`,
		Args: cobra.NoArgs,
	}, func(c *call, _ []string) error {
		if in.ProjectID == "" {
			in.ProjectID = defaultProject
			if err := ensureProject(c); err != nil {
				return err
			}
		}
		var f store.Filesystem
		if err := c.send(http.MethodPost, in, &f, "filesystems"); err != nil {
			return err
		}
		if dir != "" {
			if _, err := push(c, f.ID, dir, ""); err != nil {
				// Nobody has seen it yet.
				c.send(http.MethodDelete, nil, nil, "filesystems", f.ID) //nolint:errcheck // the other error says more
				return err
			}
			if err := c.get(&f, "filesystems", f.ID); err != nil {
				return err
			}
		}
		return c.print(f, "%s\n", f.ID)
	})
	f := cmd.Flags()
	f.StringVarP(&in.Name, "name", "n", "", "a name, unique in the project")
	f.StringVarP(&in.ProjectID, "project", "p", "", "the project")
	f.StringVar(&dir, "dir", "", "begin with this directory's files")
	return cmd
}

func ensureProject(c *call) error {
	err := c.get(nil, "projects", defaultProject)
	if hasStatus(err, http.StatusNotFound) {
		name := defaultProject
		err = c.send(http.MethodPost, registry.ProjectChange{Name: &name}, nil, "projects")
	}
	if hasStatus(err, http.StatusConflict) {
		return nil // somebody was faster
	}
	return err
}

func hasStatus(err error, status int) bool {
	refused, is := errors.AsType[*apiclient.Error](err)
	return is && refused.StatusCode == status
}

func (h Host) newWsLs() *cobra.Command {
	var project string
	var recursive bool
	cmd := h.asJSON(&cobra.Command{Use: "ls [ID [DIR]]", Short: "List filesystems, or the files of one", Args: cobra.MaximumNArgs(2)}, func(c *call, args []string) error {
		if len(args) > 0 {
			query := url.Values{"recursive": {strconv.FormatBool(recursive)}}
			if len(args) > 1 {
				query.Set("directory", args[1])
			}
			files, err := list[api.File](c, query, 0, "filesystems", args[0], "files")
			if err != nil {
				return err
			}
			return table(c, files, "", "", func(f api.File) []any {
				name := cli.Line(f.Path)
				if f.Kind == "directory" {
					name += "/"
				}
				return []any{f.Mode, f.Size, name}
			})
		}
		all, err := list[store.Filesystem](c, set(map[string]string{"project_id": project}), 0, "filesystems")
		if err != nil {
			return err
		}
		return table(c, all, "there are no filesystems; `tandemux ws create` makes one", "ID\tNAME\tPROJECT\tFILES\tBYTES", func(f store.Filesystem) []any {
			return []any{f.ID, cli.Short(f.Name), f.ProjectID, f.Files, f.Size}
		})
	})
	cmd.Flags().StringVarP(&project, "project", "p", "", "only those of this project")
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "list the files of all directories")
	return cmd
}

func (h Host) newWsGet() *cobra.Command {
	cmd := h.does(&cobra.Command{Use: "get ID [PATH]", Short: "Show a filesystem, or print a file of it", Args: cobra.RangeArgs(1, 2)}, func(c *call, args []string) error {
		if len(args) == 2 {
			return getFile(c, args[0], args[1])
		}
		var f store.Filesystem
		if err := c.get(&f, "filesystems", args[0]); err != nil {
			return err
		}
		return c.print(f, "%s  %s  %d files, %d bytes\nproject %s\nversion %s\n", f.ID, cli.Short(f.Name), f.Files, f.Size, f.ProjectID, f.Version)
	})
	cmd.Flags().Bool("json", false, "print JSON: of a file what is known of it, not its contents")
	return cmd
}

func getFile(c *call, id, path string) error {
	if cli.AsJSON(c.cmd) {
		var f api.File
		if err := c.do(apiclient.Request{Method: http.MethodGet, Path: apiclient.Path("filesystems", id, "files") + "/" + (&url.URL{Path: path}).EscapedPath()}, &f); err != nil {
			return err
		}
		f.Content, f.Base64 = nil, nil
		return c.print(f, "")
	}
	return c.copy(url.Values{"path": {path}}, "filesystems", id, "file-download")
}

// copy prints the bytes that are at a path.
func (c *call) copy(query url.Values, path ...string) error {
	body, err := c.download(query, path...)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(cli.Safely(c.out()), body)
	return err
}

func (h Host) newWsPush() *cobra.Command {
	var base string
	cmd := h.asJSON(&cobra.Command{
		Use:   "push ID DIR",
		Short: "Replace a filesystem's files by a directory's",
		Long: `Replace all files of a filesystem by those of a directory. Tasks that work on it get
what changed before their next event. With --base it is done only while the filesystem
is at that version.`,
		Args: cobra.ExactArgs(2),
	}, func(c *call, args []string) error {
		got, err := push(c, args[0], args[1], base)
		if err != nil {
			return err
		}
		return c.print(got, "%d changed, version %s\n", got.Count, got.Version)
	})
	cmd.Flags().StringVar(&base, "base", "", "the version that it must be at")
	return cmd
}

// errPushed ends packing when the host has answered.
var errPushed = errors.New("the host has answered already")

// push sends a directory as an archive.
func push(c *call, id, dir, base string) (got filetree.Synced, err error) {
	at, err := absolute(dir)
	if err != nil {
		return got, err
	}
	if st, err := os.Stat(at); err != nil || !st.IsDir() {
		return got, fmt.Errorf("%s is not a directory", dir)
	}
	r, w := io.Pipe()
	packed := make(chan error, 1)
	var skipped []string
	go func() {
		var err error
		skipped, err = filetree.PackDir(c.ctx(), at, w)
		w.CloseWithError(err) //nolint:errcheck // never fails
		packed <- err
	}()
	err = c.do(apiclient.Request{
		Method: http.MethodPut, Path: apiclient.Path("filesystems", id, "archive"), Query: set(map[string]string{"baseVersion": base}), Raw: r, Type: "application/zstd",
	}, &got)
	r.CloseWithError(errPushed) //nolint:errcheck // never fails
	// Where packing failed, the host only saw an archive that ended early.
	if perr := <-packed; perr != nil && (err == nil || !errors.Is(perr, errPushed)) {
		err = perr
	}
	c.leftOut(skipped)
	return got, err
}

// leftOut names what was not taken along.
func (c *call) leftOut(paths []string) {
	for _, path := range paths {
		c.note("left out: %s", cli.Short(path))
	}
}

func (h Host) newWsPull() *cobra.Command {
	return h.pulls(&cobra.Command{
		Use:   "pull ID DIR",
		Short: "Write a filesystem's files, or a task's, into a directory",
		Long: `Write the files of a filesystem into a directory; of a task, workspace/ and its
system folders, as "tandemux task pull" does. The directory is made; one that has files
takes --overwrite. git's own files (.git) are left out: the git that you run would
believe what an agent wrote there.`,
		Args: cobra.ExactArgs(2),
	}, func(args []string) (string, error) { return args[1], nil }, "filesystems", "tasks")
}

func (h Host) newTaskPull() *cobra.Command {
	var out string
	cmd := h.pulls(&cobra.Command{
		Use:   "pull ID --out DIR",
		Short: "Write a task's files into a directory",
		Long: `Write a task's files into a directory: workspace/ and, beside it, its system folders
such as .claude. The directory is made; one that has files takes --overwrite, and
keeps those that the task does not have.`,
		Args: cobra.ExactArgs(1),
	}, func([]string) (string, error) {
		if out == "" {
			return "", cli.Usagef("--out: say which directory to write into")
		}
		return out, nil
	}, "tasks")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the directory")
	return cmd
}

// pulls makes a command that writes the archive of its first argument, the first
// there is of kinds, into a directory.
func (h Host) pulls(cmd *cobra.Command, into func(args []string) (string, error), kinds ...string) *cobra.Command {
	var o filetree.PullOptions
	h.asJSON(cmd, func(c *call, args []string) error {
		dir, err := into(args)
		if err == nil {
			dir, err = absolute(dir)
		}
		if err != nil {
			return err
		}
		var body io.ReadCloser
		for i, kind := range kinds {
			var kerr error
			if body, kerr = c.download(nil, kind, args[0], "archive"); i == 0 || !hasStatus(kerr, http.StatusNotFound) {
				err = kerr
			}
			if !hasStatus(err, http.StatusNotFound) {
				break
			}
		}
		if err != nil {
			return err
		}
		defer body.Close()
		got, err := filetree.Unpack(c.ctx(), body, dir, o)
		if err != nil {
			return err
		}
		if !cli.AsJSON(c.cmd) {
			c.leftOut(got.Skipped)
		}
		return c.print(got, "%d files, %d bytes in %s\n", got.Files, got.Bytes, cli.Short(got.Out))
	})
	cmd.Flags().BoolVar(&o.Overwrite, "overwrite", false, "replace files that are there")
	return cmd
}

func (h Host) newWsDiff() *cobra.Command {
	var stat bool
	cmd := h.does(&cobra.Command{
		Use:   "diff TASK [PATH]",
		Short: "Show what a task changed",
		Long: `Show what a task changed since it began, or since its work was merged last, committed
or not, as a unified diff. In a terminal, what is no text is left out of the lines, so
that what an agent wrote can't move the cursor; in a file or a pipe it is a patch.`,
		Args: cobra.RangeArgs(1, 2),
	}, func(c *call, args []string) error {
		query := url.Values{}
		if len(args) > 1 {
			query.Set("path", args[1])
		}
		if !stat && !cli.AsJSON(c.cmd) {
			return c.copy(query, "tasks", args[0], "workspace", "patch")
		}
		var d workspace.Diff
		if err := c.do(apiclient.Request{Method: http.MethodGet, Path: apiclient.Path("tasks", args[0], "workspace", "diff"), Query: query}, &d); err != nil {
			return err
		}
		return cli.Print(c.cmd, d, func(w io.Writer) error {
			printStat(w, d.Files, d.Left)
			return nil
		})
	})
	cmd.Flags().BoolVar(&stat, "stat", false, "only count lines, file by file")
	cmd.Flags().Bool("json", false, "print the counts as JSON")
	return cmd
}

// printStat prints a line for each file.
func printStat(w io.Writer, files []workspace.FileDiff, left []string) {
	added, deleted := 0, 0
	for _, f := range files {
		added, deleted = added+f.Added, deleted+f.Deleted
		name := cli.Line(f.Path)
		if f.From != "" {
			name = cli.Line(f.From) + " → " + name
		}
		counts := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
		if f.Binary {
			counts = "binary"
		}
		fmt.Fprintf(w, "%-9s %-11s %s\n", f.Status, counts, name)
	}
	fmt.Fprintf(w, "%d files, +%d -%d\n", len(files), added, deleted)
	for _, p := range left {
		fmt.Fprintf(w, "stays in the workspace: %s\n", cli.Line(p))
	}
}

func (h Host) newWsMerge() *cobra.Command {
	var in api.MergeWorkspace
	var yes bool
	cmd := h.does(&cobra.Command{
		Use:   "merge TASK",
		Short: "Bring home what a task changed",
		Long: `Bring home what a task changed: from a worktree into the branch that is checked out
in the repository, from a copy into its directory, from a filesystem's copy into the
filesystem. What will come is shown first; in a terminal you are asked. It is done
wholly or not at all: where both sides changed the same, or your uncommitted changes
are in the way, nothing is touched, and you are told where.`,
		Args: cobra.ExactArgs(1),
	}, func(c *call, args []string) error {
		merge := func(in api.MergeWorkspace) (m workspace.Merged, err error) {
			return m, c.send(http.MethodPost, in, &m, "tasks", args[0], "workspace", "merge")
		}
		if yes || in.DryRun || cli.AsJSON(c.cmd) || !cli.OnTerminal(c.cmd) {
			m, err := merge(in)
			if err != nil {
				return err
			}
			return cli.Print(c.cmd, m, func(w io.Writer) error {
				tellMerged(w, m)
				return nil
			})
		}
		m, err := merge(api.MergeWorkspace{DryRun: true})
		if err != nil {
			return err
		}
		tellMerged(c.out(), m)
		if m.Nothing {
			return nil
		}
		if !cli.Agrees(c.cmd, "Merge into "+cli.Short(m.Into)+"?") {
			return errors.New("nothing was merged")
		}
		if m, err = merge(in); err != nil {
			return err
		}
		return c.print(m, "merged into %s\n", cli.Short(m.Into))
	})
	f := cmd.Flags()
	f.StringVarP(&in.Message, "message", "m", "", "the commit's message, of a worktree")
	f.BoolVar(&in.DryRun, "dry-run", false, "only say what would come")
	f.BoolVarP(&yes, "yes", "y", false, "don't ask")
	f.Bool("json", false, "print JSON, and don't ask")
	return cmd
}

func tellMerged(w io.Writer, m workspace.Merged) {
	if m.Nothing {
		fmt.Fprintf(w, "there is nothing to merge into %s\n", cli.Short(m.Into))
		return
	}
	printStat(w, m.Files, m.Left)
	if m.Commit != "" {
		fmt.Fprintf(w, "%s is at %s\n", cli.Short(m.Into), m.Commit)
	}
}
