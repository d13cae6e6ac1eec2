package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/hosttest"
)

func TestMain(m *testing.M) { os.Exit(hosttest.Main(m)) }

// asked is an HTTP request as a browser, or somebody else, sends it.
type asked struct {
	method, path string
	body         string
	header       map[string]string
}

type answered struct {
	status int
	header http.Header
	body   string
}

// ask sends a request by a connection of its own, which is given where it was upgraded.
func ask(t *testing.T, addr string, q asked) (answered, net.Conn) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", q.method, q.path, addr)
	for k, v := range q.header {
		fmt.Fprintf(&b, "%s: %s\r\n", k, v)
	}
	if q.body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\nContent-Type: application/json\r\n", len(q.body))
	}
	fmt.Fprintf(&b, "\r\n%s", q.body)
	if _, err := io.WriteString(c, b.String()); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode == http.StatusSwitchingProtocols {
		return answered{r.StatusCode, r.Header, ""}, c
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{r.StatusCode, r.Header, string(text)}, nil
}

var link = regexp.MustCompile(`http://(\S+?)/web/#(\S+)`)

// offer runs `tandemux web` and gives the host's address and the secret.
func offer(m *hosttest.Machine, args ...string) (addr, secret string) {
	m.Helper()
	out := m.Tandemux(append([]string{"web", "--no-qr"}, args...)...)
	found := link.FindStringSubmatch(out)
	if found == nil {
		m.Fatalf("no link: %s", out)
	}
	return found[1], found[2]
}

// paired is a browser that was let in.
type paired struct{ cookie, key, id string }

var keyAndID = regexp.MustCompile(`"key":"([^"]+)","id":"([^"]+)"`)

func pair(t *testing.T, addr, secret string) paired {
	t.Helper()
	a, _ := ask(t, addr, asked{"POST", "/web/pair", fmt.Sprintf(`{"secret":%q}`, secret), map[string]string{"Origin": "http://" + addr}})
	found := keyAndID.FindStringSubmatch(a.body)
	if a.status != 200 || found == nil {
		t.Fatalf("pair: %d %s", a.status, a.body)
	}
	set := a.header.Get("Set-Cookie")
	for _, want := range []string{"; HttpOnly", "; SameSite=Strict", "; Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie %q has no %q", set, want)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	return paired{cookie, found[1], found[2]}
}

// upgrade is the request of the page's WebSocket.
func (p paired) upgrade(addr string, change map[string]string) asked {
	h := map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
		"Origin": "http://" + addr, "Cookie": p.cookie,
	}
	path := "/ahp?page=" + p.key
	for k, v := range change {
		if k == "path" {
			path = v
		} else if v == "" {
			delete(h, k)
		} else {
			h[k] = v
		}
	}
	return asked{"GET", path, "", h}
}

