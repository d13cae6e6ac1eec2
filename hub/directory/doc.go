// Package directory knows which hosts a fleet has, what they are, and which of them are here.
//
// It keeps three buckets in NATS's key-value store. tandemux_hosts has each host's Host under its
// name, written when it changes. tandemux_presence has each host's beat, in memory and with a time to
// live. tandemux_invites has who was given a credential, and the labels that it grants. A host may
// write its own two keys and nothing else (Grant). It sends a beat every BeatTime, and counts as away
// once it has sent none for AwayTime, or at once when it says so. Two hosts of one name hear each
// other's beats, and the one that came later ends.
//
// Directory is the hub's side: it follows the buckets and answers from memory, so that a query costs
// NATS nothing. Announcer is the host's side. What hosts write is bounded and cleaned before anybody
// sees it. Terminals and sessions are listed by reference: their address, a title, and who holds them;
// their bytes are never stored.
package directory
