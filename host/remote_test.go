package host_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/front"
	"tandemux/host/listen"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// ask sends a request byte for byte and gives the answer and its text.
func ask(t *testing.T, network, addr, request string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

// TestFrontAnswers is the table of what is not an upgrade: each status with its
// headers, and nothing for whoever has no token.
func TestFrontAnswers(t *testing.T) {
	t.Parallel()
	w := start(t)
	addr := w.tcp.Addr().String()
	auth := "Authorization: Bearer " + w.token().Token + "\r\n"
	for _, c := range []struct {
		name, request string
		status        int
		header, value string
	}{
		{"no upgrade", "GET / HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n", 426, "Upgrade", "websocket"},
		{"another path", "GET /x HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n", 404, "Connection", ""},
		{"POST", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + auth + "\r\n", 405, "Allow", "GET"},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "Allow", ""},
		{"CONNECT", "CONNECT evil:1 HTTP/1.1\r\nHost: evil:1\r\n\r\n", 403, "", ""},
		{"PRI", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403, "", ""},
		{"no host", "GET / HTTP/1.1\r\n" + auth + "\r\n", 400, "", ""},
		{"two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n" + auth + "\r\n", 400, "", ""},
		{"nonsense", "\x00\x01\x02\r\n\r\n", 400, "", ""},
		{"long header", "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431, "", ""},
		{"no key", "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" + auth + "\r\n", 400, "", ""},
		{"old version", "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 7\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" + auth + "\r\n", 400, "", ""},
	} {
		r, text := ask(t, "tcp", addr, c.request)
		if r.StatusCode != c.status || c.header != "" && r.Header.Get(c.header) != c.value {
			t.Errorf("%s: status %d, %s %q, want %d and %q", c.name, r.StatusCode, c.header, r.Header.Get(c.header), c.status, c.value)
		}
		if strings.Contains(text, "tandemux_") {
			t.Errorf("%s: the answer repeats the token: %s", c.name, text)
		}
	}
}

// TestTooManyAttempts: after some failures the next have to wait, in growing
// steps, without locking anybody out who has a right token, or the unix socket.
func TestTooManyAttempts(t *testing.T) {
	t.Parallel()
	now := time.Now() // stands still: no wait ends within the test
	w := start(t, func(c *host.Config) { c.Now = func() time.Time { return now } })
	addr := w.tcp.Addr().String()
	good := w.token().Token
	const wrong = "tandemux_0000000000000000000000000000000000000000000"
	bad := "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + wrong + "\r\n\r\n"
	limited := 0
	for i := range 40 {
		r, text := ask(t, "tcp", addr, bad)
		switch r.StatusCode {
		case http.StatusUnauthorized:
			if limited > 0 && i < 12 {
				t.Errorf("attempt %d is answered at once again", i)
			}
		case http.StatusTooManyRequests:
			limited++
			if r.Header.Get("Retry-After") == "" || !strings.Contains(text, "wait") {
				t.Errorf("429 without saying when: %v, %q", r.Header, text)
			}
		default:
			t.Fatalf("attempt %d: status %d", i, r.StatusCode)
		}
	}
	if limited < 20 {
		t.Errorf("only %d of 40 attempts were put off", limited)
	}
	if got := upgrade(t, "tcp", addr, "/", addr, "Authorization: Bearer "+good); got != 101 {
		t.Errorf("a right token from the same address: status %d", got)
	}
	if got := upgrade(t, "unix", w.sock.Path(), "/", "tandemux"); got != 101 {
		t.Errorf("the unix socket: status %d", got)
	}
	if r, _ := ask(t, "tcp", addr, bad); r.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a right token opened the door to wrong ones: status %d", r.StatusCode)
	}
	audit := w.audit()
	if n := strings.Count(audit, `"msg":"login"`); n < 4 || n > 7 {
		t.Errorf("%d lines about 41 failures:\n%s", n, audit)
	}
	if strings.Contains(audit, wrong) || strings.Contains(w.log.String(), wrong) {
		t.Error("a log holds what was tried")
	}
}