// TestPairing: a link lets one browser in, by a cookie that only the page can use, and
// only until its token is removed.
func TestPairing(t *testing.T) {
	t.Parallel()
	m := hosttest.New(t, "")
	addr := m.Listen()
	if a, _ := ask(t, addr, asked{"GET", "/web/", "", nil}); a.status != 401 {
		t.Errorf("before anybody asked for it the page answers %d", a.status)
	}
	addr, secret := offer(m)
	origin := map[string]string{"Origin": "http://" + addr}
	a, _ := ask(t, addr, asked{"GET", "/web/", "", nil})
	if a.status != 200 && a.status != 503 { // with and without the bundle
		t.Fatalf("the page answers %d", a.status)
	}
	for k, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY",
	} {
		if got := a.header.Get(k); !strings.HasPrefix(got, want) || strings.Contains(got, "unsafe-inline") {
			t.Errorf("%s is %q", k, got)
		}
	}
	body := fmt.Sprintf(`{"secret":%q}`, secret)
	for _, c := range []struct {
		name string
		ask  asked
		want int
	}{
		{"another origin", asked{"POST", "/web/pair", body, map[string]string{"Origin": "http://evil.example"}}, 403},
		{"no origin", asked{"POST", "/web/pair", body, nil}, 403},
		{"no JSON", asked{"POST", "/web/pair", "", origin}, 400},
		{"another secret", asked{"POST", "/web/pair", `{"secret":"x"}`, origin}, 401},
		{"too long", asked{"POST", "/web/pair", `{"secret":"` + strings.Repeat("x", 9000) + `"}`, origin}, 400},
		{"another method", asked{"PUT", "/web/pair", "", nil}, 401},
		{"an offer without a token", asked{"POST", "/web/offer", "{}", origin}, 401},
		{"the end without a token", asked{"DELETE", "/web/offer", "", origin}, 401},
		{"a file that is none", asked{"GET", "/web/../tokens.json", "", nil}, 404},
	} {
		if a, _ := ask(t, addr, c.ask); a.status != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, a.status, a.body, c.want)
		}
	}
	p := pair(t, addr, secret)
	if a, _ := ask(t, addr, asked{"POST", "/web/pair", body, origin}); a.status != 401 {
		t.Errorf("the link works twice: %d", a.status)
	}
	_, other := offer(m, "--name", "other", "--read-only")
	q := pair(t, addr, other)
	for _, c := range []struct {
		name   string
		change map[string]string
		want   int
	}{
		{"as the page does", nil, 101},
		{"no cookie", map[string]string{"Cookie": ""}, 403}, // as without a page: the origin is no client's
		{"no key", map[string]string{"path": "/ahp"}, 403},
		{"another browser's key", map[string]string{"path": "/ahp?page=" + q.key}, 403},
		{"no origin", map[string]string{"Origin": ""}, 401},
		{"another origin", map[string]string{"Origin": "http://evil.example"}, 403},
		{"another port's origin", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"another host", map[string]string{"Origin": "http://evil.example", "Host": "evil.example"}, 400}, // two Hosts
	} {
		if a, _ := ask(t, addr, p.upgrade(addr, c.change)); a.status != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, a.status, a.body, c.want)
		}
	}
	for name, c := range map[string]struct {
		ask  asked
		want int
	}{
		"the page's fetch":       {asked{"GET", "/pty", "", map[string]string{"Cookie": p.cookie, "X-Tandemux-Page": p.key}}, 200},
		"a fetch without key":    {asked{"GET", "/pty", "", map[string]string{"Cookie": p.cookie}}, 401},
		"a browser lets more in": {asked{"POST", "/web/offer", "{}", map[string]string{"Cookie": p.cookie, "X-Tandemux-Page": p.key, "Origin": "http://" + addr}}, 200},
		"one that may only look": {asked{"POST", "/web/offer", "{}", map[string]string{"Cookie": q.cookie, "X-Tandemux-Page": q.key, "Origin": "http://" + addr}}, 403},
		"the key of messages":    {asked{"GET", "/web/push", "", map[string]string{"Cookie": q.cookie, "X-Tandemux-Page": q.key}}, 200},
		"an address inside":      {asked{"POST", "/web/push", `{"endpoint":"https://127.0.0.1/x"}`, map[string]string{"Cookie": p.cookie, "X-Tandemux-Page": p.key, "Origin": "http://" + addr}}, 400},
		"a POST without origin":  {asked{"POST", "/web/offer", "{}", map[string]string{"Cookie": p.cookie, "X-Tandemux-Page": p.key}}, 401},
	} {
		if a, _ := ask(t, addr, c.ask); a.status != c.want {
			t.Errorf("%s: %d %s, want %d", name, a.status, a.body, c.want)
		}
	}

	if ls := m.Tandemux("token", "ls"); !strings.Contains(ls, p.id) || !strings.Contains(ls, "other") {
		t.Errorf("the tokens do not list the browsers: %s", ls)
	}
	_, ws := ask(t, addr, p.upgrade(addr, nil))
	m.Tandemux("token", "rm", p.id)
	if b, err := io.ReadAll(ws); err != nil || !strings.Contains(string(b), "\x03\xf0") { // 1008
		t.Errorf("the removed token's WebSocket gets %q, %v", b, err)
	}
	if a, _ := ask(t, addr, p.upgrade(addr, nil)); a.status != 401 {
		t.Errorf("a removed token's cookie is answered %d", a.status)
	}

	_, ws = ask(t, addr, q.upgrade(addr, nil))
	if out := m.Tandemux("web", "--off"); !strings.Contains(out, "removed: 1") {
		t.Errorf("off says %q", out)
	}
	if b, err := io.ReadAll(ws); err != nil || !strings.Contains(string(b), "\x03\xf0") {
		t.Errorf("with the page off its WebSocket gets %q, %v", b, err)
	}
	if a, _ := ask(t, addr, asked{"GET", "/web/", "", nil}); a.status != 401 {
		t.Errorf("the page that is off answers %d", a.status)
	}
}

