package store

// postgresMigrations are what migrations are, for PostgreSQL. It came to it with SQLite's
// fifth schema; TestSchemasAgree holds them together. Text is ordered by bytes, as there.
var postgresMigrations = []string{postgresSchema1}

const postgresSchema1 = `
create table projects (
	n bigint generated always as identity primary key, id text collate "C" not null unique, name text collate "C" not null unique,
	description text collate "C" not null, dir text collate "C" not null, created bigint not null, updated bigint not null
);

create table filesystems (
	n bigint generated always as identity primary key, id text collate "C" not null unique, project text collate "C" not null references projects(id),
	name text collate "C" not null, version text collate "C" not null, files bigint not null, size bigint not null, auto bigint not null,
	created bigint not null, updated bigint not null, unique (project, name)
);

create table manifests (
	owner text collate "C" primary key, version text collate "C" not null, data bytea not null, updated bigint not null
);

create table agents (
	n bigint generated always as identity primary key, id text collate "C" not null unique, name text collate "C" not null unique,
	description text collate "C" not null, created bigint not null, updated bigint not null
);

create table environments (
	agent text collate "C" not null references agents(id) on delete cascade, name text collate "C" not null, sticky bigint not null,
	policy text collate "C" not null, updated bigint not null, primary key (agent, name)
);

create table variables (
	agent text collate "C" not null references agents(id) on delete cascade, environment text collate "C" not null, name text collate "C" not null,
	secret bigint not null, sealed bytea not null, updated bigint not null, primary key (agent, environment, name)
);

create table snapshots (
	id text collate "C" primary key, agent text collate "C" not null references agents(id) on delete cascade, sealed bytea not null, created bigint not null
);
create index snapshots_agent on snapshots (agent);

create table branches (
	n bigint generated always as identity primary key, id text collate "C" not null unique, agent text collate "C" not null references agents(id) on delete cascade,
	name text collate "C" not null, environment text collate "C" not null, active text collate "C",
	status text collate "C" not null, reason text collate "C" not null, created bigint not null, updated bigint not null, unique (agent, name)
);

create table versions (
	n bigint generated always as identity primary key, id text collate "C" not null unique, agent text collate "C" not null references agents(id) on delete cascade,
	branch text collate "C" not null references branches(id) on delete cascade, environment text collate "C" not null, number bigint not null,
	hash text collate "C" not null, code text collate "C" not null, definition text collate "C" not null, snapshot text collate "C" not null references snapshots(id),
	status text collate "C" not null, reason text collate "C" not null, author text collate "C" not null, source text collate "C", created bigint not null,
	unique (agent, number)
);
create index versions_branch on versions (branch, number);

alter table branches add foreign key (active) references versions(id) deferrable initially deferred;

create table branch_events (
	n bigint generated always as identity primary key, id text collate "C" not null unique, branch text collate "C" not null references branches(id) on delete cascade,
	kind text collate "C" not null, version text collate "C" not null, previous text collate "C", author text collate "C" not null, note text collate "C" not null, created bigint not null
);
create index branch_events_branch on branch_events (branch, n);

create table tasks (
	n bigint generated always as identity primary key, id text collate "C" not null unique, name text collate "C" not null unique,
	agent text collate "C" not null references agents(id), version text collate "C" not null references versions(id), launched text collate "C",
	branch text collate "C" not null references branches(id), project text collate "C" references projects(id), filesystem text collate "C" references filesystems(id),
	workspace text collate "C" not null, writable bigint not null, private bigint not null, status text collate "C" not null, reason text collate "C" not null,
	params text collate "C" not null, session text collate "C" not null, progress bigint, progress_line text collate "C" not null, creator text collate "C" not null,
	facts text collate "C" not null, created bigint not null, updated bigint not null
);
create index tasks_agent on tasks (agent, n);
create index tasks_version on tasks (version);
create index tasks_branch on tasks (branch);
create index tasks_filesystem on tasks (filesystem);
create index tasks_project on tasks (project);

create table keys (
	n bigint generated always as identity primary key, id text collate "C" not null unique, name text collate "C" not null, hash bytea not null unique,
	scopes text collate "C" not null, task text collate "C" references tasks(id) on delete cascade, author text collate "C" not null,
	created bigint not null, used bigint not null, expires bigint not null, revoked bigint not null
);
create unique index keys_name on keys (name) where revoked = 0 and task is null;
create index keys_task on keys (task);

create table events (
	n bigint generated always as identity primary key, id text collate "C" not null unique, task text collate "C" not null references tasks(id) on delete cascade,
	content text collate "C" not null, status text collate "C" not null, reason text collate "C" not null, author text collate "C" not null, turn text collate "C" not null,
	created bigint not null, updated bigint not null
);
create index events_task on events (task, n);
create index events_waiting on events (task, n) where status in ('PENDING', 'RUNNING');

create table messages (
	n bigint generated always as identity primary key, id text collate "C" not null unique, task text collate "C" not null references tasks(id) on delete cascade,
	author text collate "C" not null, content text collate "C" not null, event text collate "C", created bigint not null
);
create index messages_task on messages (task, n);

create table states (
	n bigint generated always as identity primary key, id text collate "C" not null unique, task text collate "C" not null references tasks(id) on delete cascade,
	agent text collate "C" not null references agents(id), state text collate "C" not null, created bigint not null, updated bigint not null,
	unique (task, agent)
);

create table stream (
	task text collate "C" not null references tasks(id) on delete cascade, seq bigint not null, type text collate "C" not null, data text collate "C" not null,
	primary key (task, seq)
);

create table logs (
	n bigint generated always as identity primary key, agent text collate "C" not null references agents(id) on delete cascade, version text collate "C", task text collate "C",
	level bigint not null, source text collate "C" not null, text text collate "C" not null, created bigint not null
);
create index logs_agent on logs (agent, n);
create index logs_task on logs (task, n) where task is not null;

create table replies (
	author text collate "C" not null, key text collate "C" not null, digest bytea not null, life text collate "C" not null, status bigint not null,
	header text collate "C" not null, body bytea not null, created bigint not null, primary key (author, key)
);
create index replies_created on replies (created);

create table budgets (
	task text collate "C" primary key references tasks(id) on delete cascade, limits text collate "C" not null, account text collate "C" not null
);

create index tasks_live on tasks (n) where status not in ('CANCELLED', 'FAILED', 'DELETING');
create index branches_environment on branches (agent, environment, n);

create table about (born bigint not null, schema bigint not null, life text collate "C" not null);
insert into about values ((extract(epoch from clock_timestamp()) * 1000)::bigint, 0, '');
`
