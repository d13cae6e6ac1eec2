package api

import (
	"net/http"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
)

var workspaceRoutes = []Route{
	on("GET /tasks/{task}/workspace", "getWorkspace", "Say what a task's workspace is.", withFolders(access.Read, func(r *Request, w *workspace.Workspace, f folders.Selection, _ none) (Workspace, error) {
		i := Workspace{Info: w.Info(), FolderTypes: []string{}}
		if r.Who.Kind != access.Operator {
			i.Dir, i.Source = "", "" // where the host has its files is not for others
		}
		for _, name := range f.Names {
			i.FolderTypes = append(i.FolderTypes, folders.Type(name))
		}
		return i, nil
	})),
	on("GET /tasks/{task}/workspace/diff", "diffWorkspace", "Say what a task changed, committed or not.", withWorkspace(access.Read, func(r *Request, w *workspace.Workspace, in DiffPath) (workspace.Diff, error) {
		return w.Diff(r.Context(), in.options())
	})),
	on("GET /tasks/{task}/workspace/patch", "patchWorkspace", "Download what a task changed as a unified diff.", withWorkspace(access.Read, func(r *Request, w *workspace.Workspace, in DiffPath) (none, error) {
		o := in.options()
		o.Text = r
		_, err := w.Diff(r.Context(), o)
		return none{}, err
	})).bytes("text/x-diff"),
	on("POST /tasks/{task}/workspace/merge", "mergeWorkspace", `Bring home what a task changed.
A worktree's goes into the branch that is checked out in the repository, a copy's into its directory, a filesystem's into the filesystem. It is done wholly or, with 409, not at all; 409 too while a turn runs, unless running is true, and where the check of the repository fails, unless no_check is true.`,
		// It changes the operator's directories, or the project's filesystem.
		withWorkspace(access.Update, mergeWorkspace)),
	on("POST /tasks/{task}/workspace/commit", "commitWorkspace", `Commit what a task has not committed, on its branch.
It is what is done before its work is pushed. It is 409 while a turn runs, unless running is true, and where the check of the repository fails, unless no_check is true.`,
		withWorkspace(access.Update, commitWorkspace)),
	on("POST /tasks/{task}/workspace/update", "updateWorkspace", `Bring what is new in the branch that a task's worktree was made from, or in the directory of its copy, into the task.
What the task has not committed is committed first. Where both sides changed the same it is 409 and nothing is changed, unless leave or ask is true; 409 too while a turn runs, unless running is true.`,
		withWorkspace(access.Run, updateWorkspace)),
	on("POST /tasks/{task}/workspace/resolve", "resolveWorkspace", `Say whose change counts where a task and its filesystem both changed a file.
Which these are is in the workspace's conflicts. The other side gets that file; it is 409 while a turn runs, unless running is true.`,
		withWorkspace(access.Run, func(r *Request, w *workspace.Workspace, in ResolveWorkspace) (filetree.Synced, error) {
			o := workspace.ResolveOptions{Keep: workspace.PreferSource, Paths: in.Paths, Ready: r.resting(w, in.Running)}
			switch in.Keep {
			case "task":
				o.Keep = workspace.PreferWorkspace
			case "filesystem":
			default:
				return filetree.Synced{}, Errorf(http.StatusUnprocessableEntity, "keep is %q: want task or filesystem", clip(in.Keep))
			}
			return w.Resolve(r.Context(), o)
		})),
	on("POST /tasks/{task}/workspace/sync", "syncWorkspace", `Synchronise a task's workspace with its filesystem.
It is done by itself before creation and events (down) and after them (up), and not around a cancel.`, withWorkspace(access.Run, syncWorkspace)),
	on("GET /tasks/{task}/archive", "downloadWorkspace", `Download a task's files as tar.zst: workspace/ and its system folders.
With folder_type only those folders. Logins in them are left out.`, withFolders(access.Read, func(r *Request, w *workspace.Workspace, f folders.Selection, in FolderTypes) (none, error) {
		if len(in.Types) == 0 {
			f.Names = nil
		}
		_, err := w.WriteArchive(r.Context(), r, f)
		return none{}, err
	})).bytes("application/zstd"),
	on("PUT /tasks/{task}/archive", "uploadFolders", `Write into a task's system folders the files of a tar.zst, tar.gz or tar that differ.
Paths in it begin with a folder's name, as in .claude/settings.json. What else it has is left out, and logins stay as they are. It is 409 while a turn runs, unless running is true.`,
		withFolders(access.Run, func(r *Request, w *workspace.Workspace, f folders.Selection, in FolderUpload) (folders.Brought, error) {
			f.Delete, f.Ready = in.Delete, r.resting(w, in.Running)
			return w.SystemFolders().Read(r.Context(), r.stream(), f)
		})).of("application/zstd", archiveLimit),
}