// TestOwnListener: a host that listens nowhere listens for the page, this machine only,
// and the next host does so at the same address, where the same browsers are let in.
func TestOwnListener(t *testing.T) {
	t.Parallel()
	m := hosttest.New(t, "")
	addr, secret := offer(m)
	if !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Errorf("it listens on %s", addr)
	}
	p := pair(t, addr, secret)
	lock, err := os.ReadFile(filepath.Join(m.Dir, "r", "tandemux", "host.lock"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(lock)))
	if err != nil {
		t.Fatal(err)
	}
	m.Must(syscall.Kill(pid, syscall.SIGKILL))
	m.Eventually("it is dead", func() bool { return syscall.Kill(pid, 0) != nil })
	m.Tandemux("ls")
	if a, _ := ask(t, addr, p.upgrade(addr, nil)); a.status != 101 {
		t.Errorf("the next host answers the page's WebSocket with %d %s", a.status, a.body)
	}
	m.Tandemux("web", "--off")
	m.Eventually("nobody listens", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

// TestTLSCookie: over TLS the cookie is of the host alone, and for TLS alone.
func TestTLSCookie(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	m := hosttest.New(t, "")
	out := m.Tandemux("host", "--listen", "127.0.0.1:0", "--tls-self-signed")
	if !strings.Contains(out, "wss://") {
		t.Fatal(out)
	}
	at := regexp.MustCompile(`(https://\S+?)/web/#(\S+)`).FindStringSubmatch(m.Tandemux("web", "--no-qr"))
	if at == nil {
		t.Fatal("no link of https")
	}
	got, err := exec.Command("curl", "-sik", "-H", "Origin: "+at[1], "-H", "Content-Type: application/json", "-d", fmt.Sprintf(`{"secret":%q}`, at[2]), at[1]+"/web/pair").CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?i)set-cookie: __Host-tandemux-\d+=\S+; Path=/; .*Secure`).Match(got) {
		t.Errorf("%v: %s", err, got)
	}
}

// TestShare: a link to one terminal lets one guest in, beside whoever the browser is
// itself, opens no other door, and ends with the share.
func TestShare(t *testing.T) {
	t.Parallel()
	m := hosttest.New(t, "")
	m.Tandemux("new", "--background", "--name", "build", "--", "cat")
	m.Tandemux("new", "--background", "--name", "other", "--", "cat")
	addr, own := offer(m)
	p := pair(t, addr, own)
	out := m.Tandemux("share", "build", "--no-qr", "--name", "ana", "--for", "1h")
	found := regexp.MustCompile(`http://\S+/web/\?share#(\S+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no link: %s", out)
	}
	// Guesses end no share; they are made to wait.
	for i := range 25 {
		ask(t, addr, asked{"POST", "/web/pair", fmt.Sprintf(`{"secret":"%d"}`, i), map[string]string{"Origin": "http://" + addr}})
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if a, _ := ask(t, addr, asked{method, "/web/push", "{}", map[string]string{"Origin": "http://" + addr}}); a.status != 401 && a.status != 429 {
			t.Errorf("%s /web/push without a token is answered %d", method, a.status)
		}
	}
	g := pair(t, addr, found[1])
	name := func(cookie string) string { n, _, _ := strings.Cut(cookie, "="); return n }
	if name(g.cookie) == name(p.cookie) || !strings.HasSuffix(name(g.cookie), "-"+g.id) {
		t.Errorf("the guest's cookie is %s, the browser's own %s", name(g.cookie), name(p.cookie))
	}
	if a, _ := ask(t, addr, asked{"POST", "/web/pair", fmt.Sprintf(`{"secret":%q}`, found[1]), map[string]string{"Origin": "http://" + addr}}); a.status == 200 {
		t.Error("the link works twice")
	}
	both := map[string]string{"Cookie": p.cookie + "; " + g.cookie}
	for _, who := range []paired{p, g} {
		if a, _ := ask(t, addr, who.upgrade(addr, both)); a.status != 101 {
			t.Errorf("with both cookies: %d %s", a.status, a.body)
		}
	}
	from := map[string]string{"Cookie": g.cookie, "X-Tandemux-Page": g.key, "Origin": "http://" + addr}
	for path, method := range map[string]string{"/web/offer": "POST", "/web/offer ": "DELETE", "/api/v1/tasks": "GET", "/api/v1/api_keys": "GET", "/api/v1/projects": "GET", "/mcp": "POST", "/web/push": "POST", "/web/push ": "GET"} {
		a, _ := ask(t, addr, asked{method, strings.TrimSpace(path), "{}", from})
		if a.status < 400 {
			t.Errorf("%s %s is answered %d %s", method, path, a.status, a.body)
		}
	}
	if a, _ := ask(t, addr, asked{"GET", "/pty", "", from}); strings.Contains(a.body, "other") {
		t.Errorf("/pty lists %s", a.body)
	}
	for _, verb := range []string{"token", "share"} {
		if ls := m.Tandemux(verb, "ls"); !strings.Contains(ls, g.id) || !strings.Contains(ls, "ana") {
			t.Errorf("%s ls: %s", verb, ls)
		}
	}
	_, ws := ask(t, addr, g.upgrade(addr, nil))
	m.Tandemux("share", "end", "build")
	if b, err := io.ReadAll(ws); err != nil || !strings.Contains(string(b), "\x03\xf0") {
		t.Errorf("the guest's WebSocket gets %q, %v", b, err)
	}
	if a, _ := ask(t, addr, g.upgrade(addr, nil)); a.status != 401 {
		t.Errorf("after the end the cookie is answered %d", a.status)
	}
	if log, err := os.ReadFile(filepath.Join(m.Dir, "s", "tandemux", "audit.log")); err == nil && strings.Contains(string(log), found[1]) {
		t.Error("the record has the secret")
	}
}

// TestWrongSecrets: who guesses is made to wait, and after some guesses there is nothing
// left to guess.
func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	m := hosttest.New(t, "")
	addr, secret := offer(m)
	origin := map[string]string{"Origin": "http://" + addr}
	seen := map[int]int{}
	for i := range 20 {
		a, _ := ask(t, addr, asked{"POST", "/web/pair", fmt.Sprintf(`{"secret":"%d"}`, i), origin})
		seen[a.status]++
	}
	if seen[401] == 0 || seen[429] == 0 || seen[401]+seen[429] != 20 {
		t.Errorf("20 wrong secrets are answered %v", seen)
	}
	if a, _ := ask(t, addr, asked{"POST", "/web/pair", fmt.Sprintf(`{"secret":%q}`, secret), origin}); a.status == 200 {
		t.Error("the offer outlived the guesses")
	}
}
