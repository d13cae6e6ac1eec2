// Package command is the table of all commands of the interface: their names (which never change:
// configuration and presets use them), titles, groups, help, arguments, and why a command can't
// run now. The root model binds an action to each name, keys come from keymap; the palette, the
// help, the hint after the prefix key and docs/keys.md are made of both.
//
// The table never changes; all functions are pure and may be called from any goroutine. It has
// only commands that can be run.
package command
