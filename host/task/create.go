package task

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
)

// NewTask describes a task to create (U39).
type NewTask struct {
	Name      string   `json:"name,omitempty" flag:"name,n" doc:"Unique; one is made when it is absent"`
	AgentName string   `json:"agent_name,omitempty" flag:"agent,a" doc:"The agent: this, agent_id or agent_command"`
	AgentID   string   `json:"agent_id,omitempty"`
	Command   []string `json:"agent_command,omitempty" doc:"A command that speaks ACP; the operator's alone"`
	Branch    string   `json:"branch,omitempty" flag:"branch" doc:"The agent's branch, which must have been deployed; main when absent"`
	Hint      string   `json:"branch_hint,omitempty" doc:"A branch that counts where it was deployed"`

	FilesystemID string `json:"filesystem_id,omitempty" flag:"filesystem,f" doc:"The filesystem to work on"`
	ProjectID    string `json:"project_id,omitempty" flag:"project,p" doc:"The project in which a filesystem is made for the task"`
	Workspace    string `json:"workspace,omitempty" flag:"workspace,w" doc:"worktree[:DIR], copy:DIR, ro:DIR, rw:DIR, fs:ID, none, or auto; the operator's alone, but for none"`
	Cwd          string `json:"cwd,omitempty" flag:"cwd" doc:"The directory that workspace is about"`
	GitBranch    string `json:"git_branch,omitempty" flag:"git-branch" doc:"The branch of a worktree; one is made of the name when it is absent"`
	From         string `json:"from,omitempty" flag:"from" doc:"The commit that a worktree begins at"`

	Params    json.RawMessage `json:"params,omitempty" flag:"params" doc:"An object, given to the agent's hooks and environment"`
	Approve   string          `json:"approve,omitempty" flag:"approve" doc:"Which of the agent's questions are answered with yes: ask, reads or all" enum:"ask,reads,all"`
	NoSandbox bool            `json:"no_sandbox,omitempty" flag:"no-sandbox" doc:"Run it without a sandbox; the operator's alone"`

	Where  string `json:"where,omitempty" flag:"where" doc:"What the host must have that a hub gives it to: labels and agents, separated by commas"`
	IfLost string `json:"if_lost,omitempty" flag:"if-lost" doc:"What a hub does when the host is lost while it works: fail, so that you send it again, or again" enum:"fail,again"`
	Lent   bool   `json:"lent,omitempty" doc:"A hub gives it: a turn that this host has not begun when it ends is not begun by the next one, as the hub may have given it to another"`

	budget.Limits
}

// AutoWorkspace is a worktree if the directory is in a repository, else no workspace.
const AutoWorkspace = "auto"

// Create makes a task and its workspace, and then starts its agent. If it fails it leaves nothing
// behind.
func (s *Service) Create(ctx context.Context, who access.Principal, n NewTask) (store.Task, error) {
	if err := n.check(who); err != nil {
		return store.Task{}, err
	}
	got, err := s.resolve(ctx, who, n)
	if err != nil {
		return store.Task{}, err
	}
	if n.Limits, err = s.limits(who, got.Agent.Name, n.Limits); err != nil {
		return store.Task{}, err
	}
	if !n.NoSandbox {
		if err := s.available(); err != nil {
			return store.Task{}, err
		}
	}
	t := store.Task{
		ID: store.NewID("tsk"), Name: n.Name, Status: store.Creating, AgentID: got.Agent.ID, VersionID: got.Version.ID, BranchID: got.Branch.ID,
		Params: n.Params, Creator: who.String(),
	}
	files, err := s.files(ctx, who, n, &t)
	if err != nil {
		return store.Task{}, err
	}
	t.Facts = store.Facts{Confirm: n.Approve, Bare: n.NoSandbox, Lent: n.Lent}
	// From here on the task is made even if the caller goes away.
	return s.make(s.ctx, t, files, got.Agent.Name, n.Limits)
}

