package store

import "time"

// Project is what filesystems belong to and derive their access from (U58, U93).
type Project struct {
	N           int64  `db:"n" json:"-"`
	ID          string `db:"id" json:"id"`
	Name        string `db:"name" json:"name"`
	Description string `db:"description" json:"description,omitempty"`
	// Dir is the directory of the host's that its tasks work on, absolute; empty:
	// none. The operator alone sets it.
	Dir     string    `db:"dir" json:"dir,omitempty" doc:"The directory that its tasks' workspaces are made from"`
	Created time.Time `db:"created" json:"created_at"`
	Updated time.Time `db:"updated" json:"updated_at"`
}

// Filesystem is a stored tree of files that tasks may attach (U58, U59).
type Filesystem struct {
	N         int64     `db:"n" json:"-"`
	ID        string    `db:"id" json:"id"`
	ProjectID string    `db:"project" json:"project_id"`
	Name      string    `db:"name" json:"name"`
	Version   string    `db:"version" json:"archive_version" doc:"What it holds: changes with every change"`
	Files     int64     `db:"files" json:"files"`
	Size      int64     `db:"size" json:"size" doc:"In bytes"`
	Auto      bool      `db:"auto" json:"auto,omitempty" doc:"It was made for a task and goes with the last one that has it"`
	Created   time.Time `db:"created" json:"created_at"`
	Updated   time.Time `db:"updated" json:"updated_at"`
}
