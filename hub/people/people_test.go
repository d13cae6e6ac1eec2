package people

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/host/auth"
	"tandemux/hub/front"
	"tandemux/hub/server"
	"tandemux/internal/leak"
	"tandemux/internal/soak"
)

func TestMain(m *testing.M) { os.Exit(leak.Apart(m)) } // the bus stays to the end

// bus is a NATS with JetStream that the tests share.
var bus = sync.OnceValues(func() (*server.Bus, error) {
	dir, err := os.MkdirTemp("", "nats")
	if err != nil {
		return nil, err
	}
	return server.Start(context.Background(), server.Options{Dir: dir, Listen: "127.0.0.1:0"})
})

// hub is one that people sign in to.
type hub struct {
	desk *Desk
	url  string
	log  *logged

	mu    sync.Mutex
	clock time.Time // zero: the real one
	notes []string
}

type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (h *hub) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clock.IsZero() {
		return time.Now()
	}
	return h.clock
}

func (h *hub) set(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock = t
}

// newHub begins one on a loopback port; the provider is told the port, and gives its address.
func newHub(t *testing.T, provider func(callback string) string) *hub {
	t.Helper()
	b, err := bus()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{url: "http://" + ln.Addr().String(), log: &logged{}}
	c := Config{
		URL: h.url, Issuer: provider(h.url + "/auth/callback"), ClientID: "web", NameClaim: "email", GroupsClaim: "groups", Hours: 12, secret: "secret",
		Groups: map[string][]string{"dev": {auth.ScopeRead}, "ops": {auth.ScopeApprove}, "none": {auth.ScopeAdmin}},
	}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	h.desk, err = Open(t.Context(), Options{
		Config: c, JS: b.JS, Log: slog.New(slog.NewTextHandler(h.log, nil)), Now: h.now,
		Note: func(who, what, outcome string, _ *http.Request) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.notes = append(h.notes, who+" "+what+" "+outcome)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := front.New(front.Config{Authenticators: []front.Authenticator{h.desk.Authenticate}, Routes: h.desk.Routes()})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return h
}

// browser is one with cookies, that follows redirects; steps has where it went.
type browser struct {
	*http.Client
	steps []string
}

func newBrowser(t *testing.T) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{Client: &http.Client{Jar: jar, Timeout: 30 * time.Second}}
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		b.steps = append(b.steps, r.URL.String())
		return nil
	}
	return b
}

func (b *browser) get(t *testing.T, u string) (int, string) {
	t.Helper()
	resp, err := b.Get(u)
	return read(t, resp, err)
}

func read(t *testing.T, resp *http.Response, err error) (int, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

var formID = regexp.MustCompile(`name="id" value="([^"]+)"`)

// signIn goes through the real provider's form.
func (b *browser) signIn(t *testing.T, h *hub, to, user, password string) (int, string) {
	t.Helper()
	status, form := b.get(t, h.url+"/auth/login?to="+url.QueryEscape(to))
	id := formID.FindStringSubmatch(form)
	if id == nil {
		t.Fatalf("the provider shows no form: %d %s\n%s", status, form, h.log)
	}
	at, _ := url.Parse(b.steps[len(b.steps)-1])
	resp, err := b.PostForm(at.Scheme+"://"+at.Host+"/login/username", url.Values{"id": {id[1]}, "username": {user}, "password": {password}})
	return read(t, resp, err)
}

// realProvider runs the program of scripts/oidc until the test ends.
func realProvider(t *testing.T) func(callback string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "oidc")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "../../scripts/oidc"
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("needs the provider of scripts/oidc, whose modules are not here: %v\n%.500s", err, out)
	}
	return func(callback string) string {
		c := exec.Command(program, callback)
		stdin, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stdin.Close(); c.Wait() })
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
}

