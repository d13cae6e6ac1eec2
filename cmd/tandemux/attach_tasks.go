package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

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
	"tandemux/internal/termcmd"
	uitasks "tandemux/ui/tasks"
)

// ask does an operation of the tasks' interface.
func ask[T any](h hostAdapter, ctx context.Context, op string, in any, id string) (T, error) {
	c := taskcmd.NewClient(ctx, h.place)
	defer c.Close()
	return taskcmd.Ask[T](c, op, in, id)
}

// Tasks implements uitasks.Host. Where there have never been any, nothing is asked: the
// host would have to make a place for them.
func (h hostAdapter) Tasks(ctx context.Context) ([]uitasks.Task, error) {
	if !h.place.Elsewhere() {
		if _, err := os.Stat(filepath.Join(h.place.Dirs.State, store.File)); errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
	}
	const most = 100
	c := taskcmd.NewClient(ctx, h.place)
	defer c.Close()
	tasks, err := taskcmd.List[task.Present](c, most, "listTasks", nil)
	var all []uitasks.Task
	for _, t := range tasks {
		row := uitasks.Task{
			ID: t.ID, Name: t.Name, Session: ahp.URI(t.Session), Status: string(t.Status), Reason: t.Reason, Percent: -1,
			Line: t.ProgressLine, Workspace: taskcmd.WorksOn(t.Task, termcmd.Tilde), Updated: t.Updated,
		}
		if t.Last != nil {
			row.Outcome, row.Why = string(t.Last.Outcome), t.Last.Reason
		}
		if t.Budget.Over != "" {
			row.Outcome, row.Why = string(store.OutcomeBudget), t.Budget.Reason
		}
		if len(t.Questions) > 0 {
			row.Asks = t.Questions[0].Title
		}
		if row.Workspace == string(workspace.None) {
			row.Workspace = "" // then nothing is compared
		}
		if t.Progress != nil {
			row.Percent = *t.Progress
		}
		all = append(all, row)
	}
	return all, err
}

// changeMarks are how a file was changed, in one cell.
var changeMarks = map[string]string{"added": "A", "deleted": "D", "modified": "M", "renamed": "R", "mode": "m", "type": "T"}

func (h hostAdapter) TaskChanges(ctx context.Context, id string) (got uitasks.Changes, err error) {
	// In this order: comparing notes which conflicts are resolved.
	diff, err := ask[workspace.Diff](h, ctx, "diffWorkspace", nil, id)
	if err != nil {
		return got, err
	}
	info, err := ask[workspace.Info](h, ctx, "getWorkspace", nil, id)
	got.Added, got.Deleted, got.Branch, got.Left = diff.Added, diff.Deleted, info.Branch, diff.Left
	got.Conflicts, got.Listed = info.Conflicts, info.Kind == workspace.Worktree
	for _, f := range diff.Files {
		got.Files = append(got.Files, uitasks.Changed{Mark: changeMarks[f.Status], Path: f.Path, From: f.From, Added: f.Added, Deleted: f.Deleted, Binary: f.Binary})
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

// maxPatch bounds what is read of a task's changes, in bytes.
const maxPatch = 8 << 20

// TaskPatch implements uitasks.Host.
func (h hostAdapter) TaskPatch(ctx context.Context, id string) (string, error) {
	c := taskcmd.NewClient(ctx, h.place)
	defer c.Close()
	patch, err := c.Download("patchWorkspace", nil, id)
	if err != nil {
		return "", err
	}
	defer patch.Close()
	text, err := io.ReadAll(io.LimitReader(patch, maxPatch))
	return string(text), err
}

func (h hostAdapter) MergeTask(ctx context.Context, id string, how uitasks.Merge) (got uitasks.Merged, err error) {
	ctx = context.WithoutCancel(ctx) // a check takes its time
	m, err := ask[workspace.Merged](h, ctx, "mergeWorkspace", api.MergeWorkspace{Message: how.Message, DryRun: how.Look, Running: how.Running, NoCheck: how.NoCheck}, id)
	if refused, is := errors.AsType[*apiclient.Error](err); is && refused.Output != "" {
		return got, &uitasks.CheckFailed{Reason: refused.Message, Output: refused.Output}
	}
	got = uitasks.Merged{Files: len(m.Files), Into: m.Into, Message: m.Message, Check: m.Check, Behind: m.Behind}
	for _, f := range m.Files {
		got.Added, got.Deleted = got.Added+f.Added, got.Deleted+f.Deleted
	}
	return got, err
}

func (h hostAdapter) UpdateTask(ctx context.Context, id string, how uitasks.Update) (string, error) {
	ctx = context.WithoutCancel(ctx) // with a large repository it takes its time
	u, err := ask[api.WorkspaceUpdate](h, ctx, "updateWorkspace", api.UpdateWorkspace{Ask: how.Ask, Abort: how.Abort, Running: how.Running}, id)
	said := taskcmd.TellUpdate(u, how.Abort)
	return said[strings.LastIndexByte(said, '\n')+1:], err // the files show
}

// PullTask implements uitasks.Host: files are written on this machine.
func (h hostAdapter) PullTask(ctx context.Context, id, dir string) (string, error) {
	dir, err := capture.TypedPath(dir)
	if err != nil {
		return "", err
	}
	c := taskcmd.NewClient(ctx, h.place)
	defer c.Close()
	files, err := c.Download("downloadWorkspace", nil, id)
	if err != nil {
		return "", err
	}
	defer files.Close()
	got, err := filetree.Unpack(ctx, files, dir, filetree.PullOptions{})
	return fmt.Sprintf("%s in %s", cli.Count(got.Files, "file"), dir), err
}

// DiscardTask implements uitasks.Host. A branch with commits that are nowhere else stays.
func (h hostAdapter) DiscardTask(ctx context.Context, id string) (string, error) {
	d, err := ask[task.Deleted](h, ctx, "deleteTask", nil, id)
	if d.KeptBranch != "" {
		return "the task was discarded, but its branch " + d.KeptBranch + " stays: it has commits that are nowhere else", err
	}
	return "the task was discarded", err
}
