// Package store keeps the records of tasks and all that belongs to them in one
// database, SQLite's file tasks.db in the state directory or PostgreSQL's: projects, filesystems,
// agents, versions, branches, environments with their variables, API keys, tasks,
// events, messages, states, logs, streams and answers to be replayed.
// It is the only importer of modernc.org/sqlite.
//
// # What it promises
//
// Each method is one transaction: after a kill -9 at any instant it has happened
// as a whole or not at all, and what a method has returned stays. Deploys, keys
// and variables are on the disk when their method returns, also if the machine
// loses power then; the rest is as safe as the system's page cache.
//
// The database, its lock and the key that values are sealed with are 0600 in a
// 0700 directory. A damaged database is moved aside with its companions, never
// emptied, and Notice says so; one that a newer program made is refused. One
// process has it open (flock); others are refused with a sentence.
//
// # PostgreSQL
//
// What differs is an engine: how it is opened, its schema, what readies a connection. All
// statements are the same for both, and so are the tests (backend_test.go). A transaction
// is as safe there as the server's synchronous_commit makes it. One host has it open: its
// writing connection holds an advisory lock, and once another host has written this one
// is refused (about.life). A lost connection is Away; the next call dials anew, and what
// is known of streams' ends is read again, as the last commit may have been made. Nothing
// is repeated by itself. Values stay sealed with the host's key.
//
// # Records
//
// A record is a struct whose tags are its columns (db) and its JSON, in snake_case, of
// the HTTP interface; a Table finds, lists, makes, changes and removes those of one
// kind. What is more than that is a method of Store.
// They have an id with a prefix of its kind (prj_, fs_, agt_, br_, ver_, key_,
// tsk_, evt_, msg_, st_); agents, projects, keys and tasks may be named by id, by
// name or by the unique beginning of an id. Lists are pages with a cursor.
// Versions and snapshots never change. Values of variables are sealed
// (AES-256-GCM); keys are stored as SHA-256.
//
// # Bounds
//
// JSON documents, streams, logs and answers have bounds (MaxSource and those beside it); of streams
// and logs the oldest go first, which readers are told.
//
// # A full disk
//
// Behind the end of SQLite's log lie up to 4 MiB that belong to it and count for nothing
// (fallocate), and as much in tasks.spare, which is given up where the database is opened on
// a full disk. What ends a task, a turn or a record may use them; all else is refused with
// Full while they can't be laid again, before SQLite is asked. So a disk that anybody
// filled up leaves room for cancelling and deleting, which nobody else can take. Where the
// file system or the system has no such thing (not Linux) there is no reserve.
//
// # Concurrency
//
// Every method may be called from any goroutine. One connection writes, a few
// read; readers see the last transaction that was committed and are never held up
// by a writer.
//
// # What it doesn't do
//
// It asks nobody's rights and knows no policy beyond what must be one
// transaction: package registry and package task do.
package store
