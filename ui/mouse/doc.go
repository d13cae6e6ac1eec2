// Package mouse handles the mouse. A press goes to what is under it, which the mouse then holds
// until the release: a border, a floating pane's frame, text, a scroll bar, a tab or a program. A
// motion without a button shows links and the scroll bar. Only the event loop may use it.
//
// Programs that follow the mouse get its events instead of a selection, except with shift, in
// copy mode and in the history. Panes and chats select by themselves; this package decides which
// of them is meant.
package mouse
