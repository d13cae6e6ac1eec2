// Package alerts tells a person what waits in terminals and chats that they don't see: by marks
// in tabs and lists, in the status line, and by notifications of the outer terminal. Only the
// event loop may use it.
//
// Alerts come from the hosts' activity channels, so also from terminals without a subscription,
// and from chats (ui/agents). Package attention decides what is an alert. The host is told what
// the person has seen.
package alerts