func (n NewTask) check(who access.Principal) error {
	if n.Name != "" {
		if err := access.CheckName("a task", n.Name); err != nil {
			return store.Errorf(store.Invalid, "%w", err)
		}
	}
	given := len(slices.DeleteFunc([]string{n.FilesystemID, n.ProjectID, n.Workspace}, func(v string) bool { return v == "" }))
	switch {
	case n.Where != "" || n.IfLost != "":
		return store.Errorf(store.Invalid, "where and if_lost are for a hub: this is a host, which does what it is given itself")
	case n.AgentName != "" && n.AgentID != "" || (n.AgentName+n.AgentID == "") == (len(n.Command) == 0):
		return store.Errorf(store.Invalid, "say which agent: give one of agent_name, agent_id and agent_command")
	case given > 1:
		return store.Errorf(store.Invalid, "give one of filesystem_id, project_id and workspace")
	case who.Kind != access.Operator && who.Kind != access.Key:
		return store.Errorf(store.Forbidden, "a task can't begin others")
	case who.Kind != access.Operator && n.Workspace != "" && n.Workspace != string(workspace.None):
		return store.Errorf(store.Forbidden, "only the operator may name a directory of the host's: give filesystem_id or project_id")
	case who.Kind != access.Operator && n.NoSandbox:
		return store.Errorf(store.Forbidden, "only the operator may leave the sandbox out")
	case n.Approve != "" && !slices.Contains([]string{ahp.ConfirmAsk, ahp.ConfirmReads, ahp.ConfirmAll}, n.Approve):
		return store.Errorf(store.Invalid, "approve is ask, reads or all, not %.40q", n.Approve)
	case n.Approve == ahp.ConfirmAll && n.NoSandbox && who.Kind != access.Operator:
		return store.Errorf(store.Forbidden, "only the operator may approve everything without a sandbox")
	case len(n.Params) > 0 && !strings.HasPrefix(strings.TrimSpace(string(n.Params)), "{"):
		return store.Errorf(store.Invalid, "params is a JSON object")
	case n.Cwd != "" && !filepath.IsAbs(n.Cwd):
		return store.Errorf(store.Invalid, "cwd is an absolute path")
	}
	return nil
}

func (s *Service) resolve(ctx context.Context, who access.Principal, n NewTask) (registry.Resolved, error) {
	if len(n.Command) > 0 {
		return s.Agents.AdHoc(ctx, who, n.Command, "")
	}
	return s.Agents.Resolve(ctx, who, registry.Wanted{Agent: n.AgentName + n.AgentID, Branch: n.Branch, Hint: n.Hint})
}

// files returns what the task's workspace is to be, and sets the task's project and filesystem.
func (s *Service) files(ctx context.Context, who access.Principal, n NewTask, t *store.Task) (workspace.Spec, error) {
	switch {
	case n.FilesystemID != "":
		f, err := s.Agents.Filesystem(ctx, who, access.Read, n.FilesystemID)
		if err != nil {
			return workspace.Spec{}, err
		}
		t.ProjectID, t.FilesystemID = f.ProjectID, f.ID
		t.Writable = access.May(who, access.Update, access.Project, f.ProjectID) == access.Allowed
		return workspace.Spec{Kind: workspace.Filesystem, Filesystem: f.ID, NoUpdate: !t.Writable}, nil
	case n.ProjectID != "":
		return s.projectFiles(ctx, who, n, t)
	}
	text := n.Workspace
	switch text {
	case "", string(workspace.None):
		t.Writable = true
		return workspace.Spec{Kind: workspace.None}, nil
	case AutoWorkspace:
		if text = string(workspace.None); inRepository(n.Cwd) {
			text = string(workspace.Worktree)
		}
	}
	spec, err := workspace.Parse(text, n.Cwd)
	if err != nil {
		return spec, err
	}
	spec.Branch, spec.From = n.GitBranch, n.From
	t.Private, t.Writable = spec.Dir != "", spec.Kind != workspace.ReadOnly
	switch spec.Kind {
	case workspace.Copy:
		spec.Filesystem = store.NewID("fs")
	case workspace.Filesystem:
		n.FilesystemID, n.Workspace = spec.Filesystem, ""
		return s.files(ctx, who, n, t)
	}
	return spec, nil
}

// projectFiles makes a filesystem for a task of a project (U39, U84), or, if the project has a
// directory, returns a worktree or a copy of that.
func (s *Service) projectFiles(ctx context.Context, who access.Principal, n NewTask, t *store.Task) (workspace.Spec, error) {
	p, err := s.Agents.Project(ctx, who, access.Update, n.ProjectID)
	if err != nil {
		return workspace.Spec{}, err
	}
	t.ProjectID, t.Writable = p.ID, true
	if p.Dir != "" && inRepository(p.Dir) {
		return workspace.Spec{Kind: workspace.Worktree, Dir: p.Dir, Branch: n.GitBranch, From: n.From}, nil
	}
	f := store.Filesystem{ID: store.NewID("fs"), ProjectID: p.ID, Auto: true}
	if f, err = s.Store.Filesystems.Create(ctx, f); err != nil {
		return workspace.Spec{}, err
	}
	t.FilesystemID = f.ID
	if _, err := s.Files.NewTree(ctx, f.ID, p.Dir); err != nil {
		return workspace.Spec{}, errors.Join(err, s.Store.Filesystems.Delete(context.WithoutCancel(ctx), f.ID))
	}
	return workspace.Spec{Kind: workspace.Filesystem, Filesystem: f.ID}, nil
}