// TestRealProvider signs in by a provider's program, on the page and on a command line.
func TestRealProvider(t *testing.T) {
	soak.Long(t, "a provider is built")
	h := newHub(t, realProvider(t))
	b := newBrowser(t)
	if status, _ := b.get(t, h.url+"/auth/me"); status != http.StatusUnauthorized {
		t.Fatalf("nobody is answered with %d", status)
	}
	if _, text := b.signIn(t, h, "/auth/me", "test-user@127.0.0.1", "guessed"); strings.Contains(text, "test-user@zitadel.ch") {
		t.Fatalf("a wrong password signs in: %s", text)
	}
	status, text := b.signIn(t, h, "/auth/me", "test-user@127.0.0.1", "verysecure")
	var me Me
	if err := json.Unmarshal([]byte(text), &me); status != http.StatusOK || err != nil {
		t.Fatalf("%d %s\n%s", status, text, h.log)
	}
	if me.Name != "test-user@zitadel.ch" || fmt.Sprint(me.Groups, me.Scopes) != "[dev ops] [approve terminal:read]" {
		t.Errorf("they are %+v", me)
	}

	// What came back is for this browser, and once.
	callback := ""
	for _, s := range b.steps {
		if strings.HasPrefix(s, h.url+"/auth/callback") {
			callback = s
		}
	}
	for name, who := range map[string]*browser{"the same browser": b, "another": newBrowser(t)} {
		if status, text := who.get(t, callback); status != http.StatusBadRequest || !strings.Contains(text, "begun no sign-in") {
			t.Errorf("the answer again, in %s: %d %s", name, status, text)
		}
	}
	// One who stole the cookie, too, gets nothing for the code.
	thief := newBrowser(t)
	u, _ := url.Parse(callback)
	s := underway{State: u.Query().Get("state"), Nonce: "n", Verifier: strings.Repeat("v", 43), To: "/", Until: time.Now().Add(time.Minute)}
	thief.Jar.SetCookies(u, []*http.Cookie{{Name: signInCookie, Value: h.desk.sealed(t, s), Path: "/"}})
	if status, text := thief.get(t, callback); status != http.StatusForbidden {
		t.Errorf("a code that was used: %d %s", status, text)
	}

	// A command line: another browser must sign in first, then makes a token.
	other := newBrowser(t)
	status, text = other.signIn(t, h, "/auth/token", "test-user2", "verysecure")
	if status != http.StatusOK || !strings.Contains(text, "test-user2@zitadel.ch") || !strings.Contains(text, `action="/auth/token"`) {
		t.Fatalf("the page is %d %s", status, text)
	}
	_, token := other.makes(t, h)
	if status, me := asked(t, h, token); status != http.StatusOK || me.Name != "test-user2@zitadel.ch" || fmt.Sprint(me.Scopes) != "[terminal:read]" {
		t.Errorf("its token is %d %+v", status, me)
	}

	// The page says who it is; its button ends the session at once.
	if _, text := b.get(t, h.url); !strings.Contains(text, "signed in as test-user@zitadel.ch. You may: approve, terminal:read.") || !strings.Contains(text, `action="/auth/logout"`) {
		t.Errorf("the page is %s", text)
	}
	req, _ := http.NewRequest(http.MethodPost, h.url+"/auth/logout", nil)
	req.Header.Set("Accept", "text/html,*/*")
	resp, err := b.Do(req)
	if status, text = read(t, resp, err); status != http.StatusOK || !strings.Contains(text, "Signed out") {
		t.Errorf("signing out: %d %s", status, text)
	}
	if status, _ := b.get(t, h.url+"/auth/me"); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	notes := strings.Join(h.notes, "\n")
	for _, want := range []string{"test-user@zitadel.ch sign in done", " sign in refused", "test-user2@zitadel.ch sign in done", "test-user@zitadel.ch sign out done"} {
		if !strings.Contains(notes, want) {
			t.Errorf("of %q there is no note in\n%s", want, notes)
		}
	}
	if log := h.log.String(); strings.Contains(log, u.Query().Get("code")) || strings.Contains(log, token) {
		t.Errorf("the log has a credential:\n%s", log)
	}
}