func (w *fixture) audit() string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "state", "audit.log"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// TestSlowHeaders: whoever takes too long over a request, or never makes one,
// is gone soon; one address cannot take all places, and tokens not the unix
// socket's.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Limits = host.Limits{Connections: 16, HeaderTime: 2 * time.Second} }) // a request of a loaded machine, too, is whole by then
	addr := w.tcp.Addr().String()
	w.token()
	var all []net.Conn
	for range 40 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: loc") //nolint:errcheck // may be closed already
		all = append(all, c)
	}
	if got := upgrade(t, "unix", w.sock.Path(), "/", "tandemux"); got != 101 {
		t.Errorf("the unix socket meanwhile: status %d", got)
	}
	for i, c := range all {
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d is still open", i)
		}
	}
	// Upgraded ones: some places are left to the unix socket.
	secret := w.token().Token
	full := false
	for range 16 {
		p, err := w.try("p", wsrpc.Target{URL: "ws://" + addr, Token: secret})
		var status *wsrpc.StatusError
		if errors.As(err, &status) && status.Code == http.StatusServiceUnavailable {
			full = true
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer p.hangUp()
	}
	if !full {
		t.Error("one token has all places")
	}
	if got := upgrade(t, "unix", w.sock.Path(), "/", "tandemux"); got != 101 {
		t.Errorf("the unix socket when tokens have all their places: status %d", got)
	}
}

// TestKeptConnection: a connection that has had its answer stays for the next request, longer
// than a header may take.
func TestKeptConnection(t *testing.T) {
	t.Parallel()
	const header = time.Second // a request of a loaded machine, too, is whole by then
	w := start(t, func(c *host.Config) {
		c.Limits = host.Limits{Connections: 16, HeaderTime: header}
		c.Doors = []front.Door{{Paths: map[string][]string{"/door": {http.MethodPost}}, Serve: func(http.ResponseWriter, *http.Request, front.Caller) {}}}
	})
	secret := w.token().Token
	c, err := net.Dial("tcp", w.tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for i := range 2 {
		fmt.Fprintf(c, "POST /door HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n", w.tcp.Addr(), secret)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		io.Copy(io.Discard, res.Body) //nolint:errcheck // it is empty
		c.SetReadDeadline(time.Now().Add(header + header/2))
		if _, err := in.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("after request %d: %v", i, err)
		}
		c.SetReadDeadline(time.Time{})
	}
}

// TestCrowd: connections that say nothing, and come again as soon as they are closed,
// keep nobody out who has a token: neither from their address nor from another one.
func TestCrowd(t *testing.T) {
	crowd := soak.Size(t, 150, 2000)
	for _, addresses := range []int{1, 50} {
		t.Run(fmt.Sprint(addresses), func(t *testing.T) {
			w := start(t, func(c *host.Config) {
				if crowd < 2000 {
					c.Limits = host.Limits{Connections: 64, HeaderTime: 2 * time.Second} // a request of a loaded machine, too, is whole by then
				}
			})
			addr, secret := w.tcp.Addr().String(), w.token().Token
			ctx, stop := context.WithCancel(t.Context())
			var idle sync.WaitGroup
			var made atomic.Int64
			for i := range crowd {
				from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+i%addresses))}}
				idle.Go(func() {
					for ctx.Err() == nil {
						c, err := from.DialContext(ctx, "tcp", addr)
						if err != nil {
							continue
						}
						made.Add(1)
						defer context.AfterFunc(ctx, func() { c.Close() })()
						c.Read(make([]byte, 1)) //nolint:errcheck // it ends when it is closed
						c.Close()
					}
				})
			}
			defer idle.Wait()
			defer stop()
			for made.Load() < int64(crowd) {
				time.Sleep(time.Millisecond)
			}
			var slowest time.Duration
			tries := soak.Size(t, 20, 100)
			for range tries {
				began := time.Now()
				if got := upgrade(t, "tcp", addr, "/", addr, "Authorization: Bearer "+secret); got != 101 {
					t.Fatalf("a valid token: status %d", got)
				}
				slowest = max(slowest, time.Since(began))
				time.Sleep(time.Duration(soak.Size(t, 10, 100)) * time.Millisecond) // the crowd comes again meanwhile
			}
			t.Logf("%d connections from %d addresses, made %d times: %d of %d got in, the slowest in %v", crowd, addresses, made.Load(), tries, tries, slowest)
		})
	}
}

