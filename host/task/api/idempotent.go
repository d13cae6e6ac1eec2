package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"tandemux/host/task/store"
)

// idempotencyParam names a request, so that it is done once however often it is
// sent (U66).
var idempotencyParam = Param{Name: "Idempotency-Key", Header: true, Doc: "The same request under the same key is done once, and answered again with what it was answered; another request is a conflict"}

// maxKey bounds an idempotency key, in bytes.
const maxKey = 255

// idempotent makes a handler that creates something do so once for each key.
func idempotent(handle func(*Request) (any, error)) func(*Request) (any, error) {
	return func(r *Request) (any, error) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			return handle(r)
		}
		if len(key) > maxKey {
			return nil, Errorf(http.StatusUnprocessableEntity, "Idempotency-Key has %d bytes, more than %d", len(key), maxKey)
		}
		body, err := io.ReadAll(r.Stream())
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		digest := sha256.Sum256(append([]byte(r.Method+" "+r.URL.RequestURI()+"\n"), body...))
		ctx := r.Context()
		was, err := r.Tasks.Store.Reserve(ctx, r.Who.String(), key, digest)
		if err != nil {
			return nil, err
		}
		if was != nil {
			return Answer{Status: was.Status, Header: map[string]string{"Idempotency-Replayed": "true"}, Body: json.RawMessage(was.Body)}, nil
		}
		result, err := handle(r)
		if err == nil {
			var text []byte
			if text, err = json.Marshal(result); err == nil {
				err = r.Tasks.Store.Settle(ctx, r.Who.String(), key, store.Reply{Status: r.route.status(), Body: text})
			}
			if !errors.Is(err, store.ErrTooLarge) { // else it can't be answered again
				return result, err
			}
			return result, r.Tasks.Store.Abandon(ctx, r.Who.String(), key)
		}
		if forget := r.Tasks.Store.Abandon(ctx, r.Who.String(), key); forget != nil {
			return nil, forget
		}
		return nil, err
	}
}
