package registry

import (
	"context"
	"os"
	"path/filepath"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Project returns a project with which who may do verb.
func (r *Registry) Project(ctx context.Context, who access.Principal, verb access.Verb, ref string) (store.Project, error) {
	p, err := r.store.Projects.Find(ctx, ref)
	return p, may(err, who, verb, access.Project, p.ID, "project", ref)
}

// Projects lists the projects that who may see.
func (r *Registry) Projects(ctx context.Context, who access.Principal, p store.Page) ([]store.Project, string, error) {
	all, next, err := r.store.Projects.List(ctx, nil, p)
	return seen(who, access.Project, all, func(p store.Project) string { return p.ID }), next, err
}

// ProjectChange has the new values of a project. What is nil is not changed.
type ProjectChange struct {
	Name        *string `json:"name,omitempty" flag:"name,n" doc:"Its name"`
	Description *string `json:"description,omitempty" flag:"description" doc:"What it is for"`
	Dir         *string `json:"dir,omitempty" flag:"dir" doc:"The directory that its tasks' workspaces are made from; the operator alone may set it"`
}

func (c ProjectChange) apply(who access.Principal, p *store.Project) error {
	if c.Name != nil {
		p.Name = *c.Name
	}
	if c.Description != nil {
		p.Description = *c.Description
	}
	if c.Dir != nil && *c.Dir != p.Dir {
		// The tasks of everybody who may use the project work on the directory.
		if err := operate(who, "say which directory a project is of"); err != nil {
			return err
		}
		if info, err := os.Stat(*c.Dir); *c.Dir != "" && (!filepath.IsAbs(*c.Dir) || err != nil || !info.IsDir()) {
			return store.Errorf(store.Invalid, "%.200q is not the absolute path of a directory", *c.Dir)
		}
		p.Dir = *c.Dir
		if p.Dir != "" {
			p.Dir = filepath.Clean(p.Dir)
		}
	}
	if err := access.CheckName("a project", p.Name); err != nil {
		return store.Errorf(store.Invalid, "%w", err)
	}
	if len(p.Description) > maxText {
		return store.Errorf(store.Invalid, "the description has %d bytes, more than %d", len(p.Description), maxText)
	}
	return nil
}

// CreateProject makes a project (U93).
func (r *Registry) CreateProject(ctx context.Context, who access.Principal, c ProjectChange) (store.Project, error) {
	if access.MayCreate(who, access.Project) != access.Allowed {
		return store.Project{}, store.Errorf(store.Forbidden, "you may not make projects: that takes the scope project:%s:editor", access.All)
	}
	var p store.Project
	if err := c.apply(who, &p); err != nil {
		return p, err
	}
	return r.store.Projects.Create(ctx, p)
}

func (r *Registry) UpdateProject(ctx context.Context, who access.Principal, ref string, c ProjectChange) (store.Project, error) {
	p, err := r.Project(ctx, who, access.Update, ref)
	if err != nil {
		return p, err
	}
	return r.store.Projects.Edit(ctx, p.ID, func(p *store.Project) error { return c.apply(who, p) })
}

// DeleteProject removes an empty project.
func (r *Registry) DeleteProject(ctx context.Context, who access.Principal, ref string) error {
	p, err := r.Project(ctx, who, access.Delete, ref)
	if err != nil {
		return err
	}
	return r.store.Projects.Delete(ctx, p.ID)
}

// Filesystem returns a filesystem if who may do verb with its project (U58, U86).
func (r *Registry) Filesystem(ctx context.Context, who access.Principal, verb access.Verb, ref string) (store.Filesystem, error) {
	f, err := r.store.Filesystems.Find(ctx, ref)
	return f, may(err, who, verb, access.Project, f.ProjectID, "filesystem", ref)
}

// Filesystems lists the filesystems of a project, or of all projects that who may see.
func (r *Registry) Filesystems(ctx context.Context, who access.Principal, project string, p store.Page) ([]store.Filesystem, string, error) {
	if project != "" {
		pr, err := r.Project(ctx, who, access.Read, project)
		if err != nil {
			return nil, "", err
		}
		project = pr.ID
	}
	all, next, err := r.store.Filesystems.List(ctx, store.Where{"project": project}, p)
	return seen(who, access.Project, all, func(f store.Filesystem) string { return f.ProjectID }), next, err
}
