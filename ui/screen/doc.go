// Package screen draws panes and what frames them: dividers, headers, the marks of
// commands, floating panes above the others. It belongs to the event loop and has no
// state: what is drawn follows from ui/panes and ui/agents, and views know themselves
// what has changed in them.
package screen
