package passkey

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	rp     = "box.example"
	origin = "https://box.example:7443"
)

// authenticator is one that a test holds.
type authenticator struct {
	t     *testing.T
	key   *ecdsa.PrivateKey
	id    []byte
	user  []byte
	count uint32

	// What it says, or the browser; a test may change it.
	rp, origin, kind string
	flags            byte
}

func newAuthenticator(t *testing.T) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 20)
	rand.Read(id)
	return &authenticator{t: t, key: key, id: id, rp: rp, origin: origin, flags: present | verified}
}

func (a *authenticator) data(flags byte) []byte {
	sum := sha256.Sum256([]byte(a.rp))
	return binary.BigEndian.AppendUint32(append(sum[:], flags), a.count)
}

func (a *authenticator) client(kind string, o Options) []byte {
	if a.kind != "" {
		kind = a.kind
	}
	text, err := json.Marshal(o["challenge"])
	if err != nil {
		a.t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"type":%q,"challenge":%s,"origin":%q,"crossOrigin":false}`, kind, text, a.origin)
}

func (a *authenticator) make(o Options) Response {
	a.user = o["user"].(map[string]any)["id"].(bytes64)
	public, err := x509.MarshalPKIXPublicKey(&a.key.PublicKey)
	if err != nil {
		a.t.Fatal(err)
	}
	data := append(a.data(a.flags|attested), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(a.id))), a.id...)
	return Response{ID: a.id, Client: a.client(create, o), Authenticator: data, Public: public}
}

func (a *authenticator) use(o Options) Response {
	r := Response{ID: a.id, Client: a.client(get, o), Authenticator: a.data(a.flags), User: a.user}
	sum := sha256.Sum256(r.Client)
	sum = sha256.Sum256(append(append([]byte(nil), r.Authenticator...), sum[:]...))
	var err error
	if r.Signature, err = ecdsa.SignASN1(rand.Reader, a.key, sum[:]); err != nil {
		a.t.Fatal(err)
	}
	return r
}

func open(t *testing.T, now *time.Time) *Store {
	return Open(t.TempDir(), func() time.Time { return *now }, slog.New(slog.DiscardHandler))
}

// TestPasskey: one that was made is known again, also by the next host; anything else than
// what was asked, where, of whom, is refused, and each question is answered once.
func TestPasskey(t *testing.T) {
	now := time.Now()
	s := open(t, &now)
	for what, change := range map[string]func(a *authenticator, r *Response){
		"nobody there":    func(a *authenticator, r *Response) { r.Authenticator[32] = verified | attested },
		"nobody verified": func(a *authenticator, r *Response) { r.Authenticator[32] = present | attested },
		"another host":    func(a *authenticator, r *Response) { r.Authenticator[0] ^= 1 },
		"another id":      func(a *authenticator, r *Response) { r.ID = append(bytes64(nil), r.ID[1:]...) },
		"cut short":       func(a *authenticator, r *Response) { r.Authenticator = r.Authenticator[:40] },
		"no key":          func(a *authenticator, r *Response) { r.Public = r.Public[:20] },
		"no JSON":         func(a *authenticator, r *Response) { r.Client = []byte("x") },
		"another page": func(a *authenticator, r *Response) {
			r.Client = []byte(strings.Replace(string(r.Client), "box.example", "evil.example", 1))
		},
	} {
		a := newAuthenticator(t)
		r := a.make(s.New(rp, "t1", "x"))
		change(a, &r)
		if s.Add(rp, origin, "t1", r) == nil {
			t.Errorf("made with %s", what)
		}
	}
	a := newAuthenticator(t)
	r := a.make(s.New(rp, "t1", "x"))
	if s.Add(rp, origin, "another token", r) == nil {
		t.Error("another browser's question was answered")
	}
	r = a.make(s.New(rp, "t1", "x"))
	if err := s.Add(rp, origin, "t1", r); err != nil {
		t.Fatal(err)
	}
	if s.Add(rp, origin, "t1", r) == nil {
		t.Error("an answer counts twice")
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s = Open(filepath.Dir(s.path), s.now, s.log)
	r = a.use(s.Ask(rp))
	if k, err := s.Check(rp, origin, r); err != nil || k.Tokens[0] != "t1" {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := s.Check(rp, origin, r); err == nil {
		t.Error("an answer counts twice")
	}
	for what, change := range map[string]func(a *authenticator, r *Response){
		"another signature": func(_ *authenticator, r *Response) { r.Signature[len(r.Signature)-1] ^= 1 },
		"another's data":    func(_ *authenticator, r *Response) { r.Authenticator[33] ^= 1 },
		"another id":        func(_ *authenticator, r *Response) { r.ID = append(bytes64{1}, r.ID[1:]...) },
		"another user":      func(_ *authenticator, r *Response) { r.User = bytes64("x") },
		"another's key":     func(_ *authenticator, r *Response) { *r = newAuthenticator(t).use(s.Ask(rp)); r.ID = a.id },
	} {
		r := a.use(s.Ask(rp))
		change(a, &r)
		if _, err := s.Check(rp, origin, r); err == nil {
			t.Errorf("used with %s", what)
		}
	}
	for what, b := range map[string]authenticator{
		"another kind": {kind: create, rp: rp, origin: origin, flags: present | verified}, "another host": {rp: "evil.example", origin: origin, flags: present | verified},
		"another page": {rp: rp, origin: "https://evil.example", flags: present | verified}, "another port": {rp: rp, origin: "https://box.example", flags: present | verified},
		"nobody there": {rp: rp, origin: origin, flags: verified}, "nobody verified": {rp: rp, origin: origin, flags: present},
	} {
		b.t, b.key, b.id, b.user = t, a.key, a.id, a.user
		if _, err := s.Check(rp, origin, b.use(s.Ask(rp))); err == nil {
			t.Errorf("used with %s", what)
		}
	}
	old := s.Ask(rp)
	now = now.Add(challengeTime + time.Second)
	if _, err := s.Check(rp, origin, a.use(old)); err == nil {
		t.Error("a question is answered too late")
	}
	// A counter that goes back is a copy's.
	a.count = 5
	if _, err := s.Check(rp, origin, a.use(s.Ask(rp))); err != nil {
		t.Error(err)
	}
	for _, a.count = range []uint32{5, 4, 0} {
		if _, err := s.Check(rp, origin, a.use(s.Ask(rp))); err == nil {
			t.Errorf("the counter went to %d", a.count)
		}
	}
	a.count = 6
	if err := s.Got(a.id, "t2"); err != nil || !slices.Contains(s.keys[0].Tokens, "t2") {
		t.Errorf("t2 has no passkey: %v", err)
	}
	if err := s.Prune(func(id string) bool { return id == "t2" }); err != nil || len(s.keys) != 0 {
		t.Errorf("it outlived its token: %v", err)
	}
	if _, err := s.Check(rp, origin, a.use(s.Ask(rp))); err == nil {
		t.Error("it lets in after its token's end")
	}
	for range 3 * maxChallenges {
		s.Ask(rp)
	}
	if len(s.given) != maxChallenges {
		t.Errorf("%d questions are open", len(s.given))
	}
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{"localhost:7070": "localhost", "box.example": "box.example", "127.0.0.1:7070": "", "[::1]:7070": "", "::1": "", "": ""} {
		if got, err := Host(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", address, got, err)
		}
	}
}

// FuzzResponse: whatever a browser brings, nothing that the passkey has not signed is taken.
func FuzzResponse(f *testing.F) {
	b64 := base64.RawURLEncoding.EncodeToString
	f.Add(`{"id":"AQ","clientData":"` + b64([]byte(`{"type":"webauthn.get","challenge":"AAAA","origin":"`+origin+`"}`)) + `","authenticatorData":"` + b64(make([]byte, 37)) + `","signature":"MAA"}`)
	f.Add(`{"id":"AQ","clientData":"e30","authenticatorData":"","publicKey":"MAA"}`)
	f.Add(`{}`)
	now := time.Now()
	s := Open(f.TempDir(), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		f.Fatal(err)
	}
	s.keys = []Key{{ID: bytes64{1}, Public: public, RP: rp, Tokens: []string{"t"}}}
	f.Fuzz(func(t *testing.T, text string) {
		var r Response
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		s.given = []challenge{{text: []byte{0, 0, 0}, kind: get, until: now.Add(time.Minute)}, {text: []byte{1, 0, 0}, kind: create, token: "t", until: now.Add(time.Minute)}}
		if _, err := s.Check(rp, origin, r); err == nil {
			t.Errorf("taken: %s", text)
		}
		s.Add(rp, origin, "t", r) //nolint:errcheck // it must not panic
		s.keys = s.keys[:1]
	})
}
