// Package workspace has the files that tasks work on: it makes workspaces, copies files in and out of
// them, says what was changed, and merges that.
//
// # Terms
//
// A workspace is a task's directory, mounted at /workspace. A filesystem is a tree of files that is
// stored apart from tasks (package filetree); a task with one works on its own copy, which is
// synchronised with it.
//
// # Files
//
//	STATE/filesystems/                see package filetree
//	STATE/tasks/ID/workspace/         what the task sees (not for ro:, rw:, none)
//	              /workspace.json     the record: written before it is made
//	              /workspace.base     manifest of the last synchronisation, with the files'
//	                                  stamps, and what the next one is about to do
//	              /workspace.git/     git directory that sandboxes see (worktree)
//	              /workspace.modules  which submodules were filled, and with what
//	              /system/            see package folders
//
// A Store owns these and nothing else below STATE. Only the process that holds the lock of the tasks'
// records has it open.
//
// # Invariants
//
// Whenever a process dies, each file is the old or the new one, and an incomplete workspace is removed
// when it is used again. Temporary files are outside of workspaces, so agents and watchers never see
// incomplete files.
//
// git runs with its own environment, without hooks, pagers, prompts, editors, fsmonitors or external
// diffs, and with explicit directories: no file in the workspace configures it. A sandboxed agent
// commits into its own git directory, whose objects are checked and copied into the repository.
//
// # Concurrency
//
// Methods may be called from any goroutine. Each workspace has a lock for everything that changes its
// files. Programs may write into the workspace meanwhile: an incomplete file is copied as it is, and
// again at the next synchronisation.
//
// # What it does not do
//
// It does not check access: package access decides who may update a filesystem, and the sandbox mounts
// read-only workspaces. It knows no HTTP and no database.
package workspace
