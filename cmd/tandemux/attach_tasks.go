package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"tandemux/ahp"
	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/internal/apiclient"
	"tandemux/internal/capture"
	"tandemux/internal/cli"
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
		tasks, err := apiclient.List[store.Task](ctx, c, "/tasks", nil, most)
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
	home, _ := os.UserHomeDir()
	dir := s.Dir
	if rest, ok := strings.CutPrefix(dir, home+"/"); ok && home != "" {
		dir = "~/" + rest
	}
	switch {
	case s.Kind == workspace.Worktree && s.Branch != "":
		return s.Branch + " of " + dir
	case s.Kind == workspace.Worktree:
		return "worktree of " + dir
	case s.Kind == workspace.None || s.Kind == "":
		return ""
	case dir == "":
		return "filesystem " + s.Filesystem
	}
	return fmt.Sprintf("%s %s", s.Kind, dir)
}

// changeMarks are how a file was changed, in one cell.
var changeMarks = map[string]string{"added": "A", "deleted": "D", "modified": "M", "renamed": "R", "mode": "m", "type": "T"}

func (h hostAdapter) TaskChanges(ctx context.Context, id string) (uitasks.Changes, error) {
	var got uitasks.Changes
	err := h.withTasks(ctx, func(c *apiclient.Client) error {
		var info workspace.Info
		var diff workspace.Diff
		err := c.Get(ctx, apiclient.Path("tasks", id, "workspace"), nil, &info)
		if err == nil {
			err = c.Get(ctx, apiclient.Path("tasks", id, "workspace", "diff"), nil, &diff)
		}
		if err != nil {
			return err
		}
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
		return nil
	})
	return got, err
}

func (h hostAdapter) SteerTask(ctx context.Context, id, text string) error {
	return h.withTasks(ctx, func(c *apiclient.Client) error {
		content := map[string]any{"content": []store.Part{store.TextPart(text)}}
		return c.Send(ctx, http.MethodPost, apiclient.Path("tasks", id, "events"), content, nil)
	})
}

func (h hostAdapter) MergeTask(ctx context.Context, id string) (said string, err error) {
	err = h.withTasks(ctx, func(c *apiclient.Client) error {
		var m workspace.Merged
		err := c.Send(ctx, http.MethodPost, apiclient.Path("tasks", id, "workspace", "merge"), struct{}{}, &m)
		if said = fmt.Sprintf("merged %s into %s", cli.Count(len(m.Files), "file"), m.Into); m.Nothing {
			said = "there was nothing to merge"
		}
		return err
	})
	return said, err
}

// PullTask implements uitasks.Host: files are written on this machine.
func (h hostAdapter) PullTask(ctx context.Context, id, dir string) (said string, err error) {
	if dir, err = capture.TypedPath(dir); err != nil {
		return "", err
	}
	err = h.withTasks(ctx, func(c *apiclient.Client) error {
		resp, err := c.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: apiclient.Path("tasks", id, "archive")})
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
func (h hostAdapter) DiscardTask(ctx context.Context, id string) (said string, err error) {
	err = h.withTasks(ctx, func(c *apiclient.Client) error {
		var d task.Deleted
		err := c.Send(ctx, http.MethodDelete, apiclient.Path("tasks", id), nil, &d)
		if said = "the task was discarded"; d.KeptBranch != "" {
			said += ", but its branch " + d.KeptBranch + " stays: it has commits that are nowhere else"
		}
		return err
	})
	return said, err
}
