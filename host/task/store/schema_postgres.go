package store

import "strings"

// postgresMigrations returns the migrations for PostgreSQL. The first one has SQLite's first five
// schemas, translated. Text is ordered by bytes, as in SQLite, and referenced tables come first.
func postgresMigrations() []string {
	return []string{strings.NewReplacer(
		"active text references versions(id) deferrable initially deferred", `active text collate "C"`,
		"scopes text not null, task text references tasks(id) on delete cascade", `scopes text collate "C" not null, task text collate "C"`,
		" text not null", ` text collate "C" not null`, " text primary key", ` text collate "C" primary key`,
		" text references", ` text collate "C" references`, " text,", ` text collate "C",`, " text;", ` text collate "C";`,
		" integer primary key autoincrement", " bigint generated always as identity primary key", " integer", " bigint", " blob", " bytea",
		" strict, without rowid", "", " strict", "",
	).Replace(schema1+schema2+schema4+schema5) + `
alter table branches add foreign key (active) references versions(id) deferrable initially deferred;
alter table keys add foreign key (task) references tasks(id) on delete cascade;
create table about (born bigint not null, schema bigint not null, life text collate "C" not null);
insert into about values ((extract(epoch from clock_timestamp()) * 1000)::bigint, 0, '');
`}
}
