// Package folders has a task's system folders: its own directories that its sandbox has in the home
// directory, such as .claude, where agents keep settings and memories.
//
// # Files
//
//	DIR/folders.json   the names of the folders
//	   /.claude/       a folder; /.config/opencode/ is one, too
//
// # Archives
//
// In requests a folder is named by its type: dot_claude for .claude. An archive has a folder's files
// under its name. Reading one replaces files that differ as a whole: whenever a process dies, each file
// is the old or the new one. Logins that a sandbox mounts below a folder are neither written nor put
// into an archive.
//
// # Concurrency
//
// Methods may be called from any goroutine. Files are read from an archive before the
// workspace is locked, so that no turn waits for a slow one.
//
// # What it does not do
//
// It knows neither tasks nor access rights, nor which folders an agent should have.
package folders
