package wsrpc_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

func TestCheckFingerprint(t *testing.T) {
	digits := strings.Repeat("0aF9", 16)
	colons := strings.TrimSuffix(strings.Repeat("0a:F9:", 16), ":")
	want := "sha256:" + strings.ToLower(digits)
	for _, s := range []string{"sha256:" + digits, "SHA256:" + digits, "sha256:" + colons} {
		if got, err := wsrpc.CheckFingerprint(s); got != want || err != nil {
			t.Errorf("%s: %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "sha256:", digits, "md5:" + digits, "sha256:" + digits + "00", "sha256:" + digits[2:], "sha256:x" + digits[1:]} {
		if got, err := wsrpc.CheckFingerprint(s); err == nil {
			t.Errorf("%q was taken as %q", s, got)
		}
	}
}

// TestUntrusted: the token goes to nobody whose certificate was not accepted.
func TestUntrusted(t *testing.T) {
	asked := false
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = true
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer s.Close()
	dial := func(pin string) error {
		_, err := wsrpc.Dial(context.Background(), wsrpc.Target{
			URL: "wss" + strings.TrimPrefix(s.URL, "https"), Token: "secret", Fingerprint: pin,
		})
		return err
	}
	var unknown *wsrpc.UntrustedError
	if err := dial(""); !errors.As(err, &unknown) || asked {
		t.Fatalf("without a pin: %v, asked %v", err, asked)
	}
	var other *wsrpc.FingerprintError
	if err := dial("sha256:" + strings.Repeat("0", 64)); !errors.As(err, &other) || other.Got != unknown.Fingerprint || asked {
		t.Fatalf("with another pin: %v, asked %v", err, asked)
	}
	var status *wsrpc.StatusError
	if err := dial(unknown.Fingerprint); !errors.As(err, &status) || !asked {
		t.Errorf("with the right pin: %v, asked %v", err, asked)
	}
}

// TestDialOver: a WebSocket over a connection of the caller's making.
func TestDialOver(t *testing.T) {
	want := errors.New("no way there")
	_, err := wsrpc.Dial(context.Background(), wsrpc.Target{
		URL: "ws://localhost/", Dial: func(context.Context) (net.Conn, error) { return nil, want },
	})
	if !errors.Is(err, want) {
		t.Errorf("%v", err)
	}
}

// TestOverTLS: requests and answers of all sizes, as the peer writes them.
func TestOverTLS(t *testing.T) {
	handler := jsonrpc.Handler(func(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
		return len(req.Params), nil
	})
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tr, err := wsrpc.Accept(w, r, wsrpc.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		jsonrpc.New(tr, handler, jsonrpc.Options{}).Run(context.Background()) //nolint:errcheck // the client hangs up
	}))
	defer s.Close()
	target := wsrpc.Target{URL: "wss" + strings.TrimPrefix(s.URL, "https")}
	_, err := wsrpc.Dial(context.Background(), target)
	var unknown *wsrpc.UntrustedError
	if !errors.As(err, &unknown) {
		t.Fatal(err)
	}
	target.Fingerprint = unknown.Fingerprint
	tr, err := wsrpc.Dial(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonrpc.New(tr, handler, jsonrpc.Options{})
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	for _, size := range []int{0, 100, 1000, 100_000, 1 << 20} {
		var got int
		if err := c.Call(t.Context(), "length", map[string]string{"x": strings.Repeat("x", size)}, &got); err != nil || got != size+len(`{"x":""}`) {
			t.Fatalf("%d bytes: %d, %v", size, got, err)
		}
	}
	c.Close(1000, "")
	<-ended
}
