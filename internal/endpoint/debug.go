package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"tandemux/internal/cli"
	"tandemux/internal/jsonrpc"
)

// debugf says what is asked and answered (U101): never what is in it, which may be secret,
// nor a token.
func debugf(format string, args ...any) {
	fmt.Fprintln(os.Stderr, "tandemux: "+cli.Line(fmt.Sprintf(format, args...)))
}

// traced is a connection of which is said what is asked and answered.
type traced struct {
	jsonrpc.Transport

	mu    sync.Mutex // Protects following.
	asked map[string]asked
}

type asked struct {
	method string
	at     time.Time
}

// header is what is looked at of a message.
type header struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Write implements jsonrpc.Transport.
func (t *traced) Write(ctx context.Context, msg []byte) error {
	var h header
	if json.Unmarshal(msg, &h) == nil && h.Method != "" {
		t.mu.Lock()
		if len(h.ID) > 0 {
			t.asked[string(h.ID)] = asked{h.Method, time.Now()}
		}
		t.mu.Unlock()
		debugf("→ %s, %d bytes", h.Method, len(msg))
	}
	return t.Transport.Write(ctx, msg)
}

// Read implements jsonrpc.Transport.
func (t *traced) Read(ctx context.Context) ([]byte, error) {
	msg, err := t.Transport.Read(ctx)
	var h header
	switch {
	case err != nil:
		debugf("← the connection ended: %v", err)
	case json.Unmarshal(msg, &h) != nil:
	case h.Method != "":
		debugf("← %s, %d bytes", h.Method, len(msg))
	default:
		t.mu.Lock()
		was := t.asked[string(h.ID)]
		delete(t.asked, string(h.ID))
		t.mu.Unlock()
		took := time.Since(was.at).Round(time.Millisecond)
		if h.Error != nil {
			debugf("← %s: error %d: %s, %v", was.method, h.Error.Code, h.Error.Message, took)
		} else {
			debugf("← %s: %d bytes, %v", was.method, len(msg), took)
		}
	}
	return msg, err
}

// trace has a way to the host say what goes along it.
func trace(dial func(context.Context) (jsonrpc.Transport, error)) func(context.Context) (jsonrpc.Transport, error) {
	return func(ctx context.Context) (jsonrpc.Transport, error) {
		t, err := dial(ctx)
		if err != nil {
			debugf("the host can't be reached: %v", err)
			return nil, err
		}
		debugf("connected")
		return &traced{Transport: t, asked: map[string]asked{}}, nil
	}
}
