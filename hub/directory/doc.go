// Package directory is which hosts a fleet has, what they are, and which are here.
//
// Three buckets of NATS's key-value store: tandemux_hosts has a Host by its name, written
// when it changes; tandemux_presence a beat of each host, kept in memory with a time to live;
// tandemux_invites who was given a credential, with the labels that it may have. A host
// writes its own two keys and nothing else (Grant): it beats every BeatTime, and is away
// once it has not for AwayTime, or at once when it says so. Of two hosts
// of one name each hears the other's beats, and the one that came later goes.
//
// Directory is the hub's side: it watches the buckets and answers from memory, so that
// asking costs NATS nothing. Announcer is a host's. What hosts write is bounded and cleaned
// before anybody sees it. Terminals and sessions are there by reference: their address, a
// title, and who holds them; their bytes are never stored.
package directory
