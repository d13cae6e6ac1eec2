// Package folders keeps a task's system folders: directories of its own that its sandbox has in
// the home directory, such as .claude, which is where agents keep their settings and memories.
//
// # What is where
//
//	DIR/folders.json   the names of those that there are
//	   /.claude/       a folder; /.config/opencode/ is one, too
//
// # Moving
//
// In requests a folder is named by its type: dot_claude is .claude. An archive has a folder's
// files under its name. What comes replaces what differs, by whole files: whatever dies at
// whatever instant, a file is the old or the new one. Logins that a sandbox has mounted below a
// folder stay as they are, and go into no archive.
//
// # Concurrency
//
// Methods may be called from any goroutine. Files come from an archive before the workspace is
// locked, so that a slow one keeps no turn waiting.
//
// # What it does not do
//
// It knows no tasks and no rights, nor which folders an agent is to have.
package folders
