package mcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is a client on two streams, a message a line. The SDK ends a connection at a line
// that is no message; here it is answered, and the next one counts.
func stdio(in io.Reader, out io.WriteCloser) mcp.Transport {
	messages, to := io.Pipe()
	go func() { to.CloseWithError(pass(bufio.NewReader(in), to, out)) }()
	return &mcp.IOTransport{Reader: messages, Writer: out}
}

// pass copies the lines that are messages, and answers the others.
func pass(in *bufio.Reader, to, out io.Writer) error {
	for {
		line, err := readLine(in)
		if len(line) == 0 && err == nil {
			continue
		}
		if len(line) > 0 {
			if _, bad := jsonrpc.DecodeMessage(line); bad != nil {
				slog.Warn("a line of the client's is no message", "err", bad)
				if _, err := io.WriteString(out, complaint(line)+"\n"); err != nil {
					return err
				}
			} else if _, err := to.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine is the next line; of one that is too long, a part that is no message.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= mcp.DefaultMaxLineLength {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if n := len(line); n > 0 && line[n-1] == '\n' {
				line = line[:n-1]
			}
			return line[:min(len(line), mcp.DefaultMaxLineLength)], err
		}
	}
}

// complaint is JSON-RPC's answer to what is no message.
func complaint(line []byte) string {
	if json.Valid(line) {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no JSON-RPC message: send one in each"}}`
	}
	return `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON, or too long"}}`
}