// sealed is the cookie of a sign-in.
func (d *Desk) sealed(t *testing.T, s underway) string {
	t.Helper()
	text, err := d.sealSignIn(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func asked(t *testing.T, h *hub, token string) (status int, me Me) {
	t.Helper()
	req, _ := http.NewRequest(http.MethodGet, h.url+"/auth/me", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	status, text := read(t, resp, err)
	json.Unmarshal([]byte(text), &me)
	return status, me
}

var made = regexp.MustCompile(`<code>(` + tokenPrefix + `[^<]+)</code>`)

// makes has the hub's page make a token for a command line.
func (b *browser) makes(t *testing.T, h *hub) (status int, token string) {
	t.Helper()
	resp, err := b.PostForm(h.url+"/auth/token", nil)
	status, text := read(t, resp, err)
	if m := made.FindStringSubmatch(text); m != nil {
		token = m[1]
	}
	return status, token
}

// as signs a browser in without a provider.
func (b *browser) as(t *testing.T, h *hub, name string, groups ...string) string {
	t.Helper()
	secret, err := h.desk.begin(t.Context(), session{Name: name, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(h.url)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: sessionCookie, Value: secret, Path: "/"}})
	return secret
}

func nowhere(string) string { return "http://127.0.0.1:1" }

// TestCommandLine: a command line's token is made for who has signed in, from the hub's own page.
func TestCommandLine(t *testing.T) {
	h := newHub(t, nowhere)
	b := newBrowser(t)
	if status, token := b.makes(t, h); status != http.StatusUnauthorized || token != "" {
		t.Errorf("for nobody: %d", status)
	}
	b.as(t, h, "ann@example.org", "ops")
	if status, text := b.get(t, h.url+"/auth/token"); status != http.StatusOK || !strings.Contains(text, "ann@example.org") || made.MatchString(text) {
		t.Errorf("the page is %d %s", status, text)
	}
	status, token := b.makes(t, h)
	if status != http.StatusOK {
		t.Fatalf("%d", status)
	}
	if status, me := asked(t, h, token); status != http.StatusOK || me.Name != "ann@example.org" || fmt.Sprint(me.Scopes) != "[approve]" {
		t.Errorf("with the token: %d %+v", status, me)
	}
	for header, want := range map[string]int{"Origin: https://evil.example": http.StatusForbidden, "Authorization: Bearer " + token: http.StatusForbidden} {
		req, _ := http.NewRequest(http.MethodPost, h.url+"/auth/token", nil)
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
		who := b
		if name == "Authorization" {
			who = newBrowser(t)
		}
		resp, err := who.Do(req)
		if status, text := read(t, resp, err); status != want || made.MatchString(text) {
			t.Errorf("with %s: %d %s", name, status, text)
		}
	}
}

// TestSessions: a browser's secret is its cookie's alone, and a session ends.
func TestSessions(t *testing.T) {
	h := newHub(t, nowhere)
	b := newBrowser(t)
	secret := b.as(t, h, "ann@example.org", "dev")
	if status, text := b.get(t, h.url+"/auth/me"); status != http.StatusOK || !strings.Contains(text, "ann@") {
		t.Fatalf("%d %s", status, text)
	}
	for _, token := range []string{secret, tokenPrefix + secret, tokenPrefix + "x", ""} {
		if status, _ := asked(t, h, token); status != http.StatusUnauthorized {
			t.Errorf("the token %q: %d", token, status)
		}
	}
	line, err := h.desk.begin(t.Context(), session{Name: "ann@example.org", Line: true})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(h.url)
	stolen := newBrowser(t)
	stolen.Jar.SetCookies(u, []*http.Cookie{{Name: sessionCookie, Value: line, Path: "/"}})
	if status, _ := stolen.get(t, h.url+"/auth/token"); status != http.StatusBadGateway { // to the provider, which is away
		t.Errorf("a command line's as a cookie: %d", status)
	}
	h.set(time.Now().Add(12*time.Hour + time.Second))
	if status, _ := b.get(t, h.url+"/auth/me"); status != http.StatusUnauthorized {
		t.Errorf("after twelve hours: %d", status)
	}
	if status, _ := asked(t, h, line); status != http.StatusUnauthorized {
		t.Errorf("a command line's after twelve hours: %d", status)
	}
}

// TestCookies: no script reads them, no other page sends them, and they go over TLS only.
func TestCookies(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"https://hub.example.org", "__Host-tandemux-hub=x; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax"},
		{"http://127.0.0.1:7080", "tandemux-hub=x; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"},
	} {
		w := &recorder{header: http.Header{}}
		(&Desk{c: Config{URL: c.url}}).cookie(w, sessionCookie, "x", time.Minute)
		if got := w.header.Get("Set-Cookie"); got != c.want {
			t.Errorf("%s: %s", c.url, got)
		}
	}
}

