// Package workspace keeps the files that tasks work on: it makes workspaces,
// brings files in and out of them, says what was changed, and takes it home.
//
// # Words
//
// A workspace is a task's directory, mounted at /workspace. A filesystem is a tree that
// is stored apart from all tasks (package filetree); a task that is given one works on a
// copy of its own, which is synchronised with it.
//
// # What is where
//
//	STATE/filesystems/                see package filetree
//	STATE/tasks/ID/workspace/         what the task sees (not for ro:, rw:, none)
//	              /workspace.json     how it came to be: written before it is made
//	              /workspace.base     manifest of the last synchronisation, with the files'
//	                                  stamps, and what the next one is about to do
//	              /workspace.git/     git directory that sandboxes see (worktree)
//	              /workspace.modules  which submodules were filled, and with what
//	              /system/            see package folders
//
// A Store owns these and nothing else below STATE. One process has it open,
// which holds the lock of the tasks' records.
//
// # Invariants
//
// Whatever dies at whatever instant, a file is the old or the new one, and a workspace
// that was not made wholly is unmade when it is asked for again. Temporary files are
// outside of workspaces, so that agents and watchers never see halves.
//
// git runs with an environment of its own, without hooks, pagers, prompts, editors,
// fsmonitors or external diffs, with the directories named: never with what a file in
// the workspace says. What a sandboxed agent commits, it commits into a git directory
// of its own; the objects are copied, checked, into the repository.
//
// # Concurrency
//
// Methods may be called from any goroutine. Each workspace has a lock for everything that
// moves its files. A program that writes into the workspace meanwhile is no error: what it
// has half written is taken as it is, and again at the next synchronisation.
//
// # What it does not do
//
// It decides nothing about rights: who may update a filesystem is package access's,
// and read-only workspaces are mounted so by the sandbox. It knows no HTTP and no
// database.
package workspace
