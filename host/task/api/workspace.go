package api

import (
	"bytes"
	"net/http"

	"tandemux/host/task/access"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
)

const workspaceTag = "workspaces"

var workspaceRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/tasks/{task}/workspace", Name: "getWorkspace", Tag: workspaceTag, Summary: "Say what a task's workspace is.",
		Result: workspace.Info{}, Handle: getWorkspace,
	},
	{
		Method: http.MethodGet, Path: "/tasks/{task}/workspace/diff", Name: "diffWorkspace", Tag: workspaceTag, Summary: "Say what a task changed, committed or not.",
		Params: []Param{
			{Name: "path", Doc: "Only of this file or directory"}, {Name: "text", Kind: "boolean", Doc: "With the unified diff, up to 4 MiB of it"},
		},
		Result: WorkspaceDiff{}, Errors: []int{http.StatusInsufficientStorage}, Handle: diffWorkspace,
	},
	{
		Method: http.MethodGet, Path: "/tasks/{task}/workspace/patch", Name: "patchWorkspace", Tag: workspaceTag, Summary: "Download what a task changed as a unified diff.",
		Params: []Param{{Name: "path", Doc: "Only of this file or directory"}}, Result: Raw{Type: "text/x-diff"},
		Errors: []int{http.StatusInsufficientStorage}, Handle: patchWorkspace,
	},
	{
		Method: http.MethodPost, Path: "/tasks/{task}/workspace/merge", Name: "mergeWorkspace", Tag: workspaceTag, Summary: "Bring home what a task changed.",
		Detail: "A worktree's goes into the branch that is checked out in the repository, a copy's into its directory, a filesystem's into the filesystem. It is done wholly or, with 409, not at all.",
		Body:   MergeWorkspace{}, Result: workspace.Merged{}, Errors: []int{http.StatusConflict, http.StatusInsufficientStorage}, Handle: decoded(mergeWorkspace),
	},
	{
		Method: http.MethodPost, Path: "/tasks/{task}/workspace/sync", Name: "syncWorkspace", Tag: workspaceTag, Summary: "Synchronise a task's workspace with its filesystem.",
		Detail: "It is done by itself before creation and events (down) and after them (up), and not around a cancel.",
		Body:   SyncWorkspace{}, Result: filetree.Synced{}, Errors: []int{http.StatusConflict, http.StatusInsufficientStorage}, Handle: decoded(syncWorkspace),
	},
	{
		Method: http.MethodGet, Path: "/tasks/{task}/archive", Name: "downloadWorkspace", Tag: workspaceTag, Summary: "Download a task's files as tar.zst: workspace/ and its system folders.",
		Result: Raw{Type: "application/zstd"}, Handle: downloadWorkspace,
	},
}

// WorkspaceDiff is a comparison, with its text if that was wanted.
type WorkspaceDiff struct {
	workspace.Diff
	Text string `json:"text,omitempty" doc:"The unified diff"`
	Cut  bool   `json:"cut,omitempty" doc:"The text is longer, and its rest is not here"`
}

// MergeWorkspace says how work comes home.
type MergeWorkspace struct {
	Message string `json:"message,omitempty" doc:"Of the commit, of a worktree"`
	DryRun  bool   `json:"dry_run,omitempty" doc:"Only say what would be merged"`
}

// SyncWorkspace says which way, and who is right where both sides changed a file.
type SyncWorkspace struct {
	Direction string `json:"direction" enum:"up,down"`
	Prefer    string `json:"prefer,omitempty" enum:"workspace,filesystem" doc:"Whose change counts; neither when it is absent, and conflicts stay"`
}

// workspace finds the workspace of a task that the caller may do something with.
func (r *Request) workspace(verb access.Verb) (*workspace.Workspace, error) {
	t, err := r.Tasks.Find(r.Context(), r.Who, verb, r.Part("task"))
	if err != nil {
		return nil, err
	}
	return r.Tasks.FilesOf(t)
}

