package jsonrpc_test

import (
	"testing"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/jsonrpc/rpctest"
)

func TestOverPipe(t *testing.T) {
	rpctest.Run(t, func(*testing.T) (a, b jsonrpc.Transport) { return jsonrpc.Pipe(8) })
}
