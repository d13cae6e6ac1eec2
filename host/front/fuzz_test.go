package front

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/internal/jsonrpc"
)

// port7070 is a listener's address without a listener.
type port7070 struct{ net.Listener }

func (port7070) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7070} }

// recorder can be upgraded; what is written after that goes nowhere.
type recorder struct {
	*httptest.ResponseRecorder
	near, far net.Conn
}

func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.near, r.far = net.Pipe()
	r.far.Close() // a peer that leaves at once
	return r.near, bufio.NewReadWriter(bufio.NewReader(r.near), bufio.NewWriter(r.near)), nil
}

// FuzzFront asks the TCP front itself, without sockets. Whatever the requests
// are, the answer is one of the front's, nobody without the token gets past it,
// no page does, and no answer or log repeats a query or a token.
func FuzzFront(f *testing.F) {
	var log bytes.Buffer
	dir := f.TempDir()
	record, err := audit.Open(dir, time.Now)
	if err != nil {
		f.Fatal(err)
	}
	defer record.Close()
	const secret = "tandemux_fuzz" // one that the corpus can hold
	tokens := fmt.Sprintf(`[{"id":"0a","scopes":["terminal:read"],"hash":"%x"}]`, sha256.Sum256([]byte(secret)))
	if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(tokens), 0o600); err != nil {
		f.Fatal(err)
	}
	e := newEntrance(New(Config{
		Handle: func(_ context.Context, t jsonrpc.Transport, _ *auth.Principal) error {
			return t.Close(jsonrpc.CloseAway, "")
		},
		Tokens: auth.OpenTokens(dir, time.Now), Attempts: auth.NewAttempts(time.Now), Audit: record,
		Log:     slog.New(slog.NewTextHandler(&log, nil)),
		Origins: []string{"https://ok.example"}, Hosts: []string{"box.example"}, Hostname: "me",
		Connections: 512, Requests: 4096, FrameBytes: 8 << 20, HeaderTime: time.Second,
	}), TCP, port7070{})
	upgrade := "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: localhost:7070\r\nAuthorization: Bearer " + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp?tkn=" + secret + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + upgrade + "\r\n",
		"GET /ahp?tkn=tandemux%5ffuzz HTTP/1.1\r\nHost: [::1]:7070\r\n" + upgrade + "\r\n",
		"GET / HTTP/1.1\r\nHost: box.example\r\nOrigin: https://ok.example\r\nAuthorization: bearer  " + secret + " \r\n" + upgrade + "\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nAuthorization: Bearer " + secret + "\r\n" + upgrade + "\r\n",
		"GET /?tkn=" + secret + " HTTP/1.1\r\nHost: evil.example\r\n" + upgrade + "\r\n",
		"GET http://localhost/?tkn=" + secret + " HTTP/1.1\r\nHost: evil\r\n" + upgrade + "\r\n",
		"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
		"GET / HTTP/1.0\r\n\r\n",
		// A page's cookie: with its key and our origin; without one of them; a guest's
		// beside it; other cookies' names, and more of them than a browser has.
		"GET /ahp?page=" + PageKey(secret) + " HTTP/1.1\r\nHost: localhost:7070\r\nOrigin: http://localhost:7070\r\nCookie: tandemux=" + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp?page=x HTTP/1.1\r\nHost: localhost:7070\r\nOrigin: http://localhost:7070\r\nCookie: tandemux=" + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp?page=" + PageKey(secret) + " HTTP/1.1\r\nHost: localhost:7070\r\nCookie: tandemux=" + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp?page=" + PageKey(secret) + " HTTP/1.1\r\nHost: localhost:7070\r\nOrigin: http://localhost:7071\r\nCookie: tandemux=" + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp?page=" + PageKey(secret) + " HTTP/1.1\r\nHost: localhost:7070\r\nOrigin: http://localhost:7070\r\nCookie: tandemux=x; tandemux-0a=" + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp?page=" + PageKey(secret) + " HTTP/1.1\r\nHost: localhost:7070\r\nOrigin: http://localhost:7070\r\nCookie: tandemuxx=" + secret + "; a=" + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp HTTP/1.1\r\nHost: localhost:7070\r\nX-Tandemux-Page: " + PageKey(secret) + "\r\nCookie: tandemux=" + secret + "\r\n\r\n",
		"GET /ahp?page=" + PageKey(secret) + " HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\nCookie: tandemux=" + secret + "\r\n" + upgrade + "\r\n",
		"GET /ahp?page=" + PageKey("") + " HTTP/1.1\r\nHost: localhost:7070\r\nOrigin: http://localhost:7070\r\nCookie: tandemux=\r\n" + upgrade + "\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	known := map[int]bool{400: true, 401: true, 403: true, 404: true, 405: true, 426: true, 429: true, 501: true, 503: true}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			return // net/http's own 400
		}
		r.RemoteAddr = "192.0.2.1:1"
		log.Reset()
		w := &recorder{ResponseRecorder: httptest.NewRecorder()}
		e.ServeHTTP(w, r)
		ownPage := pageToken(r) == secret && len(r.Header["Origin"]) == 1 && e.ownOrigin(r, r.Header.Get("Origin"))
		holds := bytes.Contains(text, []byte(secret)) || decodes(r.URL, secret)
		status := w.Code
		switch {
		case !known[status] && status != http.StatusSwitchingProtocols:
			t.Errorf("status %d", status)
		case !holds && status != 401 && status != 403 && status != 429:
			t.Errorf("without the token: status %d", status)
		case len(r.Header["Origin"]) > 0 && r.Header.Get("Origin") != "https://ok.example" && !ownPage && status != 403:
			t.Errorf("origin %q: status %d", r.Header["Origin"], status)
		}
		// The answer to 101 is the library's and repeats nothing of the kind.
		if out := w.Body.String() + log.String(); strings.Contains(out, secret) || r.URL.RawQuery != "" && len(r.URL.RawQuery) > 8 && strings.Contains(out, r.URL.RawQuery) {
			t.Errorf("answer or log repeat the token or the query: %s", out)
		}
		admitted := e.admit(r, nil, nil).who != nil
		if admitted && (!holds || r.Method != http.MethodGet || !endpoints[r.URL.Path]) {
			t.Errorf("admitted: %q", text)
		}
		if admitted && !ours(r.Host) {
			t.Errorf("admitted for the host %q", r.Host)
		}
	})
}

// decodes finds the secret in a query's values.
func decodes(u *url.URL, secret string) bool {
	for _, values := range u.Query() {
		for _, v := range values {
			if strings.Contains(v, secret) {
				return true
			}
		}
	}
	return false
}

// ours says anew, by other means than the front's, which Host may be used.
func ours(host string) bool {
	host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":7070"), ":")
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" || host == "box.example" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
