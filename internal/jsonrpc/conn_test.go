package jsonrpc_test

import (
	"testing"

	"cotty/internal/jsonrpc"
	"cotty/internal/jsonrpc/rpctest"
)

func TestOverPipe(t *testing.T) {
	rpctest.Run(t, func(*testing.T) (a, b jsonrpc.Transport) { return jsonrpc.Pipe(8) })
}
