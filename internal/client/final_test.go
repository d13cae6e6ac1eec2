package client

import (
	"errors"
	"fmt"
	"testing"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// TestFinal: what trying again can mend, and what is for people to look at.
func TestFinal(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{errors.New("connection refused"), false},
		{&jsonrpc.CloseError{Code: 1013}, false},
		{&jsonrpc.CloseError{Code: jsonrpc.ClosePolicy, Reason: "the token has expired"}, true},
		{&wsrpc.StatusError{Code: 403}, true},
		{&wsrpc.StatusError{Code: 429}, false},
		{&wsrpc.StatusError{Code: 503}, false},
		{&wsrpc.FingerprintError{}, true},
		{&wsrpc.UntrustedError{Err: errors.New("unknown authority")}, true},
	} {
		if got := final(fmt.Errorf("dial host: %w", c.err)); got != c.want {
			t.Errorf("%v: final %v", c.err, got)
		}
	}
}
