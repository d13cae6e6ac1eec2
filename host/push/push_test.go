package push

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/host/hooks"
)

func unb64(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestExample is the example of RFC 8291, section 5.
func TestExample(t *testing.T) {
	own, err := ecdh.P256().NewPrivateKey(unb64(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := encrypt([]byte("When I grow up, I want to be a watermelon"),
		unb64(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
		unb64(t, "BTBZMqHH6r4Tts7J_aSIgg"), unb64(t, "DGv6ra1nlYgDCS1FRnbzlw"), own)
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if err != nil || base64.RawURLEncoding.EncodeToString(got) != want {
		t.Errorf("%s, %v", base64.RawURLEncoding.EncodeToString(got), err)
	}
}

// service is a push service on loopback, with the page behind it.
type service struct {
	*httptest.Server
	t      *testing.T
	page   *ecdh.PrivateKey
	auth   []byte
	key    string // the host's, that the page subscribed with
	status atomic.Int64
	asked  atomic.Int64

	mu   sync.Mutex
	told []string
}

func newService(t *testing.T) *service {
	s := &service{t: t, auth: make([]byte, 16)}
	s.status.Store(http.StatusCreated)
	var err error
	if s.page, err = ecdh.P256().GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	rand.Read(s.auth)
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP checks that a message is the host's (RFC 8292), and reads it as the page does
// (RFC 8291).
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	if status := int(s.status.Load()); status != http.StatusCreated {
		w.Header().Set("Location", "https://127.0.0.1/elsewhere")
		w.WriteHeader(status)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = s.authorized(r.Header.Get("Authorization"))
	}
	var text string
	if err == nil {
		text, err = s.decrypt(body)
	}
	if err != nil || r.Header.Get("Content-Encoding") != "aes128gcm" || r.Header.Get("TTL") == "" || r.Method != http.MethodPost {
		s.t.Errorf("%s %v: %v", r.Method, r.Header, err)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.mu.Lock()
	s.told = append(s.told, text)
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
}

func (s *service) authorized(header string) error {
	token, key, ok := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if !ok || key != s.key || len(parts) != 3 {
		return fmt.Errorf("authorization %q", header)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), unb64(s.t, key))
	if err != nil {
		return err
	}
	sum, sig := sha256.Sum256([]byte(parts[0]+"."+parts[1])), unb64(s.t, parts[2])
	if len(sig) != 64 || !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		return fmt.Errorf("the signature is not the key's")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(unb64(s.t, parts[1]), &claims); err != nil {
		return err
	}
	if left := time.Until(time.Unix(claims.Exp, 0)); claims.Aud != s.URL || left <= 0 || left > 24*time.Hour || claims.Sub != "mailto:me@example.org" {
		return fmt.Errorf("claims %+v", claims)
	}
	return nil
}

func (s *service) decrypt(body []byte) (string, error) {
	if len(body) < 21+65+17 || body[20] != 65 {
		return "", fmt.Errorf("a body of %d bytes", len(body))
	}
	salt, from := body[:16], body[21:86]
	key, err := ecdh.P256().NewPublicKey(from)
	if err != nil {
		return "", err
	}
	shared, err := s.page.ECDH(key)
	if err != nil {
		return "", err
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		k, err := hkdf.Key(sha256.New, secret, salt, info, n)
		if err != nil {
			s.t.Fatal(err)
		}
		return k
	}
	secret := derive(shared, s.auth, "WebPush: info\x00"+string(s.page.PublicKey().Bytes())+string(from), 32)
	block, err := aes.NewCipher(derive(secret, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return "", err
	}
	open, err := cipher.NewGCM(block)
	if err != nil {
		return "", err
	}
	text, err := open.Open(nil, derive(secret, salt, "Content-Encoding: nonce\x00", 12), body[86:], nil)
	return strings.TrimSuffix(string(text), "\x02"), err
}

func (s *service) subscription(token, path string) Subscription {
	return Subscription{
		Token: token, Endpoint: s.URL + path, Page: base64.RawURLEncoding.EncodeToString(s.page.PublicKey().Bytes()),
		Auth: base64.RawURLEncoding.EncodeToString(s.auth),
	}
}

func (s *service) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.told...)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not reached: %s", what)
		}
	}
}

// on is a Pusher that may reach the service, which a real one may not: it is on loopback.
func on(t *testing.T, dir string, s *service, valid func(string) bool) *Pusher {
	p := Open(Options{State: dir, Log: slog.New(slog.DiscardHandler), Contact: func() string { return "mailto:me@example.org" }})
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	p.client = s.Client()
	p.client.CheckRedirect = public().CheckRedirect
	p.anywhere = true
	p.Begin(valid)
	t.Cleanup(p.Close)
	key, err := p.Key()
	if err != nil {
		t.Fatal(err)
	}
	s.key = key
	return p
}

// TestPush: a page is told in words of ours alone, in the name of a key that stays, until
// its token is none any more.
func TestPush(t *testing.T) {
	s, dir := newService(t), t.TempDir()
	var revoked atomic.Bool
	valid := func(token string) bool { return token == "a" && !revoked.Load() }
	p := on(t, dir, s, valid)
	if err := p.Subscribe(s.subscription("a", "/push/1")); err != nil {
		t.Fatal(err)
	}
	took, code := int64(20000), 1
	p.Tell(Text(hooks.Event{Event: hooks.Command, Command: &hooks.Ran{Line: "rm -rf secret", ExitCode: &code, DurationMs: &took}}))
	eventually(t, "it is told", func() bool { return len(s.heard()) == 1 })
	if got := s.heard()[0]; got != "A long command has failed." {
		t.Errorf("told was %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, "push.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("push.json: %v, %v", info, err)
	}
	p.Close()
	old := s.key
	p = on(t, dir, s, valid)
	if s.key != old {
		t.Error("the next host has another key")
	}
	p.Tell("again")
	eventually(t, "the next host tells, too", func() bool { return len(s.heard()) == 2 })
	revoked.Store(true)
	p.Tell("not any more")
	eventually(t, "it is forgotten", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.kept.Subscriptions) == 0 })
	if text, _ := os.ReadFile(filepath.Join(dir, "push.json")); strings.Contains(string(text), "/push/1") {
		t.Error("the file has it still")
	}
	if n := len(s.heard()); n != 2 {
		t.Errorf("it was told %d times", n)
	}
}

