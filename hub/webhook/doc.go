// Package webhook tells addresses what the fleet's tasks do: a POST for each message of
// the stream of parts, signed as Standard Webhooks say, as host/hooks has it.
//
// A webhook is a record in the bucket tandemux_webhooks, with its secret, and a durable
// consumer of the stream, which JetStream keeps: its place is stored where the parts are,
// and nothing waits in memory. All nodes of a hub pull from the consumer, which has one
// message out at a time: so one node at a time delivers, in the order of the stream, and the
// next goes on where one died. A message counts as delivered once its address has answered;
// what is sent again after that got lost, as some of the last is where a hub was killed, has the
// id that it had.
//
// An address that does not answer is tried again by itself, ever more seldom, and holds up
// nobody else. What an address refuses is left out, as another attempt would not change
// that.
//
// Who is at the hub's own socket names any address. Others, who have the scope admin, name
// public ones by https: what they lead to is checked when it is dialled.
//
// Hooks may be used from any goroutine. It owns one for each webhook, which ends
// with Open's context. No list, error or line of the log has a secret, or an address beyond
// its machine's name: paths hold secrets, too.
package webhook
