package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Deploy says what to deploy.
type Deploy struct {
	// Definition is what to deploy; if it is nil, it is read from Files.
	Definition *Definition
	// Files is a tar archive of the definition's directory, or nil.
	Files io.Reader
	// Branch is the branch to deploy on; "" means main.
	Branch string
	Note   string
	// Unchanged makes it do nothing if the branch's active version is the same.
	Unchanged bool
}

// configured is the author of versions that were made from the configuration.
const configured = "configuration"

// Deploy makes a version and makes it the branch's active one (U24, U25). A definition that can't run
// makes a FAILED version, which does not become active.
func (r *Registry) Deploy(ctx context.Context, who access.Principal, d Deploy) (store.Deployed, error) {
	got, err := r.deployFiles(ctx, who, d)
	if err != nil && d.Files != nil {
		r.sweep(ctx)
	}
	return got, err
}

func (r *Registry) deployFiles(ctx context.Context, who access.Principal, d Deploy) (store.Deployed, error) {
	var code string
	if d.Files != nil {
		r.files.RLock() // keeps sweep from removing the files before the record exists
		defer r.files.RUnlock()
		var err error
		var def *Definition
		if code, def, err = r.unpack(ctx, d.Files); err != nil {
			return store.Deployed{}, err
		}
		d.Definition = cmp.Or(d.Definition, def)
	}
	if d.Definition == nil {
		return store.Deployed{}, store.Errorf(store.Invalid, "there is no %s in what was sent", DefinitionFile)
	}
	if err := d.Definition.Check(); err != nil {
		return store.Deployed{}, err
	}
	return r.deploy(ctx, who, d, code, who.String())
}

func (r *Registry) deploy(ctx context.Context, who access.Principal, d Deploy, code, author string) (store.Deployed, error) {
	d.Branch = cmp.Or(d.Branch, MainBranch)
	if err := CheckBranch(d.Branch); err != nil {
		return store.Deployed{}, err
	}
	def := *d.Definition
	if who.Kind != access.Operator {
		if err := def.modest(); err != nil {
			return store.Deployed{}, err
		}
	}
	fresh, err := r.mayDeploy(ctx, who, def.Name)
	if err != nil {
		return store.Deployed{}, err
	}
	raw, hash, err := def.Encode(code)
	if err != nil {
		return store.Deployed{}, err
	}
	got, err := r.store.Deploy(ctx, store.Deployment{
		Agent: def.Name, New: fresh, Description: def.Description, Branch: d.Branch, Environment: EnvironmentOf(d.Branch),
		Sticky: map[string]bool{Production: def.sticky(Production), Preview: def.sticky(Preview)}, Definition: raw, Hash: hash, Code: code, Reason: r.cannotRun(def, code),
		Author: author, Note: d.Note, Unchanged: d.Unchanged,
	})
	r.noteDeploy(ctx, got, err)
	return got, err
}

// noteDeploy adds a deploy to the agent's log.
func (r *Registry) noteDeploy(ctx context.Context, got store.Deployed, err error) {
	if err != nil || got.Unchanged {
		return
	}
	e := store.LogEntry{AgentID: got.Agent.ID, VersionID: got.Version.ID, Level: store.Info, Source: "deploy"}
	e.Text = fmt.Sprintf("version %d is active on %s; %d tasks follow", got.Version.Number, got.Branch.Name, len(got.Moved))
	if got.Version.Status == store.Failed {
		e.Level, e.Text = store.Severe, fmt.Sprintf("version %d failed: %s", got.Version.Number, got.Version.Reason)
	}
	if err := r.addLogs(ctx, got.Agent.ID, e); err != nil {
		r.o.Log.Warn("note a deploy", "err", err)
	}
}