// FolderTypes selects system folders of a task.
type FolderTypes struct {
	Types []string `json:"folder_type,omitempty" flag:"folder-type" value:"TYPE" doc:"Only this system folder, such as dot_claude for .claude; may be given more than once; all when absent"`
}

func (f FolderTypes) folderTypes() []string { return f.Types }

// FolderUpload says how files are written into a task's system folders.
type FolderUpload struct {
	FolderTypes
	Delete  bool `json:"delete,omitempty" flag:"delete" doc:"Remove what the archive does not have, of the folders that it has"`
	Running bool `json:"running,omitempty" flag:"running" doc:"Do it though the task is at work"`
}

// Workspace describes a task's workspace.
type Workspace struct {
	workspace.Info
	FolderTypes []string `json:"folder_types" doc:"Its system folders: dot_claude is .claude"`
}

// withFolders is withWorkspace for handlers about system folders.
func withFolders[In interface{ folderTypes() []string }, Out any](verb access.Verb, handle func(*Request, *workspace.Workspace, folders.Selection, In) (Out, error)) func(*Request, In) (Out, error) {
	return func(r *Request, in In) (out Out, err error) {
		t, err := r.task(verb)
		if err != nil {
			return out, err
		}
		w, err := r.Tasks.FilesOf(t)
		if err != nil {
			return out, err
		}
		f, err := r.Tasks.Folders(r.Context(), t, w, in.folderTypes())
		if err != nil {
			return out, err
		}
		return handle(r, w, f, in)
	}
}

// DiffPath selects a part of a diff.
type DiffPath struct {
	Path string `json:"path,omitempty" doc:"Only of this file or directory"`
}

func (d DiffPath) options() (o workspace.DiffOptions) {
	if d.Path != "" {
		o.Paths = []string{d.Path}
	}
	return o
}

// MergeWorkspace says how to merge a task's work.
type MergeWorkspace struct {
	Message string `json:"message,omitempty" flag:"message,m" doc:"Of the commit, of a worktree; what the task was asked and its agent said last when it is absent"`
	DryRun  bool   `json:"dry_run,omitempty" flag:"dry-run" doc:"Only say what would be merged"`
	NoCheck bool   `json:"no_check,omitempty" flag:"no-check" doc:"Don't run the check that the configuration has for the repository"`
	Running bool   `json:"running,omitempty" flag:"running" doc:"Take what there is, though the task is at work"`
}

func mergeWorkspace(r *Request, w *workspace.Workspace, in MergeWorkspace) (workspace.Merged, error) {
	ctx, kind := r.Context(), w.Info().Kind
	if kind != workspace.Filesystem && r.Who.Kind != access.Operator {
		return workspace.Merged{}, Errorf(http.StatusForbidden, "only the operator may merge into directories of the host's")
	}
	m, err := w.Merge(ctx, workspace.MergeOptions{Message: in.Message, DryRun: in.DryRun, NoCheck: in.NoCheck, Ready: r.resting(w, in.Running)})
	if !in.NoCheck {
		m.Check = r.Tasks.Repositories.Of(w).Check
	}
	return m, err
}

// CommitWorkspace says how to commit a task's work.
type CommitWorkspace struct {
	Message string `json:"message,omitempty" flag:"message,m" doc:"Of the commit; what the task was asked and its agent said last when it is absent"`
	NoCheck bool   `json:"no_check,omitempty" flag:"no-check" doc:"Don't run the check that the configuration has for the repository"`
	Running bool   `json:"running,omitempty" flag:"running" doc:"Take what there is, though the task is at work"`
}

func commitWorkspace(r *Request, w *workspace.Workspace, in CommitWorkspace) (workspace.Committed, error) {
	if r.Who.Kind != access.Operator {
		return workspace.Committed{}, Errorf(http.StatusForbidden, "only the operator may commit in repositories of the host's")
	}
	c, err := w.Commit(r.Context(), workspace.MergeOptions{Message: in.Message, NoCheck: in.NoCheck, Ready: r.resting(w, in.Running)})
	if !in.NoCheck {
		c.Check = r.Tasks.Repositories.Of(w).Check
	}
	return c, err
}