type recorder struct{ header http.Header }

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
func (r *recorder) WriteHeader(int)             {}

// TestLocal: signing in leads nowhere but to the hub.
func TestLocal(t *testing.T) {
	for to, want := range map[string]string{
		"/": "/", "/hosts": "/hosts", "/auth/token?x=AB-CD": "/auth/token?x=AB-CD", "": "/", "hosts": "/",
		"//evil.example": "/", "/\\evil.example": "/", "/\t/evil.example": "/", "https://evil.example": "/", "javascript:alert(1)": "/",
		"/\n/evil.example": "/", "///evil.example": "/", "http:evil.example": "/", "/x\r\nSet-Cookie: a=b": "/", "/%2f/evil.example": "/%2f/evil.example",
	} {
		if got := local(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

func FuzzLocal(f *testing.F) {
	for _, s := range []string{"/a?b#c", "//x", `/\x`, "/@x", "/:x", "http://x"} {
		f.Add(s)
	}
	base, _ := url.Parse("https://hub.example.org/auth/callback")
	f.Fuzz(func(t *testing.T, to string) {
		u, err := base.Parse(local(to))
		if err != nil || u.Host != base.Host || u.Scheme != base.Scheme || u.User != nil {
			t.Errorf("%q leads to %v, %v", to, u, err)
		}
	})
}

func TestConfig(t *testing.T) {
	const good = "url = 'https://hub.example.org/'\nissuer = 'https://id.example.org'\nclient-id = 'tandemux'\n"
	for doc, want := range map[string]string{
		good: "",
		good + "client-secret-file = 'secret'\n[groups]\ndev = ['terminal:read']\n[people]\n'ann@example.org' = ['admin']": "",
		good + "[groups]\ndev = ['reed']":                           `groups.dev: no scope is named "reed"`,
		good + "hours = 0":                                          "hours is 1 to 720",
		good + "password = 'x'":                                     `"password" means nothing in the people's file`,
		"issuer = 'https://id.example.org'\nclient-id = 'tandemux'": "it has no url",
		"url = 'http://hub.example.org'\nissuer = 'https://id.example.org'\nclient-id = 'x'":        "only https will do",
		"url = 'https://hub.example.org/a'\nissuer = 'https://id.example.org'\nclient-id = 'x'":     "url has a path",
		"url = 'https://hub.example.org'\nissuer = 'https://me:pw@id.example.org'\nclient-id = 'x'": "issuer takes an address",
		"url = 'https://hub.example.org'\nissuer = 'https://id.example.org'":                        "no client-id",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("hunter2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, File)
		if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(path)
		if want == "" && (err != nil || c.URL != "https://hub.example.org" || c.Host() != "hub.example.org" || c.SecretFile != "" && c.secret != "hunter2") {
			t.Errorf("%s: %+v, %v", doc, c, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
}

// TestPage: the example in docs/people.md is read as it is written.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/people.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```text\n")
	doc, _, _ := strings.Cut(rest, "```")
	dir := t.TempDir()
	for name, text := range map[string]string{File: doc, "people.secret": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Read(filepath.Join(dir, File))
	if err != nil || len(c.Groups) != 2 || len(c.People) != 1 {
		t.Errorf("it is %+v, %v", c, err)
	}
}
