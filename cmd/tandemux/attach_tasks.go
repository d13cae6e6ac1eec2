package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandemux/ahp"
	"tandemux/host/task"
	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/internal/apiclient"
	"tandemux/internal/capture"
	"tandemux/internal/cli"
	"tandemux/internal/taskcmd"
	uitasks "tandemux/ui/tasks"
)

func (h hostAdapter) withTasks(ctx context.Context, work func(c *apiclient.Client) error) error {
	c, err := h.place.API(ctx, true)
	if err != nil {
		return err
	}
	defer c.Close()
	return h.place.ExplainAPI(work(c))
}

// ask does an operation of the tasks' interface.
func ask[T any](h hostAdapter, ctx context.Context, op string, in any, id string) (got T, err error) {
	err = h.withTasks(ctx, func(c *apiclient.Client) (err error) {
		got, err = taskcmd.Call[T](ctx, c, op, in, id)
		return err
	})
	return got, err
}

// Tasks implements uitasks.Host. Where there have never been any, nothing is asked: the
// host would have to make a place for them.
func (h hostAdapter) Tasks(ctx context.Context) ([]uitasks.Task, error) {
	if !h.place.Elsewhere() {
		if _, err := os.Stat(filepath.Join(h.place.Dirs.State, store.File)); errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
	}
	var all []uitasks.Task
	err := h.withTasks(ctx, func(c *apiclient.Client) error {
		const most = 100
		tasks, err := taskcmd.List[store.Task](ctx, c, most, "listTasks", nil)
		for _, t := range tasks {
			row := uitasks.Task{
				ID: t.ID, Name: t.Name, Session: ahp.URI(t.Session), Status: string(t.Status), Reason: t.Reason, Percent: -1,
				Line: t.ProgressLine, Workspace: worksOn(t.Workspace), Updated: t.Updated,
			}
			if t.Progress != nil {
				row.Percent = *t.Progress
			}
			all = append(all, row)
		}
		return err
	})
	return all, err
}

// worksOn says in a few words what a task works on, "" for nothing.
func worksOn(raw json.RawMessage) string {
	var s workspace.Spec
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	dir := tilde(s.Dir)
	switch {
	case s.Kind == workspace.Worktree:
		return cmp.Or(s.Branch, "worktree") + " of " + dir
	case s.Kind == workspace.None || s.Kind == "":
		return ""
	case dir == "":
		return "filesystem " + s.Filesystem
	}
	return fmt.Sprintf("%s %s", s.Kind, dir)
}

// changeMarks are how a file was changed, in one cell.
var changeMarks = map[string]string{"added": "A", "deleted": "D", "modified": "M", "renamed": "R", "mode": "m", "type": "T"}

func (h hostAdapter) TaskChanges(ctx context.Context, id string) (got uitasks.Changes, err error) {
	info, err := ask[workspace.Info](h, ctx, "getWorkspace", nil, id)
	if err != nil {
		return got, err
	}
	diff, err := ask[workspace.Diff](h, ctx, "diffWorkspace", nil, id)
	got.Added, got.Deleted, got.Branch = diff.Added, diff.Deleted, info.Branch
	for _, f := range diff.Files {
		got.Files = append(got.Files, uitasks.Changed{Mark: changeMarks[f.Status], Path: f.Path, Added: f.Added, Deleted: f.Deleted, Binary: f.Binary})
	}
	switch {
	case info.NoUpdate:
	case info.Kind == workspace.Worktree, info.Kind == workspace.Copy:
		got.Into = info.Source
	case info.Filesystem != "":
		got.Into = "the filesystem " + info.Filesystem
	}
	return got, err
}

func (h hostAdapter) SteerTask(ctx context.Context, id, text string) error {
	content, err := json.Marshal(text)
	if err == nil {
		_, err = ask[store.Event](h, ctx, "sendEvent", api.NewContent{Content: content}, id)
	}
	return err
}

func (h hostAdapter) MergeTask(ctx context.Context, id string) (string, error) {
	m, err := ask[workspace.Merged](h, ctx, "mergeWorkspace", nil, id)
	if m.Nothing {
		return "there was nothing to merge", err
	}
	return fmt.Sprintf("merged %s into %s", cli.Count(len(m.Files), "file"), m.Into), err
}

// PullTask implements uitasks.Host: files are written on this machine.
func (h hostAdapter) PullTask(ctx context.Context, id, dir string) (said string, err error) {
	if dir, err = capture.TypedPath(dir); err != nil {
		return "", err
	}
	err = h.withTasks(ctx, func(c *apiclient.Client) error {
		resp, err := c.Open(ctx, taskcmd.Request("downloadWorkspace", nil, id))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		got, err := filetree.Unpack(ctx, resp.Body, dir, filetree.PullOptions{})
		said = fmt.Sprintf("%s in %s", cli.Count(got.Files, "file"), dir)
		return err
	})
	return said, err
}

// DiscardTask implements uitasks.Host. A branch with commits that are nowhere else stays.
func (h hostAdapter) DiscardTask(ctx context.Context, id string) (string, error) {
	d, err := ask[task.Deleted](h, ctx, "deleteTask", nil, id)
	if d.KeptBranch != "" {
		return "the task was discarded, but its branch " + d.KeptBranch + " stays: it has commits that are nowhere else", err
	}
	return "the task was discarded", err
}
