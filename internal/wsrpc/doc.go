// Package wsrpc carries JSON-RPC messages over WebSockets, on unix sockets and
// TCP alike: one message is one uncompressed text frame.
//
// It is the only importer of the WebSocket library. Accept upgrades an HTTP
// request that the caller has already authorised; Dial connects. Both give a
// jsonrpc.Transport whose messages are bounded in size, whose writes take one
// system call each, and fewer when several follow one another (WriteMore), and
// whose Close waits for the peer only briefly.
//
// A host finds out how far a client has read by pings among its messages, whose answers
// are read where they lie among the client's (Options.Pings).
//
// A host is known by its certificate: the one pinned by the caller, or one that
// the machine trusts (dial.go).
//
// It does not authenticate itself, retry or know JSON-RPC.
package wsrpc
