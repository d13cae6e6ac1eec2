package ui_test

import (
	"context"
	"fmt"
	"slices"

	"tandemux/ui/tasks"
)

// Tasks are the host's, with what each has changed; Done is what was done with them.
type Tasks struct {
	All     []tasks.Task
	Changes map[string]tasks.Changes
	Done    []string
	Patch   map[string]string
	// Would is what merging would do; Fails is why it, or an update, can't be.
	Would tasks.Merged
	Fails error
	// Asked counts the lists that were given.
	Asked int
}

// Tasks implements tasks.Tasks.
func (h *Host) Tasks(context.Context) ([]tasks.Task, error) {
	h.TaskList.Asked++
	return slices.Clone(h.TaskList.All), nil
}

// TaskChanges implements tasks.Tasks.
func (h *Host) TaskChanges(_ context.Context, id string) (tasks.Changes, error) {
	return h.TaskList.Changes[id], nil
}

// SteerTask implements tasks.Tasks.
func (h *Host) SteerTask(_ context.Context, id, text string) error {
	h.TaskList.Done = append(h.TaskList.Done, fmt.Sprintf("tell %s %q", id, text))
	return nil
}

// TaskPatch implements tasks.Tasks.
func (h *Host) TaskPatch(_ context.Context, id string) (string, error) {
	return h.TaskList.Patch[id], nil
}

// MergeTask implements tasks.Tasks.
func (h *Host) MergeTask(_ context.Context, id string, how tasks.Merge) (tasks.Merged, error) {
	l := &h.TaskList
	if how.Look {
		return l.Would, nil
	}
	l.Done = append(l.Done, fmt.Sprintf("merge %s %+v", id, how))
	if l.Fails != nil {
		return tasks.Merged{}, l.Fails
	}
	delete(l.Changes, id)
	return l.Would, nil
}

// UpdateTask implements tasks.Tasks.
func (h *Host) UpdateTask(_ context.Context, id string, how tasks.Update) (string, error) {
	h.TaskList.Done = append(h.TaskList.Done, fmt.Sprintf("update %s %+v", id, how))
	return "1 commit of main came into the task", h.TaskList.Fails
}

// PullTask implements tasks.Tasks.
func (h *Host) PullTask(_ context.Context, id, dir string) (string, error) {
	h.TaskList.Done = append(h.TaskList.Done, fmt.Sprintf("pull %s %q", id, dir))
	return "3 files in " + dir, nil
}

// DiscardTask implements tasks.Tasks.
func (h *Host) DiscardTask(_ context.Context, id string) (string, error) {
	h.TaskList.Done = append(h.TaskList.Done, "discard "+id)
	h.TaskList.All = slices.DeleteFunc(h.TaskList.All, func(t tasks.Task) bool { return t.ID == id })
	return "discarded", nil
}
