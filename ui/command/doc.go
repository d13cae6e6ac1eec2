// Package command is the table of everything a person can do in the interface:
// names (stable: configuration and presets use them), titles, groups, help,
// arguments and the reason why a command can't run now. It is data: the root
// model binds an action to each name, keys come from keymap.
//
// Commands that nothing can run yet are not in the table.
package command
