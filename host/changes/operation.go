package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
	"tandemux/ahp/resource"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/git"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/internal/fileuri"
)

// The operations.
const (
	opKeep   = "keep"
	opUndo   = "undo"
	opCommit = "commit"
	opMerge  = "merge"
)

// undoer is a Tree whose files can be given back what they had, which is kept first.
type undoer interface {
	Undo(ctx context.Context, files []git.FileDiff) (git.Undone, error)
}

// operations are those that there are now.
func (s *set) operations() []changeset.Operation {
	all := []changeset.Operation{}
	add := func(id, label, icon, what string, scopes ...string) {
		all = append(all, changeset.Operation{ID: id, Label: label, Icon: icon, Description: what, Scopes: scopes, Status: changeset.Idle})
	}
	_, undoes := s.tree.(undoer)
	_, home := s.tree.(Home)
	if len(s.files) > 0 {
		add(opKeep, "Keep", "check", "Note that the changes were reviewed", changeset.OnChangeset, changeset.OnResource)
		if undoes {
			add(opUndo, "Undo", "discard", "Give files what they were before the changes, and keep what they have under a reference", changeset.OnChangeset, changeset.OnResource)
			all[len(all)-1].Confirm = ahp.Plain("Undo these changes? What is undone is kept in the repository.")
		}
		add(opCommit, "Commit", "git-commit", "Commit all changes", changeset.OnChangeset)
	}
	if home && len(s.files) > 0 {
		add(opMerge, "Merge Home", "git-merge", "Commit all changes, and merge them where the workspace came from", changeset.OnChangeset)
	}
	for i, o := range all { // as it stands
		if j := slices.IndexFunc(s.value.Operations, func(was changeset.Operation) bool { return was.ID == o.ID }); j >= 0 {
			all[i].Status, all[i].Error = s.value.Operations[j].Status, s.value.Operations[j].Error
		}
	}
	return all
}

// Methods are the requests that the package answers: read, which reads files, is given
// those for others than contents of changesets.
func (cs *Changes) Methods(read requests.Method) map[string]requests.Method {
	files := read.Do
	read.Do = func(ctx context.Context, c *requests.Conn, raw json.RawMessage) (any, error) {
		var p resource.ReadParams
		if ahp.Unmarshal(raw, &p) != nil || !strings.HasPrefix(p.URI, changeset.Scheme) {
			return files(ctx, c, raw)
		}
		if err := params.Allowed("files", c.Principal.Lacks(auth.ScopeCreate)); err != nil {
			return nil, err
		}
		return cs.read(ctx, p.URI, p.Encoding)
	}
	return map[string]requests.Method{
		resource.MethodRead:    read,
		changeset.MethodInvoke: {Do: requests.Of(cs.invoke), Scope: auth.ScopeSession, Drives: true},
	}
}

// Actions are those that clients may dispatch.
func (cs *Changes) Actions() map[string]requests.Action {
	return map[string]requests.Action{changeset.FilesReviewChanged{}.ActionType(): {
		Scope: auth.ScopeSession, Needs: []string{"files", "reviewed"}, Fits: requests.Is[*set],
		Do: func(tx core.Tx, d *requests.Dispatch) string {
			a := d.Action.(changeset.FilesReviewChanged)
			if len(a.Files) > maxFiles {
				return fmt.Sprintf("more than %d files", maxFiles)
			}
			d.Channel.Body.(*set).review(tx, a, d.By)
			return ""
		},
	}}
}

// review notes what was reviewed, with what it was.
func (s *set) review(tx core.Tx, a changeset.FilesReviewChanged, by *core.By) {
	tx.Apply(s.ch, a, by)
	marks := map[string]string{}
	for _, f := range s.value.Files {
		if f.Reviewed {
			marks[f.ID] = print(s.files[f.ID])
		}
	}
	s.all.Review(tx, s.session, marks)
}

func (cs *Changes) invoke(_ context.Context, c *requests.Conn, p changeset.InvokeParams) (any, error) {
	if len(p.Meta.Message) > maxMessage || strings.ContainsRune(p.Meta.Message, 0) || !utf8.ValidString(p.Meta.Message) {
		return nil, ahp.InvalidParams("changeset: the message is no text of at most %d bytes", maxMessage)
	}
	var s *set
	var t Tree
	var dirs []string
	var done *changeset.InvokeResult
	var err error
	message := strings.TrimSpace(p.Meta.Message)
	cs.Core.Do(func(tx core.Tx) {
		if s = cs.sets[params.Canonical(p.Channel)]; s == nil {
			err = ahp.NotFound("changeset: there is none at %q that anybody is subscribed to", params.Clip(p.Channel))
			return
		}
		if err = s.may(c, p); err != nil {
			return
		}
		if p.OperationID == opKeep {
			done = s.keep(tx, p.Target)
			return
		}
		state, _ := stateOf(tx, tx.Channel(s.session))
		message = cmp.Or(message, strings.TrimSpace(state.Title), "Changes of a session")
		t, dirs = s.tree, cs.busy(tx)
		s.running = p.OperationID
		tx.Apply(s.ch, changeset.OperationStatusChanged{OperationID: p.OperationID, Status: changeset.Running}, nil)
	})
	if err != nil {
		cs.Audit.Refused(c.Who(), changeset.MethodInvoke, params.Clip(p.Channel), err.Error())
		return nil, err
	}
	if done == nil {
		done, err = cs.carryOut(s, t, p, dirs, message)
	}
	if err != nil {
		cs.Audit.Did(c.Who(), changeset.MethodInvoke, params.Clip(p.Channel), "operation", p.OperationID, "failed", err.Error())
		return nil, err
	}
	cs.Audit.Did(c.Who(), changeset.MethodInvoke, params.Clip(p.Channel), "operation", p.OperationID, "result", done.Message)
	return done, nil
}

