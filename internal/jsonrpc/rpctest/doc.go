// Package rpctest holds what any jsonrpc.Transport must pass, as programs that
// run over a pair of connected transports. It is for tests alone.
package rpctest
