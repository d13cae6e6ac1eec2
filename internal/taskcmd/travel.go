package taskcmd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/travel"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

// A hub's tasks have files that travel: to the host that does the task, and home.

// hubTask is a task for a hub.
type hubTask struct {
	task.NewTask
	Files *travel.Load `json:"files,omitempty"`
}

// filesPath is where a hub has the files of a task.
func filesPath(id string) string { return "/fleet/tasks/" + url.PathEscape(id) + "/files" }

// hub reports whether it is one, and no host.
func (c *call) hub() (bool, error) {
	if err := c.connect(); err != nil || c.place.Own() {
		return false, err
	}
	err := c.do(apiclient.Request{Method: http.MethodGet, Path: "/fleet/files"}, nil)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// packed is what travels with a new task, in a file that close removes.
type packed struct {
	load *travel.Load
	file *os.File
}

func (p *packed) close() {
	if p.file != nil {
		p.file.Close()
		os.Remove(p.file.Name()) //nolint:errcheck // the system empties it
	}
}

// pack makes what a workspace is to be of a directory of this machine, for a hub; for what
// is not made of one it does nothing.
func (o *createFlags) pack(c *call) (p packed, err error) {
	kind, _, _ := strings.Cut(o.Workspace, ":")
	if kind != task.AutoWorkspace && kind != string(workspace.Worktree) && kind != string(workspace.Copy) {
		return p, nil
	}
	if is, err := c.hub(); !is {
		return p, err
	}
	if o.Cwd, err = absolute(o.Cwd); err != nil {
		return p, err
	}
	if kind == task.AutoWorkspace {
		if ownGit(c.Context(), o.Cwd, "rev-parse", "--show-toplevel").Run() != nil {
			o.Workspace = string(workspace.None)
			return p, nil
		}
		o.Workspace = string(workspace.Worktree)
	}
	spec, err := workspace.Parse(o.Workspace, o.Cwd)
	if err != nil {
		return p, err
	}
	if p.file, err = os.CreateTemp("", "tandemux-files-"); err != nil {
		return p, err
	}
	var l travel.Load
	if spec.Kind == workspace.Worktree {
		l, err = travel.PackRepository(c.Context(), spec.Dir, o.From, p.file)
	} else {
		var left []string
		l, left, err = travel.PackDirectory(c.Context(), spec.Dir, p.file)
		c.leftOut(left)
	}
	p.load, o.Workspace, o.From = &l, "", ""
	return p, err
}

// begin makes a task, with its files.
func (o *createFlags) begin(c *call) (t store.Task, err error) {
	p, err := o.pack(c)
	defer p.close()
	if err == nil && p.load == nil {
		err = o.locate(c)
	}
	if err != nil {
		return t, err
	}
	if t, err = Ask[store.Task](c.Client, "createTask", hubTask{o.NewTask, p.load}); err != nil || p.load == nil {
		return t, err
	}
	if _, err = p.file.Seek(0, io.SeekStart); err == nil {
		c.note("sending %s of %s", mebibytes(p.load.Size), cli.Short(p.load.Source))
		err = c.do(apiclient.Request{Method: http.MethodPut, Path: filesPath(t.ID), Raw: p.file, Type: "application/octet-stream"}, nil)
	}
	if err != nil {
		c.do(Request("deleteTask", api.Force{Force: true}, t.ID), nil) //nolint:errcheck // the other error says more
		return t, fmt.Errorf("send the files: %w", err)
	}
	return t, nil
}

func mebibytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1<<10-1)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// home is where the work of a hub's task comes back to; nil for tasks whose files did not
// travel.
func (c *call) home(id string) (*travel.Home, error) {
	if err := c.connect(); err != nil || c.place.Own() {
		return nil, err
	}
	var t struct {
		ID     string       `json:"id"`
		Name   string       `json:"name"`
		Files  travel.Load  `json:"files"`
		Result *travel.Load `json:"result"`
		Unkept string       `json:"unkept"`
	}
	err := c.do(apiclient.Request{Method: http.MethodGet, Path: filesPath(id)}, &t)
	if isMissing(err) {
		return nil, nil
	}
	if err == nil {
		err = errors.Join(access.CheckName("the task", t.Name), filetree.CheckID("task", t.ID))
	}
	if err != nil {
		return nil, err
	}
	if t.Unkept != "" {
		c.note("what the last turn made is not here: %s", cli.Short(t.Unkept))
	}
	h := &travel.Home{Task: t.Name, Base: t.Files, Mark: filepath.Join(c.place.Dirs.State, "merged", t.ID)}
	h.Here, _ = os.Getwd() //nolint:errcheck // then there is none
	if t.Result != nil {
		h.Result = *t.Result
	}
	h.Fetch = func(l travel.Load) (io.ReadCloser, error) {
		what := "/base"
		if l == h.Result {
			what = "/result"
		}
		resp, err := c.api.Open(c.ctx, apiclient.Request{Method: http.MethodGet, Path: filesPath(t.ID) + what})
		if err != nil {
			return nil, c.place.ExplainAPI(err)
		}
		return resp.Body, nil
	}
	return h, nil
}

// merge brings a task's work home: the host does, or, what travelled, this command.
func (c *call) merge(in api.MergeWorkspace, id string) (m workspace.Merged, err error) {
	h, err := c.home(id)
	if err != nil {
		return m, err
	}
	if h == nil {
		return Ask[workspace.Merged](c.Client, "mergeWorkspace", in, id)
	}
	t, err := Ask[task.Present](c.Client, "getTask", nil, id)
	switch {
	case err != nil:
		return m, err
	case t.Status != store.Idle && !t.Status.Final() && !in.Running:
		return m, fmt.Errorf("the task %[1]s is at work: wait until its turn has ended (`tandemux task watch %[1]s`), or say --running, which takes what the turn before left", t.Name)
	case h.Result.Kind == "":
		return m, fmt.Errorf("the task %s has not ended a turn yet, so there is nothing to merge", t.Name)
	}
	return h.Merge(c.Context(), workspace.MergeOptions{Message: in.Message, DryRun: in.DryRun})
}

// left gives what the last turn of a hub's task left, where its host does not say what it
// has now; else the error why not.
func (c *call) left(id string, err error) (*travel.Home, error) {
	if !hasStatus(err, http.StatusServiceUnavailable) && !hasStatus(err, http.StatusRequestEntityTooLarge) {
		return nil, err
	}
	h, failed := c.home(id)
	if failed != nil || h == nil || h.Result.Kind == "" {
		return nil, err
	}
	c.note("its host does not say what it has now, so this is what the last turn left")
	return h, nil
}

// keep sees to it that a hub's task that is deleted takes no commits with it that are
// nowhere else, and names the branch that has them.
func (c *call) keep(id string, force bool) (branch string, forget func(), err error) {
	h, err := c.home(id)
	if err != nil || h == nil {
		return "", func() {}, err
	}
	forget = func() { os.Remove(h.Mark) } //nolint:errcheck // there may be none
	if force {
		return "", forget, nil
	}
	if branch, err = h.Keep(c.Context()); err != nil {
		err = fmt.Errorf("keep what %s committed: %w (--force deletes it)", h.Task, err)
	}
	return branch, forget, err
}