// TestTokenShare: one token can't have all places, not even those of tokens.
func TestTokenShare(t *testing.T) {
	w := start(t, func(c *host.Config) { c.Limits = host.Limits{Connections: 32} })
	target := wsrpc.Target{URL: "ws://" + w.tcp.Addr().String(), Token: w.token().Token}
	had := 0
	for ; had < 32; had++ {
		p, err := w.try("greedy", target)
		var status *wsrpc.StatusError
		if errors.As(err, &status) && status.Code == http.StatusServiceUnavailable {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer p.hangUp()
	}
	if had != 8 {
		t.Errorf("one token has %d of 32 places", had)
	}
	target.Token = w.token().Token
	p, err := w.try("other", target)
	if err != nil {
		t.Fatalf("another token: %v", err)
	}
	p.hangUp()
}

// serve adds a TLS listener.
func (w *fixture) serveTLS(c *listen.Certificate) string {
	w.t.Helper()
	ln, err := listen.TLS("127.0.0.1:0", c)
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.host.Front().Serve(w.t.Context(), ln, front.TCP)
	}()
	w.t.Cleanup(func() { ln.Close(); <-ended })
	return ln.Addr().String()
}

// TestTLS: a host with a certificate of its own is known by its fingerprint and
// by nothing else; the files are private and made once; TLS 1.1 is refused.
func TestTLS(t *testing.T) {
	t.Parallel()
	w := start(t)
	state := filepath.Join(w.dir, "state")
	cert, err := listen.SelfSigned(state, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := listen.SelfSigned(state, nil)
	if err != nil || again.Fingerprint() != cert.Fingerprint() {
		t.Errorf("the second time it is %v, %v", again, err)
	}
	if info, _ := os.Stat(filepath.Join(state, "tls.key")); info.Mode().Perm() != 0o600 {
		t.Errorf("the key is %v", info.Mode())
	}
	addr := w.serveTLS(cert)
	secret := w.token().Token
	p := w.dial("p", wsrpc.Target{URL: "wss://" + addr, Token: secret, Fingerprint: cert.Fingerprint()})
	init := p.initialize()
	if init.Meta == nil || !strings.HasPrefix(init.Meta.Principal, "token:") {
		t.Errorf("initialize says %+v", init.Meta)
	}
	var got ahp.HostResult
	p.must(ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got)
	if got.Fingerprint != cert.Fingerprint() || len(got.URLs) != 2 || got.URLs[1] != "wss://"+addr || got.Principal != init.Meta.Principal {
		t.Errorf("x-tandemux/host says %+v", got)
	}
	_, err = w.try("q", wsrpc.Target{URL: "wss://" + addr, Token: secret})
	var unknown *wsrpc.UntrustedError
	if !errors.As(err, &unknown) || unknown.Fingerprint != cert.Fingerprint() {
		t.Errorf("without a pin: %v", err)
	}
	_, err = w.try("q", wsrpc.Target{URL: "wss://" + addr, Token: secret, Fingerprint: "sha256:" + strings.Repeat("0", 64)})
	var other *wsrpc.FingerprintError
	if !errors.As(err, &other) || other.Got != cert.Fingerprint() || strings.Contains(err.Error(), secret) {
		t.Errorf("with another pin: %v", err)
	}
	if c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil {
		c.Close()
		t.Error("TLS 1.1 was accepted")
	}
	// A name in the certificate may be the Host; others may not.
	for name, want := range map[string]int{"localhost": 426, "evil.example": 403} {
		c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		if v := c.ConnectionState().NegotiatedProtocol; v == "h2" {
			t.Error("HTTP/2 was agreed on")
		}
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", name, secret)
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		c.Close()
		if r.StatusCode != want {
			t.Errorf("Host: %s: status %d, want %d", name, r.StatusCode, want)
		}
	}
	// Much output arrives whole.
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: "ahp-terminal:/t", Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"},
		Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "seq 1 50000; echo the end"}},
	}, nil)
	p.subscribe("ahp-terminal:/t")
	p.output("ahp-terminal:/t", "the end")
}

