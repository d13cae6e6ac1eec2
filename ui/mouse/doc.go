// Package mouse is what the mouse does: a press goes to what lies under it and holds on
// to that until the release (a border, a floating pane's frame, text, a scroll bar, a
// tab, a program), a motion without a button shows what could be done there. It belongs to
// the event loop.
//
// Programs get what they asked for before anything is selected, but for shift, copy
// mode and the history. Borders, panes and chats move and select by themselves; this
// package says which of them is meant.
package mouse
