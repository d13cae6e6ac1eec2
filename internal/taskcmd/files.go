package taskcmd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

func newWs() *cobra.Command {
	return cli.Group("ws", "Files that tasks work on: keep them, compare them, bring them home", `Workspaces. A task works on files of its own: a worktree, a copy, or a copy of a
filesystem, which is a tree that the host keeps and that several tasks can share.

  new, ls, show, push, pull, rm   filesystems: "tandemux task new -f ID" gives one to a task
  push                              a task's branch to a remote, too
  resolve                           files that a task and its filesystem both changed
  diff, update, merge               what a task changed, what is new at home, the way home`,
		newWsNew(), newWsLs(), newWsShow(), newWsPush(), newWsPull(), newWsDiff(), newWsUpdate(), newWsResolve(), newWsMerge(), act[nothing]("rm FILESYSTEM", "deleteFilesystem", nil))
}

// defaultProject is what a filesystem belongs to when nobody says what.
const defaultProject = "default"

func newWsNew() *cobra.Command {
	var in struct {
		api.NewFilesystem
		From string `flag:"dir" doc:"Begin with this directory's files"`
	}
	return verb("new [--name NAME] [--dir DIR]", `Make a filesystem and print its id
It belongs to a project, whose rights are its rights; to "default", which is made when
it is missing, unless --project says otherwise.`, &in, func(c *call, _ []string) error {
		if in.ProjectID == "" {
			in.ProjectID = defaultProject
			err := c.do(Request("getProject", nil, defaultProject), nil)
			if isMissing(err) {
				err = c.do(Request("createProject", registry.ProjectChange{Name: &in.ProjectID}), nil)
			}
			if err != nil && !hasStatus(err, http.StatusConflict) { // else somebody was faster
				return err
			}
		}
		f, err := Ask[store.Filesystem](c.Client, "createFilesystem", in.NewFilesystem)
		if err != nil {
			return err
		}
		if in.From != "" {
			if _, err := push(c, f.ID, in.From, ""); err != nil {
				c.do(Request("deleteFilesystem", nil, f.ID), nil) //nolint:errcheck // nobody has seen it yet; the other error says more
				return err
			}
			if f, err = Ask[store.Filesystem](c.Client, "getFilesystem", nil, f.ID); err != nil {
				return err
			}
		}
		return show(c, f, f.ID)
	}, cli.One[store.Filesystem]())
}

func newWsLs() *cobra.Command {
	var in struct {
		api.FilesystemQuery
		Recursive bool `flag:"recursive,r" doc:"List the files of all directories"`
	}
	return verb("ls [FILESYSTEM] [DIR]", "List filesystems, or the files of one", &in, func(c *call, args []string) error {
		if len(args) > 0 {
			q := api.FileQuery{Recursive: in.Recursive}
			if len(args) > 1 {
				q.Directory = args[1]
			}
			files, err := List[api.File](c.Client, 0, "listFiles", q, args[0])
			if err != nil {
				return err
			}
			return cli.PrintTable(c.Command, "", "", files, func(f api.File) []any {
				if f.Kind == "directory" {
					f.Path += "/"
				}
				return []any{f.Mode, f.Size, cli.Whole(f.Path)}
			})
		}
		all, err := List[store.Filesystem](c.Client, 0, "listFilesystems", in.FilesystemQuery)
		if err != nil {
			return err
		}
		return cli.PrintTable(c.Command, "there are no filesystems; `tandemux ws new` makes one", "ID\tNAME\tPROJECT\tFILES\tBYTES", all, func(f store.Filesystem) []any {
			return []any{f.ID, f.Name, f.ProjectID, f.Files, f.Size}
		})
	}, cli.One[[]store.Filesystem](), cli.One[[]api.File]())
}

