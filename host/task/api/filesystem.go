package api

import (
	"context"
	"net/http"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
	"tandemux/host/workspace/filetree"
)

const filesystemTag = "filesystems"

var filesystemRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/filesystems", Name: "listFilesystems", Tag: filesystemTag, Summary: "List filesystems, oldest first.",
		Params: []Param{{Name: "project_id", Doc: "Of this project, by id or name"}, limitParam, cursorParam},
		Result: Page[store.Filesystem]{}, Handle: listFilesystems,
	},
	{
		Method: http.MethodPost, Path: "/filesystems", Name: "createFilesystem", Tag: filesystemTag, Summary: "Make a filesystem in a project.",
		Params: []Param{idempotencyParam}, Body: NewFilesystem{}, Result: store.Filesystem{}, Status: http.StatusCreated,
		Errors: []int{http.StatusConflict, http.StatusInsufficientStorage}, Handle: idempotent(decoded(createFilesystem)),
	},
	{
		Method: http.MethodGet, Path: "/filesystems/{filesystem}", Name: "getFilesystem", Tag: filesystemTag,
		Summary: "Get a filesystem, by id or name.", Result: store.Filesystem{}, Handle: getFilesystem,
	},
	{
		Method: http.MethodDelete, Path: "/filesystems/{filesystem}", Name: "deleteFilesystem", Tag: filesystemTag,
		Summary: "Delete a filesystem that no task has.", Errors: []int{http.StatusConflict}, Handle: deleteFilesystem,
	},
}

// NewFilesystem is what a filesystem is made of (U59).
type NewFilesystem struct {
	ProjectID string `json:"project_id" doc:"The project that it belongs to, by id or name"`
	Name      string `json:"name,omitempty" doc:"Unique in the project; the id when it is absent"`
	Dir       string `json:"dir,omitempty" doc:"A directory of the host's whose files it begins with, absolute; the operator's alone"`
}

// filesystem finds one that the caller may do something with, with its tree.
func (r *Request) filesystem(verb access.Verb) (store.Filesystem, *filetree.Tree, error) {
	f, err := r.Tasks.Agents.Filesystem(r.Context(), r.Who, verb, r.Part("filesystem"))
	if err != nil {
		return f, nil, err
	}
	t, err := r.Tasks.Files.Tree(f.ID)
	return f, t, err
}

// described adds what the files say, which only they know.
func described(r *Request, f store.Filesystem) store.Filesystem {
	t, err := r.Tasks.Files.Tree(f.ID)
	if err != nil {
		return f
	}
	if now, err := t.Summary(); err == nil {
		f.Version, f.Files, f.Size = now.Version, int64(now.Entries), now.Bytes
	}
	return f
}

func listFilesystems(r *Request) (any, error) {
	list, next, err := r.Tasks.Agents.Filesystems(r.Context(), r.Who, r.Text("project_id"), r.paged())
	if err != nil {
		return nil, err
	}
	page := Page[store.Filesystem]{Data: []store.Filesystem{}, Next: next}
	for _, f := range list {
		page.Data = append(page.Data, described(r, f))
	}
	return page, nil
}

func createFilesystem(r *Request, in NewFilesystem) (any, error) {
	ctx := r.Context()
	p, err := r.Tasks.Agents.Project(ctx, r.Who, access.Update, in.ProjectID)
	if err != nil {
		return nil, err
	}
	if in.Dir != "" && r.Who.Kind != access.Operator {
		return nil, Errorf(http.StatusForbidden, "only the operator may name a directory of the host's: make an empty filesystem and put an archive into it")
	}
	if in.Name != "" {
		if err := access.CheckName("a filesystem", in.Name); err != nil {
			return nil, Errorf(http.StatusUnprocessableEntity, "%v", err)
		}
	}
	f, err := r.Tasks.Store.CreateFilesystem(ctx, store.Filesystem{ProjectID: p.ID, Name: in.Name})
	if err != nil {
		return nil, err
	}
	if _, err := r.Tasks.Files.NewTree(ctx, f.ID, in.Dir); err != nil {
		r.Tasks.Store.DeleteFilesystem(context.WithoutCancel(ctx), f.ID) //nolint:errcheck // the other error says more
		return nil, err
	}
	return described(r, f), nil
}

func getFilesystem(r *Request) (any, error) {
	f, _, err := r.filesystem(access.Read)
	if err != nil {
		return nil, err
	}
	return described(r, f), nil
}

func deleteFilesystem(r *Request) (any, error) {
	ctx := r.Context()
	f, err := r.Tasks.Agents.Filesystem(ctx, r.Who, access.Delete, r.Part("filesystem"))
	if err != nil {
		return nil, err
	}
	// The record first: it knows whether a task has it. A tree that a death leaves
	// behind is nobody's, and swept.
	if err := r.Tasks.Store.DeleteFilesystem(ctx, f.ID); err != nil {
		return nil, err
	}
	if err := r.Tasks.Files.RemoveTree(context.WithoutCancel(ctx), f.ID); err != nil && !isGone(err) {
		return nil, err
	}
	return nil, nil //nolint:nilnil // 204
}