func getWorkspace(r *Request) (any, error) {
	w, err := r.workspace(access.Read)
	if err != nil {
		return nil, err
	}
	i := w.Info()
	if r.Who.Kind != access.Operator {
		i.Dir, i.Source = "", "" // where the host keeps things is its own
	}
	return i, nil
}

// maxDiff bounds a diff's text as JSON, in bytes.
const maxDiff = 4 << 20

func diffWorkspace(r *Request) (any, error) {
	w, err := r.workspace(access.Read)
	if err != nil {
		return nil, err
	}
	o := workspace.DiffOptions{}
	if p := r.Text("path"); p != "" {
		o.Paths = []string{p}
	}
	text := &clippedText{}
	if r.Bool("text") {
		o.Text = text
	}
	d, err := w.Diff(r.Context(), o)
	return WorkspaceDiff{Diff: d, Text: text.String(), Cut: text.cut}, err
}

func patchWorkspace(r *Request) (any, error) {
	w, err := r.workspace(access.Read)
	if err != nil {
		return nil, err
	}
	began := &started{ResponseWriter: r.W}
	o := workspace.DiffOptions{Text: began}
	if p := r.Text("path"); p != "" {
		o.Paths = []string{p}
	}
	r.W.Header().Set("Content-Type", "text/x-diff")
	r.W.Header().Set("X-Content-Type-Options", "nosniff")
	return began.answer(second(w.Diff(r.Context(), o)))
}

func second[T any](_ T, err error) error { return err }

// clippedText keeps the first maxDiff bytes.
type clippedText struct {
	bytes.Buffer
	cut bool
}

func (c *clippedText) Write(b []byte) (int, error) {
	room := maxDiff - c.Len()
	c.cut = c.cut || room < len(b)
	c.Buffer.Write(b[:max(0, min(room, len(b)))])
	return len(b), nil
}

func mergeWorkspace(r *Request, in MergeWorkspace) (any, error) {
	// It changes the operator's directories, or the project's filesystem.
	w, err := r.workspace(access.Update)
	if err != nil {
		return nil, err
	}
	if k := w.Info().Kind; k != workspace.Filesystem && r.Who.Kind != access.Operator {
		return nil, Errorf(http.StatusForbidden, "only the operator may merge into directories of the host's")
	}
	return w.Merge(r.Context(), workspace.MergeOptions{Message: in.Message, DryRun: in.DryRun})
}

func syncWorkspace(r *Request, in SyncWorkspace) (any, error) {
	w, err := r.workspace(access.Run)
	if err != nil {
		return nil, err
	}
	prefer := workspace.Prefer(in.Prefer)
	switch in.Prefer {
	case "", string(workspace.PreferWorkspace), string(workspace.PreferSource):
	default:
		return nil, Errorf(http.StatusUnprocessableEntity, "prefer is %q: want workspace or filesystem", clip(in.Prefer))
	}
	switch in.Direction {
	case "up":
		return w.SyncUp(r.Context(), prefer)
	case "down":
		return w.SyncDown(r.Context(), prefer)
	}
	return nil, Errorf(http.StatusUnprocessableEntity, "direction is %q: want up or down", clip(in.Direction))
}

func downloadWorkspace(r *Request) (any, error) {
	w, err := r.workspace(access.Read)
	if err != nil {
		return nil, err
	}
	r.W.Header().Set("Content-Type", "application/zstd")
	began := &started{ResponseWriter: r.W}
	return began.answer(second(w.WriteArchive(r.Context(), began)))
}

// answer is that of a handler that has written by itself, or failed before it did.
func (s *started) answer(err error) (any, error) {
	switch {
	case err == nil:
		return Streamed, nil
	case s.yes:
		panic(http.ErrAbortHandler) // the answer is cut off, and the caller sees that
	}
	return nil, err
}

// started notes whether anything was written.
type started struct {
	http.ResponseWriter
	yes bool
}

func (s *started) Write(b []byte) (int, error) {
	s.yes = true
	return s.ResponseWriter.Write(b)
}