func newWsShow() *cobra.Command {
	return verb("show FILESYSTEM [PATH]", `Show a filesystem, or print a file of it
With --json it is, of a file, what is known of it, not its contents.`, nil, func(c *call, args []string) error {
		switch {
		case len(args) < 2:
			return told(c, func(f store.Filesystem) string {
				return fmt.Sprintf("%s  %s  %s, %s\nproject %s\nversion %s", f.ID, cli.Short(f.Name), cli.Count(int(f.Files), "file"), cli.Count(int(f.Size), "byte"), f.ProjectID, f.Version)
			}, "getFilesystem", nil, args[0])
		case cli.AsJSON(c.Command):
			return told[api.File](c, nil, "getFile", nil, args...)
		}
		return copyOut(c, "downloadFile", api.FilePath{Path: args[1]}, args[0])
	}, cli.One[store.Filesystem](), cli.One[api.File]())
}

// copyOut prints the bytes that an operation answers with.
func copyOut(c *call, op string, in any, refs ...string) error {
	body, err := c.Download(op, in, refs...)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(cli.Bytes(c.OutOrStdout()), body)
	return err
}

// errPushed ends packing when the host has answered.
var errPushed = errors.New("the host has answered already")

// push sends a directory as an archive.
func push(c *call, id, dir, base string) (got filetree.Synced, err error) {
	at, err := directory(dir)
	if err != nil {
		return got, err
	}
	return got, upload(c, Request("uploadArchive", api.Base{Version: base}, id), &got, at)
}