// resting returns a function that returns an error while the task works, or nil if running allows
// that.
func (r *Request) resting(w *workspace.Workspace, running bool) func() error {
	if running {
		return nil
	}
	return func() error { return r.Tasks.Resting(r.Context(), w.Info().ID) }
}

// SyncWorkspace says in which direction to synchronise, and which side's changes win.
type SyncWorkspace struct {
	Direction string `json:"direction" enum:"up,down"`
	Prefer    string `json:"prefer,omitempty" enum:"workspace,filesystem" doc:"Whose change counts; neither when it is absent, and conflicts stay"`
}

// withWorkspace makes a handler from one that works on a task's workspace, for callers that may do
// verb with the task.
func withWorkspace[In, Out any](verb access.Verb, handle func(*Request, *workspace.Workspace, In) (Out, error)) func(*Request, In) (Out, error) {
	return func(r *Request, in In) (out Out, err error) {
		t, err := r.task(verb)
		if err != nil {
			return out, err
		}
		w, err := r.Tasks.FilesOf(t)
		if err != nil {
			return out, err
		}
		return handle(r, w, in)
	}
}

func syncWorkspace(r *Request, w *workspace.Workspace, in SyncWorkspace) (filetree.Synced, error) {
	prefer := workspace.Prefer(in.Prefer)
	switch {
	case in.Prefer != "" && prefer != workspace.PreferWorkspace && prefer != workspace.PreferSource:
		return filetree.Synced{}, Errorf(http.StatusUnprocessableEntity, "prefer is %q: want workspace or filesystem", clip(in.Prefer))
	case in.Direction == "up":
		return w.SyncUp(r.Context(), prefer)
	case in.Direction == "down":
		return w.SyncDown(r.Context(), prefer)
	}
	return filetree.Synced{}, Errorf(http.StatusUnprocessableEntity, "direction is %q: want up or down", clip(in.Direction))
}

// ResolveWorkspace says which side's changes win.
type ResolveWorkspace struct {
	Keep    string   `json:"keep" enum:"task,filesystem" doc:"Whose change counts"`
	Paths   []string `json:"paths,omitempty" doc:"Of these files and directories; of all when it is absent"`
	Running bool     `json:"running,omitempty" doc:"Do it though the task is at work"`
}

// UpdateWorkspace says how to bring the base's changes into a worktree.
type UpdateWorkspace struct {
	From    string `json:"from,omitempty" flag:"from" doc:"The branch or commit; the branch that the worktree was made from when it is absent"`
	Leave   bool   `json:"leave,omitempty" flag:"leave" doc:"Leave conflicts in the task's files, as git merge does"`
	Ask     bool   `json:"ask,omitempty" flag:"ask" doc:"Leave them there, and send the agent a message that names them"`
	Abort   bool   `json:"abort,omitempty" flag:"abort" doc:"Give up the update whose conflicts were left"`
	Running bool   `json:"running,omitempty" flag:"running" doc:"Do it though the task is at work"`
}

// WorkspaceUpdate is the result of an update.
type WorkspaceUpdate struct {
	workspace.Updated
	EventID string `json:"event_id,omitempty" doc:"The message to the agent"`
}

func updateWorkspace(r *Request, w *workspace.Workspace, in UpdateWorkspace) (u WorkspaceUpdate, err error) {
	if in.Abort && (in.Leave || in.Ask || in.From != "") {
		return u, Errorf(http.StatusUnprocessableEntity, "abort goes with no other member but running")
	}
	ctx, id := r.Context(), w.Info().ID
	if in.Ask {
		if t, err := r.Tasks.Store.Tasks.Find(ctx, id); err != nil {
			return u, err
		} else if t.Status.Final() {
			return u, Errorf(http.StatusConflict, "the task is %s and takes no messages: leave, in place of ask, leaves the conflicts in its files", t.Status)
		}
	}
	u.Updated, err = w.Update(ctx, workspace.UpdateOptions{From: in.From, Leave: in.Leave || in.Ask, Abort: in.Abort, Ready: r.resting(w, in.Running)})
	if err != nil || !in.Ask || len(u.Conflicts) == 0 {
		return u, err
	}
	e, err := r.Tasks.Send(ctx, r.Who, id, "", []store.Part{store.TextPart(u.Question())})
	u.EventID = e.ID
	return u, err
}
