// Package store has the records of tasks and all that belongs to them in one database: the SQLite file
// tasks.db in the state directory, or a PostgreSQL database. Records are projects, filesystems,
// agents, versions, branches, environments with their variables, API keys, tasks, events, messages,
// states, logs, streams and answers to be replayed. Only this package imports modernc.org/sqlite.
//
// # Guarantees
//
// Each method is one transaction: after a kill -9 at any time it has happened as a whole or not at
// all, and what a method that has returned did is kept. Deploys, keys and variables are on the disk
// when their method returns, and so survive a power failure; the rest is as safe as the system's page
// cache.
//
// The database, its lock and the key that values are encrypted with have the mode 0600 in a 0700
// directory. A damaged database is renamed with its companion files, never emptied, and Notice says
// so. A database that a newer program made is refused. One process has it open (flock); others get an
// error.
//
// # PostgreSQL
//
// What differs is an engine: how a database is opened, its schema, and how a connection is prepared.
// All statements and tests are the same for both (backend_test.go). A transaction is as safe as the
// server's synchronous_commit makes it. One host has the database open: its writing connection holds
// an advisory lock, and once another host has written, this one is refused (about.life). A lost
// connection is the error Away; the next call connects again and reads the ends of streams again,
// because the last commit may have happened. Nothing is repeated automatically. Values are encrypted
// with the host's key here, too.
//
// # Records
//
// A record is a struct whose tags are its columns (db) and its JSON member names, in snake_case, in
// the HTTP interface. A Table finds, lists, creates, changes and deletes the records of one kind;
// other operations are methods of Store. Records have an id with a prefix of its kind (prj_, fs_,
// agt_, br_, ver_, key_, tsk_, evt_, msg_, st_). Agents, projects, keys and tasks may be named by id,
// by name or by the unique beginning of an id. Lists are pages with a cursor. Versions and snapshots
// never change. Values of variables are encrypted (AES-256-GCM); keys are stored as SHA-256.
//
// # Bounds
//
// JSON documents, streams, logs and answers are bounded (MaxSource and the constants beside it). Of
// streams and logs the oldest entries are deleted, which readers are told.
//
// # A full disk
//
// Up to 4 MiB are allocated behind the end of SQLite's log without being part of the file's size
// (fallocate), and as much in tasks.spare, which is deleted if the database is opened on a full disk.
// Only what ends a task, a turn or a record may use this reserve. Everything else is refused with
// Full, before SQLite is asked, while the reserve can't be allocated again. So cancelling and deleting
// work on a disk that something else has filled. Where the file system or the operating system (other
// than Linux) can't do that there is no reserve.
//
// # Concurrency
//
// Every method may be called from any goroutine. One connection writes, a few read. Readers see the
// last committed transaction and never wait for a writer.
//
// # What it doesn't do
//
// It does not check rights and has no rules beyond those that must be part of a transaction: packages
// registry and task have them.
package store