// directory is the absolute path of a directory that there is.
func directory(dir string) (string, error) {
	at, err := absolute(dir)
	if err != nil {
		return "", err
	}
	if st, err := os.Stat(at); err != nil || !st.IsDir() {
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	return at, nil
}

// upload sends a directory as an archive, or only the directories in it that are named, and
// decodes the answer.
func upload(c *call, req apiclient.Request, got any, dir string, names ...string) (err error) {
	r, w := io.Pipe()
	packed := make(chan error, 1)
	var skipped []string
	go func() {
		var err error
		skipped, err = filetree.PackDir(c.Context(), dir, w, names...)
		w.CloseWithError(err) //nolint:errcheck // never fails
		packed <- err
	}()
	req.Raw, req.Type = r, "application/zstd"
	err = c.do(req, got)
	r.CloseWithError(errPushed) //nolint:errcheck // never fails
	// Where packing failed, the host only saw an archive that ended early.
	if perr := <-packed; perr != nil && (err == nil || !errors.Is(perr, errPushed)) {
		err = perr
	}
	c.leftOut(skipped)
	return err
}

// leftOut names what was not taken along.
func (c *call) leftOut(paths []string) {
	for _, path := range paths {
		c.note("left out: %s", cli.Short(path))
	}
}

// pulling are the flags of what writes files.
type pulling struct {
	Overwrite bool `flag:"overwrite" doc:"Replace files that are there"`
}

func newWsPull() *cobra.Command {
	var in pulling
	return verb("pull FILESYSTEM DIR", `Write a filesystem's files, or a task's, into a directory
Of a task these are workspace/ and its system folders, as "tandemux task pull" writes
them. The directory is made; one that has files takes --overwrite. git's own files
(.git) are left out: the git that you run would believe what an agent wrote there.`, &in, func(c *call, args []string) error {
		body, err := c.Download("downloadArchive", nil, args[0])
		if isMissing(err) {
			var terr error
			if body, terr = c.Download("downloadWorkspace", nil, args[0]); !isMissing(terr) {
				err = terr
			}
		}
		return in.unpack(c, body, err, args[1])
	}, cli.One[filetree.Pulled]())
}

func newTaskPull() *cobra.Command {
	var in struct {
		pulling
		api.FolderTypes
		Out string `flag:"out,o" doc:"The directory"`
	}
	return verb("pull TASK --out DIR", `Write a task's files into a directory
These are workspace/ and, beside it, its system folders such as .claude; with
--folder-type only such folders. The directory is made; one that has files takes
--overwrite, and keeps those that the task does not have. Logins are left out.`, &in, func(c *call, args []string) error {
		if in.Out == "" {
			return cli.Usagef("--out: say which directory to write into")
		}
		body, err := c.Download("downloadWorkspace", in.FolderTypes, args[0])
		return in.unpack(c, body, err, in.Out)
	}, cli.One[filetree.Pulled]())
}

// SystemFolders are those that a task has.
func SystemFolders(c *Client, task string) (names []string, err error) {
	w, err := Ask[api.Workspace](c, "getWorkspace", nil, task)
	for _, one := range w.FolderTypes {
		names = append(names, folders.Of(one))
	}
	return names, err
}

func newTaskPush() *cobra.Command {
	var in api.FolderUpload
	return verb("push TASK DIR", `Write a directory's system folders into a task
DIR/.claude becomes what the task has as ~/.claude, and so on for all folders that the
task has of its own, or those of --folder-type. Files that differ are written; those that
DIR does not have stay, without --delete. Logins are left as they are.`, &in, func(c *call, args []string) error {
		dir, err := directory(args[1])
		if err != nil {
			return err
		}
		all, err := SystemFolders(c.Client, args[0])
		if err != nil {
			return err
		}
		chosen, err := folders.Choose(all, in.Types)
		if err != nil {
			return err
		}
		var names []string
		for _, name := range chosen {
			if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.IsDir() {
				names = append(names, name)
			} else if len(in.Types) > 0 {
				return fmt.Errorf("%s has no directory %s to push", cli.Short(args[1]), name)
			}
		}
		if len(names) == 0 && len(all) > 0 {
			return fmt.Errorf("%s has none of the directories that the task has of its own: %s", cli.Short(args[1]), strings.Join(all, ", "))
		}
		var got folders.Brought
		if err := upload(c, Request("uploadFolders", in, args[0]), &got, dir, names...); err != nil {
			return err
		}
		c.leftOut(got.Skipped)
		return show(c, got, fmt.Sprintf("%s changed in %s", cli.Count(got.Count, "file"), strings.Join(got.Folders, ", ")))
	}, cli.One[folders.Brought]())
}

// unpack writes an archive, unless it could not be had, into a directory.
func (o *pulling) unpack(c *call, archive io.ReadCloser, err error, dir string) error {
	if err != nil {
		return err
	}
	defer archive.Close()
	if dir, err = absolute(dir); err != nil {
		return err
	}
	got, err := filetree.Unpack(c.Context(), archive, dir, filetree.PullOptions{Overwrite: o.Overwrite})
	if err != nil {
		return err
	}
	c.leftOut(got.Skipped)
	return show(c, got, fmt.Sprintf("%s, %s in %s", cli.Count(got.Files, "file"), cli.Count(int(got.Bytes), "byte"), cli.Short(got.Out)))
}

func newWsDiff() *cobra.Command {
	var in struct {
		Stat bool `flag:"stat" doc:"Only count lines, file by file"`
	}
	return verb("diff TASK [PATH]", `Show what a task changed
It is what changed since the task began, or since its work was merged last, committed
or not, as a unified diff. In a terminal, what is no text is left out of the lines, so
that what an agent wrote can't move the cursor; in a file or a pipe it is a patch.
--json has the counts.`, &in, func(c *call, args []string) error {
		var q api.DiffPath
		if len(args) > 1 {
			q.Path = args[1]
		}
		o := workspace.DiffOptions{Paths: args[1:]}
		if !in.Stat && !cli.AsJSON(c.Command) {
			err := copyOut(c, "patchWorkspace", q, args[0])
			if err == nil {
				return nil
			}
			h, err := c.left(args[0], err)
			if err == nil {
				o.Text = cli.Bytes(c.OutOrStdout())
				_, err = h.Diff(c.Context(), o)
			}
			return err
		}
		d, err := Ask[workspace.Diff](c.Client, "diffWorkspace", q, args[0])
		if err != nil {
			h, failed := c.left(args[0], err)
			if failed != nil {
				return failed
			}
			if d, err = h.Diff(c.Context(), o); err != nil {
				return err
			}
		}
		return cli.Print(c.Command, d, func(w io.Writer) error {
			printStat(w, d.Files, d.Left)
			return nil
		})
	}, cli.One[workspace.Diff]())
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
	fmt.Fprintf(w, "%s, +%d -%d\n", cli.Count(len(files), "file"), added, deleted)
	for _, p := range left {
		fmt.Fprintf(w, "stays in the workspace: %s\n", cli.Line(p))
	}
}
