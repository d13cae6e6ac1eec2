package store

import (
	"context"
	"database/sql"
	"time"
)

// Project is what filesystems belong to and derive their access from (U58, U93).
type Project struct {
	n           int64
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Dir is the directory of the host's that its tasks work on, absolute; empty:
	// none. The operator alone sets it.
	Dir     string    `json:"dir,omitempty" doc:"The directory that its tasks' workspaces are made from"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

func (*Project) kind() kind {
	return kind{"project", "projects", "n, id, name, description, dir, created, updated"}
}

func (p *Project) row() []any {
	return []any{&p.n, &p.ID, &p.Name, &p.Description, &p.Dir, at{&p.Created}, at{&p.Updated}}
}

// CreateProject adds a project, whose id and times it sets.
func (s *Store) CreateProject(ctx context.Context, p Project) (Project, error) {
	p.ID, p.Created = NewID("prj"), s.moment()
	p.Updated = p.Created
	return p, s.write(ctx, relaxed, func(tx *sql.Tx) error {
		return insert(ctx, tx, &p, Errorf(Exists, "there is a project named %q already", p.Name))
	})
}

// Project finds one by id, name or the beginning of an id.
func (s *Store) Project(ctx context.Context, ref string) (Project, error) {
	return named[Project](ctx, s, s.r, ref)
}

// Projects lists them, oldest first.
func (s *Store) Projects(ctx context.Context, p Page) ([]Project, string, error) {
	return page[Project](ctx, s, p, false, "")
}

// UpdateProject changes one: what change refuses is left as it is.
func (s *Store) UpdateProject(ctx context.Context, id string, change func(*Project) error) (Project, error) {
	return edit(ctx, s, relaxed, id, func(p *Project) error {
		p.Updated = s.moment()
		return change(p)
	})
}

// DeleteProject removes one that has no filesystems and no tasks.
func (s *Store) DeleteProject(ctx context.Context, id string) error {
	return s.write(ctx, relaxed, func(tx *sql.Tx) error {
		for what, table := range map[string]string{"filesystems": "filesystems", "tasks": "tasks"} {
			var n int
			if err := tx.QueryRowContext(ctx, "select count(*) from "+table+" where project = ?", id).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return Errorf(InUse, "the project has %d %s; delete them first", n, what)
			}
		}
		return remove[Project](ctx, tx, id)
	})
}

// Filesystem is a stored tree of files that tasks may attach (U58, U59).
type Filesystem struct {
	n         int64
	ID        string    `json:"id"`
	ProjectID string    `json:"project_id"`
	Name      string    `json:"name"`
	Version   string    `json:"archive_version" doc:"What it holds: changes with every change"`
	Files     int64     `json:"files"`
	Size      int64     `json:"size" doc:"In bytes"`
	Auto      bool      `json:"auto,omitempty" doc:"It was made for a task and goes with the last one that has it"`
	Created   time.Time `json:"created_at"`
	Updated   time.Time `json:"updated_at"`
}

func (*Filesystem) kind() kind {
	return kind{"filesystem", "filesystems", "n, id, project, name, version, files, size, auto, created, updated"}
}

func (f *Filesystem) row() []any {
	return []any{&f.n, &f.ID, &f.ProjectID, &f.Name, &f.Version, &f.Files, &f.Size, &f.Auto, at{&f.Created}, at{&f.Updated}}
}

// CreateFilesystem adds a filesystem to a project. Its id is set when it has none
// and its name, when it has none, is that id.
func (s *Store) CreateFilesystem(ctx context.Context, f Filesystem) (Filesystem, error) {
	if f.ID == "" {
		f.ID = NewID("fs")
	}
	if f.Name == "" {
		f.Name = f.ID
	}
	f.Created = s.moment()
	f.Updated = f.Created
	return f, s.write(ctx, relaxed, func(tx *sql.Tx) error {
		if _, err := named[Project](ctx, s, tx, f.ProjectID); err != nil {
			return err
		}
		return insert(ctx, tx, &f, Errorf(Exists, "the project has a filesystem named %q already", f.Name))
	})
}

// Filesystem finds one by id, by a name that only one has, or by the beginning of
// an id.
func (s *Store) Filesystem(ctx context.Context, ref string) (Filesystem, error) {
	return named[Filesystem](ctx, s, s.r, ref)
}

// Filesystems lists those of a project, or all for "", oldest first.
func (s *Store) Filesystems(ctx context.Context, project string, p Page) ([]Filesystem, string, error) {
	return page[Filesystem](ctx, s, p, false, "(?1 = '' or project = ?1) and ", project)
}

// DeleteFilesystem removes one that no task has.
func (s *Store) DeleteFilesystem(ctx context.Context, id string) error {
	return s.write(ctx, relaxed, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "select count(*) from tasks where filesystem = ?", id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return Errorf(InUse, "%d tasks have this filesystem; delete them first", n)
		}
		return remove[Filesystem](ctx, tx, id)
	})
}
