// Package alerts tells a person what waits for them in terminals and chats that they
// don't look at: by marks in tabs and lists, by the status line, and by notifications
// of the outer terminal. It belongs to the event loop.
//
// What there is to tell comes by the host's activity channel, so that terminals that
// are not followed tell too, and from chats (ui/agents); package attention decides what
// it is. The host is told what the person has seen.
package alerts
