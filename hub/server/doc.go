// Package server is the hub's NATS: a nats-server inside this process with JetStream on
// disk, alone or one of a cluster, or a NATS that is given by URL and credentials.
//
// The embedded one lets nobody in without a credential that this hub signed (NATS's JWT
// of users): what it may publish and subscribe to is in it, made of Grants that each
// package of the hub states for what its hosts do (Invite). A revoked credential is cut off
// at once, on every node of a cluster. The keys are in the file identity.json (0600); a
// further node of a cluster has a copy of it.
//
// A Bus owns the server and the hub's own connection, and closes both. It may be used
// from any goroutine. It knows nothing of what the subjects mean.
package server