// inRepository reports whether a directory is inside of a git work tree.
func inRepository(dir string) bool {
	if dir == "" {
		return false
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// make adds the task's record, makes the workspace and starts the runner.
func (s *Service) make(ctx context.Context, t store.Task, spec workspace.Spec, agent string, limits budget.Limits) (store.Task, error) {
	s.begun()
	t, err := s.addRecord(ctx, t, spec, agent)
	if err != nil {
		s.dropFilesystem(ctx, t)
		return store.Task{}, err
	}
	if _, err := s.budgets.Limit(t.ID, limits); err != nil {
		s.unmake(t)
		return store.Task{}, err
	}
	spec.Name = cmp.Or(spec.Name, t.Name)
	if _, err := s.Files.Create(ctx, t.ID, spec); err != nil {
		s.unmake(t)
		return store.Task{}, err
	}
	t, err = s.Store.Tasks.Edit(ctx, t.ID, func(r *store.Task) error {
		r.Facts.Made = true
		return nil
	})
	if err != nil {
		s.unmake(t)
		return store.Task{}, err
	}
	s.note(t, store.Info, "created: "+describe(spec))
	s.Changed(t.ID)
	return t, nil
}

func describe(spec workspace.Spec) string {
	switch {
	case spec.Dir != "":
		return "workspace " + string(spec.Kind) + " of " + spec.Dir
	case spec.Filesystem != "":
		return "filesystem " + spec.Filesystem
	}
	return "without files"
}

// addRecord adds the record of a new task. Without a name the task gets one that is free.
func (s *Service) addRecord(ctx context.Context, t store.Task, spec workspace.Spec, agent string) (store.Task, error) {
	named := t.Name != ""
	var err error
	for range 5 {
		if !named {
			t.Name = strings.Trim(agent[:min(len(agent), access.MaxName-5)], "-_") + "-" + strings.ToLower(rand.Text()[:4])
		}
		if spec.Name = t.Name; spec.Kind == workspace.None {
			spec.Name = ""
		}
		t.Workspace = mustJSON(spec)
		got, e := s.Store.Tasks.Create(ctx, t)
		if err = e; err == nil {
			return got, nil
		}
		if !errors.Is(err, store.Exists) {
			break
		}
		if has, e := s.Store.Tasks.Find(ctx, t.Name); named && e == nil { // else that task has just gone
			if has.Status == store.Deleting {
				err = store.Errorf(store.Busy, "the task %s is still being deleted: its name is free then", t.Name)
			}
			break
		}
	}
	return t, err
}

func (s *Service) unmake(t store.Task) {
	ctx := s.ctx
	if _, err := s.Files.Remove(ctx, t.ID, true); err != nil {
		s.Log.Warn("remove the workspace of a task that could not be made", "task", t.ID, "err", err)
		return // the next host tries again
	}
	s.dropRecord(ctx, t)
}

// dropRecord removes a task's record, and the filesystem that only this task used.
func (s *Service) dropRecord(ctx context.Context, t store.Task) {
	orphan, err := s.Store.DeleteTask(ctx, t.ID)
	if err != nil && !errors.Is(err, store.NotFound) {
		s.Log.Warn("remove a task's record", "task", t.ID, "err", err)
		return
	}
	if orphan != "" {
		s.removeFilesystem(ctx, orphan)
	}
	if spec := specOf(t); spec.Kind == workspace.Copy && t.FilesystemID == "" {
		if err := s.Files.RemoveTree(spec.Filesystem); err != nil && !errors.Is(err, filetree.ErrNotFound) {
			s.Log.Warn("remove a task's copy", "task", t.ID, "err", err)
		}
	}
	s.budgets.Forget(t.ID)
	os.RemoveAll(s.scratch(t.ID)) //nolint:errcheck // the system empties it in time
	s.changed(t.ID)
}

// dropFilesystem removes the filesystem that was made for a task whose record could not be added.
func (s *Service) dropFilesystem(ctx context.Context, t store.Task) {
	if t.FilesystemID == "" {
		return
	}
	if f, err := s.Store.Filesystems.Find(ctx, t.FilesystemID); err == nil && f.Auto {
		s.removeFilesystem(ctx, f.ID)
	}
}

func (s *Service) removeFilesystem(ctx context.Context, id string) {
	err := s.Files.RemoveTree(id)
	if err == nil || errors.Is(err, filetree.ErrNotFound) {
		err = s.Store.Filesystems.Delete(ctx, id)
	}
	if err != nil && !errors.Is(err, store.NotFound) {
		s.Log.Warn("remove a filesystem that was made for a task", "filesystem", id, "err", err)
	}
}

func specOf(t store.Task) workspace.Spec {
	var spec workspace.Spec
	json.Unmarshal(t.Workspace, &spec) //nolint:errcheck // we wrote it
	return spec
}