// TestAnswers: what a service answers: gone ends the subscription, a redirect is not
// followed, a fault is tried again and not for ever.
func TestAnswers(t *testing.T) {
	before := pauses
	pauses = []time.Duration{time.Millisecond, time.Millisecond}
	t.Cleanup(func() { pauses = before })
	for status, want := range map[int]struct {
		asked int64
		stays bool
	}{201: {1, true}, 307: {1, true}, 404: {1, false}, 410: {1, false}, 400: {1, true}, 413: {1, true}, 429: {3, true}, 503: {3, true}} {
		s := newService(t)
		p := on(t, t.TempDir(), s, func(string) bool { return true })
		s.status.Store(int64(status))
		if err := p.Subscribe(s.subscription("a", "/x")); err != nil {
			t.Fatal(err)
		}
		p.Tell("x")
		eventually(t, fmt.Sprintf("%d: asked %d times", status, want.asked), func() bool { return s.asked.Load() == want.asked })
		p.Tell("y") // comes when x is done with
		eventually(t, "the next", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.waiting) == 0 && (len(p.kept.Subscriptions) == 1) == want.stays
		})
		p.Close()
		if n := s.asked.Load(); n < want.asked || n > 2*want.asked {
			t.Errorf("%d: it was asked %d times", status, n)
		}
	}
}

// TestNoPrivateAddress: a page can't have the host call what is inside.
func TestNoPrivateAddress(t *testing.T) {
	s := newService(t)
	for _, at := range []string{
		"http://push.example/x", "https://127.0.0.1/x", "https://[::1]:8443/x", "https://10.1.2.3/x", "https://192.168.0.1/", "https://169.254.169.254/latest",
		"https://100.64.0.1/", "https://[fd00::1]/", "https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://0.0.0.0/", "https://user@push.example/",
		"ftp://push.example/", "https://", "file:///etc/passwd", "https://push.example/" + strings.Repeat("x", maxEndpoint), "", "https://[fe80::1%25eth0]/", "https://224.0.0.1/",
	} {
		if checkEndpoint(at) == nil {
			t.Errorf("%.60s may be told", at)
		}
	}
	for _, at := range []string{"https://fcm.googleapis.com/fcm/send/x", "https://updates.push.services.mozilla.com/wpush/v2/x", "https://web.push.apple.com/x", "https://8.8.8.8/x"} {
		if err := checkEndpoint(at); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	// A name that leads inside is found out when it is dialled.
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	for _, at := range []string{"https://localhost:" + port + "/", s.URL} {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := public().Do(r); err == nil || !strings.Contains(err.Error(), "private network") {
			t.Errorf("%s: %v", at, err)
		}
	}
	if s.asked.Load() != 0 {
		t.Error("the service on loopback was asked")
	}
}

// FuzzEndpoint: what is let through is https at a public address or a name.
func FuzzEndpoint(f *testing.F) {
	for _, s := range []string{"https://push.example/x", "https://127.0.0.1/", "https://[::ffff:10.0.0.1]/", "https://0x7f000001/", "https://①②⑦.0.0.1/", "https://a@b/", "HTTPS://8.8.8.8"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkEndpoint(text) != nil {
			return
		}
		if !strings.HasPrefix(strings.ToLower(text), "https://") || len(text) > maxEndpoint {
			t.Errorf("let through: %q", text)
		}
		host, _, _ := strings.Cut(text[len("https://"):], "/")
		if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && !hooks.IsPublic(ip) {
			t.Errorf("let through: %q", text)
		}
	})
}

// TestBounds: the oldest of a token goes; an endpoint is one page's.
func TestBounds(t *testing.T) {
	s := newService(t)
	p := on(t, t.TempDir(), s, func(string) bool { return true })
	for i := range maxOfToken + 3 {
		if err := p.Subscribe(s.subscription("a", fmt.Sprint("/", i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.kept.Subscriptions); n != maxOfToken || !strings.HasSuffix(p.kept.Subscriptions[0].Endpoint, "/3") {
		t.Errorf("%d are kept, from %s on", n, p.kept.Subscriptions[0].Endpoint)
	}
	if err := p.Subscribe(s.subscription("b", "/5")); err != nil || len(p.kept.Subscriptions) != maxOfToken {
		t.Errorf("an endpoint of another's: %d, %v", len(p.kept.Subscriptions), err)
	}
	bad := s.subscription("a", "/x")
	bad.Auth = "AAAA"
	if p.Subscribe(bad) == nil {
		t.Error("4 bytes are an auth secret")
	}
	bad = s.subscription("a", "/x")
	bad.Page = base64.RawURLEncoding.EncodeToString(make([]byte, 65))
	if p.Subscribe(bad) == nil {
		t.Error("no point of the curve is a key")
	}
	if err := p.Unsubscribe("a"); err != nil || len(p.kept.Subscriptions) != 1 {
		t.Errorf("%d are left, %v", len(p.kept.Subscriptions), err)
	}
}