// TestBoundToken: a token for one terminal sees and touches no other, and is
// told the same of what there is and what there is not.
func TestBoundToken(t *testing.T) {
	t.Parallel()
	w := start(t)
	o := w.connect("o")
	o.initialize()
	create := func(uri string) {
		o.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "o"}, Name: "title of " + uri,
			Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "echo ready; cat"}},
		}, nil)
	}
	const mine, other = "ahp-terminal:/mine", "ahp-terminal:/other"
	create(mine)
	create(other)
	o.subscribe("x-tandemux-layout:/main")
	var r ahp.TokenNewResult
	bind := ahp.TokenNewParams{Channel: ahp.RootURI, Name: "bound", Terminal: mine}
	if err := o.call(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "x", Terminal: "ahp-terminal:/none"}, nil); ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("a token for no terminal: %v", err)
	}
	o.must(ahp.MethodTokenNew, bind, &r)

	p := w.connectTCP("p", r.Token)
	init := p.initialize(ahp.RootURI, mine, other)
	if len(init.Snapshots) != 2 {
		t.Errorf("%d snapshots", len(init.Snapshots))
	}
	onlyMine := func(raw []byte) {
		t.Helper()
		if !strings.Contains(string(raw), mine) || strings.Contains(string(raw), other) {
			t.Errorf("it sees %s", raw)
		}
	}
	onlyMine(init.Snapshots[0].State)
	refused := func(method string, params any) {
		t.Helper()
		if err := p.call(method, params, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
			t.Errorf("%s: %v", method, err)
		}
	}
	for _, uri := range []string{other, "ahp-terminal:/none", "x-tandemux-layout:/main", "x-tandemux-layout:/new"} {
		refused(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri})
		refused(ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadScreen})
		refused(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri})
	}
	for _, method := range []string{ahp.MethodTokenNew, ahp.MethodTokenList, ahp.MethodStop, "resourceRead", "resourceList", "resourceWrite", "resourceDelete", "createResourceWatch"} {
		// Its own terminal as the channel is no way around.
		for _, channel := range []string{ahp.RootURI, mine} {
			err := p.call(method, map[string]any{"channel": channel, "name": "x", "uri": "file:///etc/passwd"}, nil)
			if code := ahp.CodeOf(err); code != ahp.CodePermissionDenied && code != ahp.CodeMethodNotFound {
				t.Errorf("%s on %s: %v", method, channel, err)
			}
		}
	}
	// Two channels in one request, in any case and order: the one that is used
	// is the one that is checked.
	for i, members := range []string{
		`"channel":"` + other + `","CHANNEL":"` + mine + `"`, `"Channel":"` + mine + `","channel":"` + other + `"`,
		`"channel":"` + mine + `","channel":"` + other + `"`, `"resource":"` + mine + `","channel":"` + other + `"`,
	} {
		for j, method := range []string{ahp.MethodRead, ahp.MethodSubscribe, ahp.MethodDisposeTerminal} {
			id := 5000 + 10*i + j
			p.sendRaw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,"what":"screen"}}`, id, method, members))
			_, m, err := p.next()
			for err == nil && string(m.ID) != fmt.Sprint(id) {
				_, m, err = p.next()
			}
			if err != nil || m.Error == nil {
				t.Errorf("%s {%s} was done: %s, %v", method, members, m.Result, err)
			}
		}
	}
	for _, uri := range []string{mine + "2", mine} {
		refused(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"}})
	}
	for i, uri := range []string{other, "ahp-terminal:/none", ahp.RootURI} {
		p.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodDispatchAction, "params": map[string]any{
			"channel": uri, "clientSeq": i + 1, "action": map[string]any{"type": "terminal/input", "data": "rm -rf /\n"},
		}})
		raw, m, err := p.next()
		for err == nil && !strings.Contains(string(raw), "rejectionReason") && m.Method == ahp.MethodAction {
			raw, m, err = p.next()
		}
		if err != nil || !strings.Contains(string(raw), "for the terminal "+mine+" only") {
			t.Errorf("input to %s: %s, %v", uri, raw, err)
		}
	}
	var host ahp.HostResult
	p.must(ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &host)
	if host.Pid != 0 || len(host.Listen) != 0 || host.Terminals != 0 {
		t.Errorf("x-tandemux/host tells it %+v", host)
	}
	var read ahp.ReadResult
	p.must(ahp.MethodRead, ahp.ReadParams{Channel: mine, What: ahp.ReadScreen}, &read)

	// Changes of the list, live and after a reconnect.
	seen := p.seq
	create("ahp-terminal:/third")
	for {
		raw, _, err := p.next()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "terminalsChanged") {
			onlyMine(raw)
			break
		}
	}
	p.hangUp()
	q := w.connectTCP("q", r.Token)
	var resumed json.RawMessage
	q.must(ahp.MethodReconnect, ahp.ReconnectParams{
		Channel: ahp.RootURI, ClientID: "p", LastSeenServerSeq: seen, Subscriptions: []ahp.URI{ahp.RootURI, mine, other},
	}, &resumed)
	if !strings.Contains(string(resumed), `"missing":["`+other+`"]`) || strings.Contains(string(resumed), "/third") || !strings.Contains(string(resumed), "terminalsChanged") {
		t.Errorf("the replay: %s", resumed)
	}

	// It may take what it was made for, and loses it with the process.
	q.dispatch(mine, 10, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"}})
	q.dispatch(mine, 11, ahp.TerminalInput{Data: "typed\n"})
	q.output(mine, "typed")
	o.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: mine}, nil)
	create(mine)
	if err := q.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: mine}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("a later terminal of the same name: %v", err)
	}
	if err := q.call(ahp.MethodRead, ahp.ReadParams{Channel: mine, What: ahp.ReadScreen}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("reading a later terminal of the same name: %v", err)
	}
}

// TestExpiry: a token's connections end when it does.
func TestExpiry(t *testing.T) {
	t.Parallel()
	w := start(t)
	admin := w.connect("a")
	admin.initialize()
	if err := admin.call(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "x", Expires: 1}, nil); ahp.CodeOf(err) != ahp.CodeInvalidParams {
		t.Errorf("a token from the past: %v", err)
	}
	end := time.Now().Add(5 * time.Second).Truncate(time.Millisecond)
	var r ahp.TokenNewResult
	admin.must(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "short", Expires: end.UnixMilli()}, &r)
	p := w.connectTCP("p", r.Token)
	p.initialize()
	stays := w.connectTCP("s", w.token().Token)
	stays.initialize()
	if raw, _, err := p.next(); !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "expired") {
		t.Errorf("at its end: %s, %v", raw, err)
	}
	if late := time.Since(end); late < 0 || late > patience {
		t.Errorf("it ended %v after its time", late)
	}
	addr := w.tcp.Addr().String()
	if got := upgrade(t, "tcp", addr, "/?tkn="+r.Token, addr); got != 401 {
		t.Errorf("status %d", got)
	}
	stays.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	if !strings.Contains(w.audit(), "the token has expired") {
		t.Error("the audit log does not say so")
	}
}

// TestClientsAcrossRestarts: a clientId stays its principal's, until that
// token is no more.
func TestClientsAcrossRestarts(t *testing.T) {
	t.Parallel()
	w := start(t)
	a, b := w.token(), w.token()
	p := w.connectTCP("stable", a.Token)
	p.initialize()
	p.hangUp()
	tui := w.connect("tui")
	tui.initialize()
	tui.hangUp()
	w.shutdown()
	w.startHost()
	denied := func(name, token string) {
		t.Helper()
		q := w.connectTCP(name, token)
		if err := q.call(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: name}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
			t.Errorf("%s: %v", name, err)
		}
		q.hangUp()
	}
	denied("stable", b.Token)
	denied("tui", b.Token)
	p = w.connectTCP("stable", a.Token)
	p.initialize()
	p.hangUp()
	w.token() // connects the admin
	w.admin.must(ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: a.ID}, nil)
	w.until("the client is free", func() bool {
		q := w.connectTCP("stable", b.Token)
		defer q.hangUp()
		return q.call(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: "stable"}, nil) == nil
	})
}

// TestBrokenTokens: the host runs, is closed to tokens, and says what to do.
func TestBrokenTokens(t *testing.T) {
	t.Parallel()
	w := start(t)
	good := w.token().Token
	w.shutdown()
	path := filepath.Join(w.dir, "state", "tokens.json")
	if err := os.WriteFile(path, []byte(`{"version":2,"tokens":[{`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.startHost()
	addr := w.tcp.Addr().String()
	if got := upgrade(t, "tcp", addr, "/?tkn="+good, addr); got != 401 {
		t.Errorf("status %d", got)
	}
	o := w.connect("o")
	o.initialize()
	var r ahp.HostResult
	o.must(ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r)
	if !strings.Contains(r.Warning, path) || !strings.Contains(r.Warning, "repaired or moved away") {
		t.Errorf("x-tandemux/host says %q", r.Warning)
	}
	if err := o.call(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "x"}, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("making a token: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	o.must(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "x"}, nil)
	o.must(ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r)
}
