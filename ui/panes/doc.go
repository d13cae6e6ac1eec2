// Package panes is the tabs and panes on the screen: the layout's document, the places of its
// panes, a view for each pane, the subscriptions to their terminals, and the commands that change
// all that. Only the event loop may use it.
//
// The shown document is the newest confirmed one plus the operations that the host has not
// answered yet. One dispatch at a time is unanswered. Operations name panes and terminals instead
// of places, as they may be repeated on another document. The mark, typing into all panes of a
// tab, and switching to another layout concern only this client.
//
// Panes draws nothing and knows no keys. Hooks does what its changes require of others.
package panes
