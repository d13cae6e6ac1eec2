package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tandemux/internal/statefile"
)

// migrations bring an SQLite database from one schema to the next; the first one makes the schema of
// an empty database. Migrations that were released never change. Times are milliseconds since 1970, 0
// for none. The column n has the order in which rows were made.
var migrations = []string{schema1, schema2, schema3, schema4, schema5}

const schema1 = `
create table projects (
	n integer primary key autoincrement, id text not null unique, name text not null unique,
	description text not null, dir text not null, created integer not null, updated integer not null
) strict;

create table filesystems (
	n integer primary key autoincrement, id text not null unique, project text not null references projects(id),
	name text not null, version text not null, files integer not null, size integer not null, auto integer not null,
	created integer not null, updated integer not null, unique (project, name)
) strict;

create table manifests (
	owner text primary key, version text not null, data blob not null, updated integer not null
) strict, without rowid;

create table agents (
	n integer primary key autoincrement, id text not null unique, name text not null unique,
	description text not null, created integer not null, updated integer not null
) strict;

create table environments (
	agent text not null references agents(id) on delete cascade, name text not null, sticky integer not null,
	policy text not null, updated integer not null, primary key (agent, name)
) strict, without rowid;

create table variables (
	agent text not null references agents(id) on delete cascade, environment text not null, name text not null,
	secret integer not null, sealed blob not null, updated integer not null, primary key (agent, environment, name)
) strict, without rowid;

create table snapshots (
	id text primary key, agent text not null references agents(id) on delete cascade, sealed blob not null, created integer not null
) strict, without rowid;
create index snapshots_agent on snapshots (agent);

create table branches (
	n integer primary key autoincrement, id text not null unique, agent text not null references agents(id) on delete cascade,
	name text not null, environment text not null, active text references versions(id) deferrable initially deferred,
	status text not null, reason text not null, created integer not null, updated integer not null, unique (agent, name)
) strict;

create table versions (
	n integer primary key autoincrement, id text not null unique, agent text not null references agents(id) on delete cascade,
	branch text not null references branches(id) on delete cascade, environment text not null, number integer not null,
	hash text not null, code text not null, definition text not null, snapshot text not null references snapshots(id),
	status text not null, reason text not null, author text not null, source text, created integer not null,
	unique (agent, number)
) strict;
create index versions_branch on versions (branch, number);

create table branch_events (
	n integer primary key autoincrement, id text not null unique, branch text not null references branches(id) on delete cascade,
	kind text not null, version text not null, previous text, author text not null, note text not null, created integer not null
) strict;
create index branch_events_branch on branch_events (branch, n);

create table keys (
	n integer primary key autoincrement, id text not null unique, name text not null, hash blob not null unique,
	scopes text not null, task text references tasks(id) on delete cascade, author text not null,
	created integer not null, used integer not null, expires integer not null, revoked integer not null
) strict;
create unique index keys_name on keys (name) where revoked = 0 and task is null;
create index keys_task on keys (task);

create table tasks (
	n integer primary key autoincrement, id text not null unique, name text not null unique,
	agent text not null references agents(id), version text not null references versions(id), launched text,
	branch text not null references branches(id), project text references projects(id), filesystem text references filesystems(id),
	workspace text not null, writable integer not null, private integer not null, status text not null, reason text not null,
	params text not null, session text not null, progress integer, progress_line text not null, creator text not null,
	facts text not null, created integer not null, updated integer not null
) strict;
create index tasks_agent on tasks (agent, n);
create index tasks_version on tasks (version);
create index tasks_branch on tasks (branch);
create index tasks_filesystem on tasks (filesystem);
create index tasks_project on tasks (project);

create table events (
	n integer primary key autoincrement, id text not null unique, task text not null references tasks(id) on delete cascade,
	content text not null, status text not null, reason text not null, author text not null, turn text not null,
	created integer not null, updated integer not null
) strict;
create index events_task on events (task, n);
create index events_waiting on events (task, n) where status in ('PENDING', 'RUNNING');

create table messages (
	n integer primary key autoincrement, id text not null unique, task text not null references tasks(id) on delete cascade,
	author text not null, content text not null, created integer not null
) strict;
create index messages_task on messages (task, n);

create table states (
	n integer primary key autoincrement, id text not null unique, task text not null references tasks(id) on delete cascade,
	agent text not null references agents(id), state text not null, created integer not null, updated integer not null,
	unique (task, agent)
) strict;

create table stream (
	task text not null references tasks(id) on delete cascade, seq integer not null, type text not null, data text not null,
	primary key (task, seq)
) strict, without rowid;

create table logs (
	n integer primary key autoincrement, agent text not null references agents(id) on delete cascade, version text, task text,
	level integer not null, source text not null, text text not null, created integer not null
) strict;
create index logs_agent on logs (agent, n);
create index logs_task on logs (task, n) where task is not null;

create table replies (
	author text not null, key text not null, digest blob not null, life text not null, status integer not null,
	header text not null, body blob not null, created integer not null, primary key (author, key)
) strict, without rowid;
create index replies_created on replies (created);
`

