// Package audit keeps who did what with the hub: a durable stream of JetStream, AUDIT, with
// a subject for the hub itself and one for each host that tells of its own. Its records hold
// no contents, keys or secrets; what comes from outside is cut and cleaned first.
//
// Host, beside a host, adds what that notes in its own log, line by line as it was written and
// once each; it remembers in a file how far it came. A host is believed to be the one
// whose credential it has, and nothing more.
//
// A Log writes and reads the stream. A record is on the disks of the hub when Note returns,
// or the hub's log has it as an error: what was done is not undone for want of a record. It
// may be used from any goroutine. The oldest records go after a year, or beyond 1 GiB.
package audit
