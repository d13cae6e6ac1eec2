package host_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/internal/wsrpc"
)

// upgrade sends a WebSocket handshake, byte for byte, and gives the status.
func upgrade(t *testing.T, network, addr, target, hostHeader string, headers ...string) int {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var key [16]byte
	rand.Read(key[:])
	var b strings.Builder
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n",
		target, hostHeader, base64.StdEncoding.EncodeToString(key[:]))
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n")
	if _, err := io.WriteString(c, b.String()); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}

// TestFront checks what gets through the TCP front: token, Host, Origin, paths
// (docs/contributing/decisions.md §37).
func TestFront(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		c.Origins = []string{"https://ok.example"}
		c.Hosts = []string{"box.example"}
	})
	token := w.token()
	secret := token.Token
	addr := w.tcp.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	bearer := "Authorization: Bearer " + secret
	for _, c := range []struct {
		name, target, host string
		headers            []string
		want               int
	}{
		{"bearer", "/", addr, []string{bearer}, 101},
		{"bearer, any case", "/", addr, []string{"authorization: bearer " + secret}, 101},
		{"query", "/?tkn=" + secret, addr, nil, 101},
		{"query on /ahp", "/ahp?a=b&tkn=" + secret, addr, nil, 101},
		{"subprotocols offered", "/ahp", addr, []string{bearer, "Sec-WebSocket-Protocol: a, b"}, 101},
		{"localhost", "/", "localhost:" + port, []string{bearer}, 101},
		{"loopback by v6", "/", "[::1]:" + port, []string{bearer}, 101},
		{"no port", "/", "127.0.0.1", []string{bearer}, 101},
		{"allowed origin", "/", addr, []string{bearer, "Origin: https://ok.example"}, 101},

		{"no token", "/", addr, nil, 401},
		{"empty token", "/?tkn=", addr, nil, 401},
		{"wrong token", "/?tkn=" + secret[:len(secret)-1] + "x", addr, nil, 401},
		{"its hash", "/?tkn=" + token.ID, addr, nil, 401},
		{"wrong bearer beats query", "/?tkn=" + secret, addr, []string{"Authorization: Bearer wrong"}, 401},
		{"basic", "/", addr, []string{"Authorization: Basic " + secret}, 401},
		{"foreign origin", "/", addr, []string{bearer, "Origin: https://evil.example"}, 403},
		{"own address as origin", "/", addr, []string{bearer, "Origin: http://" + addr}, 403},
		{"null origin", "/", addr, []string{bearer, "Origin: null"}, 403},
		{"two origins", "/", addr, []string{bearer, "Origin: https://ok.example", "Origin: https://evil.example"}, 403},
		{"rebound name", "/", "evil.example:" + port, []string{bearer}, 403},
		{"other port", "/", "127.0.0.1:1", []string{bearer}, 403},
		{"other address", "/", "192.0.2.1:" + port, []string{bearer}, 403},
		{"unknown path", "/etc/passwd", addr, []string{bearer}, 404},
		{"unknown path, no token", "/etc/passwd", addr, nil, 401},
		{"body", "/", addr, []string{bearer, "Content-Length: 5"}, 400},
		{"chunked body", "/", addr, []string{bearer, "Transfer-Encoding: chunked"}, 400},
		{"allowed host", "/", "box.example:" + port, []string{bearer}, 101},
		{"part of an allowed host", "/", "example:" + port, []string{bearer}, 403},
	} {
		if got := upgrade(t, "tcp", addr, c.target, c.host, c.headers...); got != c.want {
			t.Errorf("%s: status %d, want %d", c.name, got, c.want)
		}
	}
	if got := upgrade(t, "unix", w.sock.Path(), "/", "tandemux"); got != 101 {
		t.Errorf("unix socket: status %d", got)
	}
	if got := upgrade(t, "unix", w.sock.Path(), "/", "tandemux", "Origin: https://evil.example"); got != 403 {
		t.Errorf("unix socket with an origin: status %d", got)
	}
	r, err := http.Get("http://" + addr + "/?tkn=" + secret)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("plain GET: status %d", r.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
	if log := w.log.String(); strings.Contains(log, secret) || strings.Contains(log, secret[:len(secret)-1]) || strings.Contains(log, "tkn") {
		t.Errorf("the log holds a token or a query:\n%s", log)
	}
	audit, err := os.ReadFile(filepath.Join(w.dir, "state", "audit.log"))
	if err != nil || strings.Contains(string(audit), secret) || !strings.Contains(string(audit), token.ID) {
		t.Errorf("audit log (%v):\n%s", err, audit)
	}
}

