// Package push tells browsers that something waits while their page is closed: by Web Push
// (RFC 8030), encrypted for the page (RFC 8291), in the name of a key of the host's (VAPID,
// RFC 8292).
//
// A Pusher owns the subscriptions, each of a token's, with the key in push.json of the state
// directory (0600); and one goroutine that sends, one message after the other. A message is
// one of a few fixed texts: no command, no output, no name of a terminal leaves the host.
// Subscriptions go with their token, and when the push service knows them no more.
//
// Where a message is sent to is a browser's word. It is https, at a public address, which is
// looked at when it is dialled, without proxy and redirects; size, time, attempts and the
// number of subscriptions are bounded. Logs have the service's host name, no path.
//
// What waits when the host ends is not kept. A Pusher's methods may be called from any
// goroutine; none waits for the network.
package push
