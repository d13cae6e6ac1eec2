package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// A client of a protocol before 2026-07-28 cancels a call over HTTP by a request of its own
// (notifications/cancelled), or by hanging up. The SDK heeds neither where it keeps no
// sessions, so it is done here. Mcp-Session-Id tells the clients of one token apart, whose
// requests have the same ids; it stands for nothing else and is never too old.

const sessionHeader = "Mcp-Session-Id"

// pending are the requests under way of one principal, by session and id.
type pending struct {
	mu    sync.Mutex
	calls map[string]context.CancelFunc
}

// endsWith is the key of the context of a call's HTTP request.
type endsWith struct{}

// serve has next answer a request that can be cancelled.
func (p *pending) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return // It has gone.
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var is struct {
		ID     json.RawMessage
		Method string
		Params struct{ RequestID json.RawMessage }
	}
	json.Unmarshal(body, &is) //nolint:errcheck // whoever it is for says what is wrong with it
	session := r.Header.Get(sessionHeader) + " "
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	p.mu.Lock()
	switch end := p.calls[session+string(is.Params.RequestID)]; {
	case is.Method == "initialize":
		w.Header().Set(sessionHeader, rand.Text())
	case is.Method == "notifications/cancelled" && end != nil:
		end()
	case is.Method == "tools/call":
		key := session + string(is.ID)
		p.calls[key] = cancel
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.calls, key)
		}()
	}
	p.mu.Unlock()
	next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, endsWith{}, ctx)))
}

// heed is the context of a call, which ends with its HTTP request too.
func heed(ctx context.Context) (context.Context, context.CancelFunc) {
	request, ok := ctx.Value(endsWith{}).(context.Context)
	ctx, cancel := context.WithCancel(ctx)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(request, cancel)
	return ctx, func() { stop(); cancel() }
}
