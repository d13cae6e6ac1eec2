// Package token is the tokens of a hub: what people and programs say who they are with,
// where no identity provider does it for them.
//
// They are kept in a bucket of NATS's key-value store, by the SHA-256 of their secret of 256
// bits, so that each node of a cluster knows them, and each learns at once of one that is
// revoked: the requests that it has are ended. The secret is told once. A Store answers from
// memory; its methods may be called from any goroutine.
package token