// mayDeploy returns an error if who may not deploy an agent with the name, and whether it is new.
func (r *Registry) mayDeploy(ctx context.Context, who access.Principal, name string) (fresh bool, err error) {
	a, err := r.store.Agents.Find(ctx, name)
	switch {
	case errors.Is(err, store.NotFound) || err == nil && a.Name != name:
		if access.MayCreate(who, access.Agent) != access.Allowed {
			return true, store.Errorf(store.Forbidden, "you may not make new agents: that takes the scope agent:%s:editor", access.All)
		}
		return true, nil
	case err != nil:
		return false, err
	}
	if d := access.May(who, access.Update, access.Agent, a.ID); d == access.Hidden {
		// To say that it does not exist would be false, which a second attempt would show.
		return false, store.Errorf(store.Forbidden, "the name %q is not free for you", name)
	} else if err := Refuse(d, access.Update, "agent", name); err != nil {
		return false, err
	}
	return false, nil
}

// cannotRun returns why a definition can't be started now, or "". Programs in PATH may change, so this
// finds only mistakes.
func (r *Registry) cannotRun(d Definition, code string) string {
	for what, words := range d.programs() {
		if len(words) == 0 {
			continue
		}
		program := words[0]
		if own, ok := strings.CutPrefix(program, "./"); ok {
			if code == "" {
				return fmt.Sprintf("%s: %s is a file of the definition's, which has none", what, program)
			}
			program = filepath.Join(r.CodeDir(code), filepath.FromSlash(own))
		} else if strings.Contains(program, "/") && !filepath.IsAbs(program) {
			return fmt.Sprintf("%s: write ./%s for a file of the definition's, or an absolute path", what, program)
		}
		if _, err := exec.LookPath(program); err != nil {
			if e, is := errors.AsType[*exec.Error](err); is {
				err = e.Err
			}
			return fmt.Sprintf("%s: %s can't be run: %v", what, words[0], err)
		}
	}
	return ""
}

// Redeploy makes a new version of a branch's active one, with the current variables (U26).
func (r *Registry) Redeploy(ctx context.Context, who access.Principal, branchID, note string) (store.Deployed, error) {
	b, err := r.branch(ctx, who, access.Update, branchID)
	if err != nil {
		return store.Deployed{}, err
	}
	if b.ActiveID == "" {
		return store.Deployed{}, store.Errorf(store.Stale, "the branch %q has no version that was ready", b.Name)
	}
	a, err := r.store.Agents.Find(ctx, b.AgentID)
	if err != nil {
		return store.Deployed{}, err
	}
	v, err := r.store.Versions.Get(ctx, b.ActiveID)
	if err != nil {
		return store.Deployed{}, err
	}
	def, err := DecodeDefinition(v.Definition)
	if err != nil {
		return store.Deployed{}, err
	}
	author := who.String()
	if who.Kind == access.Operator {
		author = v.Author // the author of a definition stays the same when it is deployed again
	}
	got, err := r.store.Deploy(ctx, store.Deployment{
		Agent: a.Name, Description: a.Description, Branch: b.Name, Environment: b.Environment, Definition: v.Definition, Hash: v.Hash, Code: v.Code,
		Reason: r.cannotRun(def, v.Code), Author: author, By: who.String(), Note: note, SourceID: v.ID,
	})
	r.noteDeploy(ctx, got, err)
	return got, err
}

// Rollback makes an earlier version of a branch the active one (U31). version is an id, a number, or
// "" for the one before.
func (r *Registry) Rollback(ctx context.Context, who access.Principal, branchID, version, note string) (store.Deployed, error) {
	b, err := r.branch(ctx, who, access.Update, branchID)
	if err != nil {
		return store.Deployed{}, err
	}
	if version != "" {
		v, err := r.versionOf(ctx, who, b.AgentID, version)
		if err != nil {
			return store.Deployed{}, err
		}
		version = v.ID
	}
	got, err := r.store.Rollback(ctx, b.ID, version, who.String(), note)
	r.noteDeploy(ctx, got, err)
	return got, err
}
