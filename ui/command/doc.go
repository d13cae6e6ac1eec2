// Package command is the table of everything a person can do in the interface:
// names (stable: configuration and presets use them), titles, groups, help,
// arguments, and the reason why a command can't run now. It is data: the root
// model binds an action to each name, keys come from keymap, and the palette,
// the help, the hint after the prefix and docs/keys.md are made from both.
//
// The table is fixed at start and never changes; all functions are pure and may
// be called from any goroutine. Commands that nothing can run yet are not in
// it: a row that does nothing is worse than none.
package command