// schema2 has indexes for finding tasks that are not final, as a host does when it starts, and the
// branches of an environment, without reading all rows.
const schema2 = `
create index tasks_live on tasks (n) where status not in ('CANCELLED', 'FAILED', 'DELETING');
create index branches_environment on branches (agent, environment, n);
`

// schema3 says when the database was made. Older files on the disk may belong to another database, so
// they are kept although no record mentions them.
const schema3 = `
create table about (born integer not null) strict;
insert into about (born) values (cast(unixepoch('subsec') * 1000 as integer));
`

// schema4 has the budgets of tasks.
const schema4 = `
create table budgets (
	task text primary key references tasks(id) on delete cascade, limits text not null, account text not null
) strict, without rowid;
`

// schema5 says which event a message belongs to.
const schema5 = `alter table messages add column event text;`

// Born returns when the database began to have records of everything. What was made before may belong
// to a database that was renamed or removed.
func (s *Store) Born(ctx context.Context) (time.Time, error) {
	born, err := one[time.Time](ctx, s.reading(), nil, "select born from about")
	if info, e := os.Stat(filepath.Join(s.dir, placeFile)); e == nil && info.ModTime().After(born) {
		born = info.ModTime()
	}
	return born, err
}

// placeFile has the name of the database with the records, if that was ever another one than SQLite's.
// Its time is that of the last change of database.
const placeFile = "tasks.place"

// move writes placeFile if the records are in another database than before.
func move(s *Store) error {
	path := filepath.Join(s.dir, placeFile)
	was, err := statefile.Read(path, 4<<10)
	if errors.Is(err, os.ErrNotExist) {
		was, err = []byte(s.path), nil
	}
	if err != nil || string(was) == s.name {
		return err
	}
	return statefile.Write(path, []byte(s.name))
}

// migrate brings the schema up to date in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	return s.end(ctx, durable, func(tx conn) error { // usually there is nothing to do
		have, err := s.engine.version(ctx, tx)
		if err != nil {
			return err
		}
		migrations := s.engine.migrations()
		if have > len(migrations) {
			return fmt.Errorf("the database of tasks %s was made by a newer tandemux (schema %d, this one knows %d): use that one", s.name, have, len(migrations))
		}
		for i := have; i < len(migrations); i++ {
			if err := tx.exec(ctx, migrations[i]); err != nil {
				return fmt.Errorf("bring the tasks' database from schema %d to %d: %w", i, i+1, err)
			}
		}
		if have == len(migrations) {
			return nil
		}
		s.log.Info("brought the database of tasks up to date", "from", have, "to", len(migrations))
		return s.engine.setVersion(ctx, tx, len(migrations))
	})
}

func (s sqliteEngine) migrations() []string { return migrations }

func (s sqliteEngine) version(ctx context.Context, tx conn) (int, error) {
	have, err := one[int](ctx, tx, nil, "pragma user_version")
	if err != nil || have > 0 {
		return have, err
	}
	// A database of another program, or one that lost its number, must not be built upon.
	tables, err := one[int](ctx, tx, nil, "select count(*) from sqlite_schema where name not like 'sqlite_%'")
	if err == nil && tables > 0 {
		err = Errorf(Damaged, "it has %d tables and no schema number", tables)
	}
	return 0, err
}

func (s sqliteEngine) setVersion(ctx context.Context, tx conn, n int) error {
	return tx.exec(ctx, fmt.Sprintf("pragma user_version = %d", n))
}

// hasSealed reports whether the database has any encrypted value.
func (s *Store) hasSealed() (bool, error) {
	return one[bool](context.Background(), s.reading(), nil, "select exists (select 1 from variables) or exists (select 1 from snapshots)")
}