// TestRevoke: a revoked token's connections end at once, and it opens no new
// ones (docs/contributing/decisions.md §37).
func TestRevoke(t *testing.T) {
	t.Parallel()
	w := start(t)
	token := w.token()
	other := w.token()
	p := w.connectTCP("p", token.Token)
	p.initialize()
	q := w.connectTCP("q", other.Token)
	q.initialize()
	var list ahp.TokenListResult
	w.admin.must(ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &list)
	if len(list.Items) != 2 || list.Items[0].ID != token.ID || list.Items[0].LastUsed == 0 || len(list.Items[0].Scopes) != 7 {
		t.Errorf("tokens %+v", list.Items)
	}
	if err := w.admin.call(ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: "none"}, nil); ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("revoking an unknown token: %v", err)
	}
	w.admin.must(ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: token.ID}, nil)
	if raw, _, err := p.next(); !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("after the revocation: %s, %v", raw, err)
	}
	if got := upgrade(t, "tcp", w.tcp.Addr().String(), "/?tkn="+token.Token, w.tcp.Addr().String()); got != 401 {
		t.Errorf("status %d", got)
	}
	// One revoking itself gets its answer first.
	q.must(ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: other.ID}, nil)
	if raw, _, err := q.next(); !errors.Is(err, errEnded) {
		t.Errorf("after its own revocation: %s, %v", raw, err)
	}
}

// TestBounds: each bound is met with a clear error, and what runs goes on
// (docs/security.md).
func TestBounds(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		c.Limits = host.Limits{Connections: 3, Layouts: 3, FrameBytes: 64 << 10, Clients: 4}
		c.Limits.Terminals, c.Limits.Subscriptions = 2, 2
	})
	p := w.connect("p")
	p.initialize()

	// Subscriptions per connection; layouts that hold nothing make room.
	p.subscribe("x-tandemux-layout:/1")
	p.subscribe("x-tandemux-layout:/2")
	if err := p.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: "x-tandemux-layout:/3"}, nil); ahp.CodeOf(err) != ahp.CodeConflict {
		t.Errorf("a subscription too many: %v", err)
	}
	p.subscribe("x-tandemux-layout:/1") // again is not one more
	for i := range 10 {
		p.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodUnsubscribe, "params": ahp.SubscribeParams{Channel: "x-tandemux-layout:/2"}})
		p.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodUnsubscribe, "params": ahp.SubscribeParams{Channel: fmt.Sprintf("x-tandemux-layout:/l%d", i-1)}})
		p.subscribe(fmt.Sprintf("x-tandemux-layout:/l%d", i))
	}

	// Terminals.
	create := func(uri string) error {
		return p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"}, Meta: &ahp.CreateMeta{Command: []string{"cat"}},
		}, nil)
	}
	for _, uri := range []string{"ahp-terminal:/1", "ahp-terminal:/2"} {
		if err := create(uri); err != nil {
			t.Fatal(err)
		}
	}
	if err := create("ahp-terminal:/3"); ahp.CodeOf(err) != ahp.CodeConflict {
		t.Errorf("a terminal too many: %v", err)
	}
	p.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/1"}, nil)
	if err := create("ahp-terminal:/3"); err != nil {
		t.Errorf("after one was disposed of: %v", err)
	}

	// Connections.
	q := w.connect("q")
	q.initialize()
	r := w.connect("r")
	r.initialize()
	if got := upgrade(t, "unix", w.sock.Path(), "/", "tandemux"); got != http.StatusServiceUnavailable {
		t.Errorf("a connection too many: status %d", got)
	}
	r.hangUp()
	// The others are not harmed, and a place is free again.
	w.until("a place is free", func() bool { return upgrade(t, "unix", w.sock.Path(), "/", "tandemux") == 101 })

	// Clients remembered: the longest gone is forgotten, not one connected.
	for i := range 10 {
		var one *peer
		w.until("a place is free", func() bool {
			var err error
			one, err = w.try(fmt.Sprintf("client-%d", i), wsrpc.Target{URL: "unix://" + w.sock.Path()})
			return err == nil
		})
		one.initialize()
		one.hangUp()
	}
	p.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)

	// A frame too large ends its connection only.
	// The host may hang up before all of it is sent.
	q.tr.Write(context.Background(), []byte(`{"jsonrpc":"2.0","id":99,"method":"ping","params":{"channel":"`+strings.Repeat("x", 65<<10)+`"}}`))
	if raw, _, err := q.next(); !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "1009") && !strings.Contains(err.Error(), "TooBig") {
		t.Errorf("after a frame too large: %s, %v", raw, err)
	}
	p.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	// Depth too.
	p.sendRaw(`{"jsonrpc":"2.0","id":7777,"method":"ping","params":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`)
	if _, m, err := p.next(); err != nil || m.Error == nil {
		t.Errorf("after a message too deep: %+v, %v", m, err)
	}
	p.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
}