// may says why an operation can't be carried out.
func (s *set) may(c *requests.Conn, p changeset.InvokeParams) error {
	i := slices.IndexFunc(s.value.Operations, func(o changeset.Operation) bool { return o.ID == p.OperationID })
	scope, kind := auth.ScopeWrite, changeset.OnChangeset
	if p.Target != nil {
		kind = p.Target.Kind
	}
	if p.OperationID == opKeep {
		scope = auth.ScopeSession
	}
	switch {
	case s.value.Status == changeset.Computing:
		return ahp.Conflict("changeset: it is being computed: try again when it is ready")
	case i < 0:
		return ahp.InvalidParams("changeset: operationId: there is no operation %q now", params.Clip(p.OperationID))
	case kind == changeset.OnChangeset && p.Target != nil, !slices.Contains(s.value.Operations[i].Scopes, kind):
		return ahp.InvalidParams("changeset: target: %s is not for a target of the kind %q", p.OperationID, params.Clip(kind))
	case kind == changeset.OnResource && s.files[p.Target.Resource].Path == "":
		return ahp.NotFound("changeset: target: %q is not one of the changed files", params.Clip(p.Target.Resource))
	case s.running != "" && p.OperationID != opKeep:
		return ahp.Conflict("changeset: %s is being carried out: wait for its end", s.running)
	}
	return params.Allowed("changeset", c.Principal.Lacks(scope))
}

// keep marks files as reviewed.
func (s *set) keep(tx core.Tx, target *changeset.Target) *changeset.InvokeResult {
	a := changeset.FilesReviewChanged{Reviewed: true}
	for _, f := range s.value.Files {
		if target == nil || f.ID == target.Resource {
			a.Files = append(a.Files, f.ID)
		}
	}
	s.review(tx, a, nil)
	return &changeset.InvokeResult{Message: fmt.Sprintf("Kept: %s.", counted(len(a.Files)))}
}

func counted(files int) string {
	if files == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", files)
}

// busy are the directories in which agents are at work.
func (cs *Changes) busy(tx core.Tx) (dirs []string) {
	for ch := range tx.Channels() {
		if state, is := stateOf(tx, ch); is && slices.ContainsFunc(state.Chats, func(c ahp.ChatSummary) bool {
			return c.Status.NeedsInput() || c.Status.Activity() == ahp.ActivityInProgress
		}) {
			dirs = append(dirs, cs.directory(state))
		}
	}
	return dirs
}

// carryOut does what needs git, without the lock, and tells how it ended.
func (cs *Changes) carryOut(s *set, t Tree, p changeset.InvokeParams, dirs []string, message string) (done *changeset.InvokeResult, err error) {
	ctx, cancel := context.WithTimeout(cs.ctx, operationTime)
	defer cancel()
	defer func() {
		status := changeset.OperationStatusChanged{OperationID: p.OperationID, Status: changeset.Idle}
		if err != nil {
			status.Status, status.Error = changeset.Failed, failure(err)
			if ahp.FromRPC(err) == nil {
				err = ahp.Conflict("%s: %s", p.OperationID, clean(err))
			}
		}
		cs.Core.Do(func(tx core.Tx) {
			s.running = ""
			if !s.there() {
				return
			}
			tx.Apply(s.ch, status, nil)
			s.refresh(tx)
			cs.Unwatched(tx, s.ch)
		})
	}()
	for _, dir := range dirs {
		if within(dir, t.Top()) {
			return nil, ahp.Errorf(ahp.CodeTurnInProgress, "%s: an agent is at work in %s: wait until its turn has ended, or cancel it", p.OperationID, t.Top())
		}
	}
	if _, own := t.(Home); !own {
		if err := cs.Files.Check(fileuri.Of(t.Top()), true); err != nil {
			return nil, err
		}
	}
	switch p.OperationID {
	case opCommit:
		commit, err := t.Commit(ctx, message)
		if err != nil {
			return nil, err
		}
		return &changeset.InvokeResult{Message: "Committed as " + commit[:12] + "."}, nil
	case opMerge:
		into, err := t.(Home).Merge(ctx, message)
		if err != nil {
			return nil, err
		}
		return &changeset.InvokeResult{Message: "Merged into " + into + "."}, nil
	}
	files, err := t.Diff(ctx) // as of now
	if err != nil {
		return nil, err
	}
	if p.Target != nil {
		files = slices.DeleteFunc(files, func(d git.FileDiff) bool { return fileuri.Of(filepath.Join(t.Top(), d.Path)) != p.Target.Resource })
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("nothing differs any more")
	}
	was, err := t.(undoer).Undo(ctx, files)
	if err != nil {
		return nil, err
	}
	back := "git stash apply " + was.Ref()
	if _, home := t.(Home); home { // of which the branch may have some
		back = "git restore --source=" + was.Ref() + " FILE"
	}
	return &changeset.InvokeResult{Message: fmt.Sprintf("Undone: %s. What was undone is kept as %s; `%s` brings it back.", counted(len(files)), was.Ref(), back)}, nil
}

// within reports whether a directory is one below another, or that.
func within(dir, top string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(top, real)
	return err == nil && filepath.IsLocal(rel)
}
