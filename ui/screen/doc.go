// Package screen draws panes and what is around them: dividers, headers, the marks of commands,
// floating panes. Only the event loop may use it. It has no state: ui/panes and ui/agents decide
// what is drawn, and views know what has changed in them.
package screen
