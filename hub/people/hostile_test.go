package people

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// liar is a provider that says whatever a test wants. What a real one says is
// TestRealProvider's.
type liar struct {
	*httptest.Server
	key, other *rsa.PrivateKey
	// Of the last that was sent to it.
	nonce, challenge, redirect, state string

	change   func(l *liar, claims map[string]any) // of the ID token
	alg      string
	userinfo map[string]any
	token    func(w http.ResponseWriter, r *http.Request) bool // in place of the answer
	callback func(q url.Values)
}

const grade = 2048

func newLiar(t *testing.T) *liar {
	t.Helper()
	l := &liar{}
	for _, key := range []**rsa.PrivateKey{&l.key, &l.other} {
		made, err := rsa.GenerateKey(rand.Reader, grade)
		if err != nil {
			t.Fatal(err)
		}
		*key = made
	}
	mux := http.NewServeMux()
	say := func(path string, v func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(v())
		})
	}
	say("/.well-known/openid-configuration", func() any {
		return map[string]any{
			"issuer": l.URL, "authorization_endpoint": l.URL + "/auth", "token_endpoint": l.URL + "/token", "jwks_uri": l.URL + "/keys",
			"userinfo_endpoint": l.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"none", "HS256", "RS256"},
		}
	})
	say("/keys", func() any {
		return map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "k", "use": "sig", "alg": "RS256", "n": b64(l.key.N.Bytes()), "e": b64(big.NewInt(int64(l.key.E)).Bytes()),
		}}}
	})
	say("/userinfo", func() any { return l.userinfo })
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		l.nonce, l.challenge, l.redirect, l.state = q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("state")
		back := url.Values{"code": {"a-code"}, "state": {l.state}}
		if l.callback != nil {
			l.callback(back)
		}
		http.Redirect(w, r, l.redirect+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if l.token != nil && l.token(w, r) {
			return
		}
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		user, secret, _ := r.BasicAuth()
		if b64(sum[:]) != l.challenge || r.FormValue("code") != "a-code" || user+secret != "websecret" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
		now := time.Now().Unix()
		claims := map[string]any{"iss": l.URL, "aud": "web", "sub": "number-1", "nonce": l.nonce, "exp": now + 300, "iat": now, "email": "ann@example.org", "email_verified": true, "groups": []string{"ops"}}
		if l.change != nil {
			l.change(l, claims)
		}
		maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"access_token": "an-access-token", "token_type": "Bearer", "id_token": l.sign(claims)})
	})
	l.Server = httptest.NewServer(mux)
	t.Cleanup(l.Close)
	return l
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (l *liar) sign(claims map[string]any) string {
	alg := l.alg
	if alg == "" || alg == "other key" {
		alg = "RS256"
	}
	head, _ := json.Marshal(map[string]string{"alg": alg, "kid": "k", "typ": "JWT"})
	body, _ := json.Marshal(claims)
	text := b64(head) + "." + b64(body)
	sum := sha256.Sum256([]byte(text))
	switch l.alg {
	case "none":
		return text + "."
	case "HS256": // with what the hub knows: its secret
		mac := hmac.New(sha256.New, []byte("secret"))
		mac.Write([]byte(text))
		return text + "." + b64(mac.Sum(nil))
	}
	key := l.key
	if l.alg == "other key" {
		key = l.other
	}
	sig, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + b64(sig)
}

// TestLies: nothing that a provider, or who stands for one, gets wrong lets anybody in.
func TestLies(t *testing.T) {
	l := newLiar(t)
	h := newHub(t, func(string) string { return l.URL })
	set := func(name string, v any) func(*liar, map[string]any) {
		return func(_ *liar, c map[string]any) { c[name] = v }
	}
	at := func(name string, d time.Duration) func(*liar, map[string]any) {
		return func(_ *liar, c map[string]any) { c[name] = time.Now().Add(d).Unix() }
	}
	type tell = func(w http.ResponseWriter, r *http.Request) bool
	for _, c := range []struct {
		name     string
		change   func(*liar, map[string]any)
		alg      string
		userinfo map[string]any
		token    tell
		callback func(url.Values)
		who      string // who is signed in, empty: nobody
		log      string
	}{
		{name: "the truth", who: "ann@example.org [ops]"},
		{name: "issuer", change: set("iss", "https://evil.example"), log: "issued by a different provider"},
		{name: "audience", change: set("aud", "another"), log: "expected audience"},
		{name: "no audience", change: set("aud", nil), log: "expected audience"},
		{name: "made for another", change: func(_ *liar, c map[string]any) { c["aud"], c["azp"] = []string{"web", "another"}, "another" }, log: "azp"},
		{name: "for several, for whom is not said", change: set("aud", []string{"web", "another"}), log: "azp"},
		{name: "for several, made for the hub", change: func(_ *liar, c map[string]any) { c["aud"], c["azp"] = []string{"web", "another"}, "web" }, who: "ann@example.org [ops]"},
		{name: "nonce", change: set("nonce", "another"), log: "nonce"},
		{name: "no nonce", change: set("nonce", nil), log: "nonce"},
		{name: "nobody", change: set("sub", ""), log: "of nobody"},
		{name: "expired", change: at("exp", -2*time.Minute), log: "expired"},
		{name: "no end", change: set("exp", nil), log: "expired"},
		{name: "a clock that is half a minute ahead", change: at("iat", 30*time.Second), who: "ann@example.org [ops]"},
		{name: "a clock that is half a minute behind", change: at("exp", -30*time.Second), who: "ann@example.org [ops]"},
		{name: "from the future", change: at("iat", 2*time.Minute), log: "from the future"},
		{name: "not yet", change: at("nbf", 10*time.Minute), log: "nbf"},
		{name: "alg none", alg: "none", log: "the ID token"},
		{name: "alg HS256 with the client's secret", alg: "HS256", log: "the ID token"},
		{name: "another key", alg: "other key", log: "failed to verify"},
		{name: "another access token", change: set("at_hash", b64(make([]byte, 16))), log: "access token hash"},
		{name: "an address that is not verified", change: set("email_verified", false), who: "number-1 [ops]"},
		{name: "the operator", change: set("email", "operator"), log: "of no use"},
		{name: "a token", change: set("email", "token:ci"), log: "of no use"},
		{name: "a name that draws", change: set("email", "ann\x1b[2J@example.org"), log: "of no use"},
		{name: "a name that is too long", change: set("email", strings.Repeat("a", maxName+1)), log: "of no use"},
		{name: "groups of another kind", change: set("groups", []any{1, "ops", map[string]any{}, "a\nb", ""}), who: "ann@example.org [ops]"},
		{name: "one group", change: set("groups", "ops"), who: "ann@example.org [ops]"},
		{name: "groups by userinfo", change: set("groups", nil), userinfo: map[string]any{"sub": "number-1", "groups": []string{"dev"}, "email": "eve@example.org"}, who: "ann@example.org [dev]"},
		{name: "userinfo of another", change: set("groups", nil), userinfo: map[string]any{"sub": "number-2", "groups": []string{"dev"}}, log: "another person"},
		{name: "no token", token: func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"x","token_type":"Bearer"}`)
			return true
		}, log: "the ID token"},
		{name: "the code is refused", token: func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, `{"error":"invalid_grant","error_description":"hunter2"}`, http.StatusBadRequest)
			return true
		}, log: "does not take the code"},
		{name: "a redirect", token: func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://127.0.0.1:1/token", http.StatusTemporaryRedirect)
			return true
		}, log: "redirect"},
		{name: "without end", token: func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"`)
			for range 3 << 10 {
				if _, err := w.Write(make([]byte, 1024)); err != nil {
					break
				}
			}
			return true
		}, log: "exchange the code"},
		{name: "another state", callback: func(q url.Values) { q.Set("state", "x") }, log: "for another sign-in"},
		{name: "no state", callback: func(q url.Values) { q.Del("state") }, log: "for another sign-in"},
		{name: "no code", callback: func(q url.Values) { q.Del("code") }, log: "has no code"},
		{name: "a code of another", callback: func(q url.Values) { q.Set("code", "stolen") }, log: "does not take the code"},
		{name: "another provider", callback: func(q url.Values) { q.Set("iss", "https://evil.example") }, log: "is of the issuer"},
		{name: "a refusal", callback: func(q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
			q.Set("error_description", "<script>alert(1)</script>\x1b[2J")
		}, log: "access_denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.change, l.alg, l.userinfo, l.token, l.callback = c.change, c.alg, c.userinfo, c.token, c.callback
			before := len(h.log.String())
			b := newBrowser(t)
			status, text := b.get(t, h.url+"/auth/login?to=/auth/me")
			log := h.log.String()[before:]
			var me Me
			json.Unmarshal([]byte(text), &me)
			if c.who != "" {
				if got := fmt.Sprint(me.Name, " ", me.Groups); status != http.StatusOK || got != c.who {
					t.Errorf("signed in is %s (%d), want %s\n%s", got, status, c.who, log)
				}
				return
			}
			if me.Name != "" || status < 400 {
				t.Errorf("%q is signed in (%d)", me.Name, status)
			}
			if status, _ := b.get(t, h.url+"/auth/me"); status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
				t.Errorf("the browser has a session: %d", status)
			}
			if !strings.Contains(log, c.log) {
				t.Errorf("the log does not say %q:\n%s", c.log, log)
			}
			if strings.Contains(text, "<script") || strings.Contains(log, "hunter2") || strings.Contains(log, "an-access-token") || strings.Contains(log, "\x1b") {
				t.Errorf("it is told\n%s\n%s", text, log)
			}
		})
	}
}

// TestCallback: an answer is for the browser that asked, of this hub, in time, and once.
func TestCallback(t *testing.T) {
	l := newLiar(t)
	h := newHub(t, func(string) string { return l.URL })
	other := newHub(t, func(string) string { return l.URL })
	begin := func() (*browser, string) { // up to the answer, which is not followed
		b := newBrowser(t)
		b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if strings.Contains(r.URL.Path, "callback") {
				return http.ErrUseLastResponse
			}
			return nil
		}
		resp, err := b.Get(h.url + "/auth/login")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return b, resp.Header.Get("Location")
	}
	refused := func(name string, b *browser, at, want string) {
		t.Helper()
		if status, text := b.get(t, at); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	_, at := begin()
	refused("somebody is led to another's answer", newBrowser(t), at, "begun no sign-in")
	mine, _ := begin()
	_, theirs := begin()
	refused("another's answer in the midst of one's own", mine, theirs, "another sign-in")
	b, at := begin()
	h.set(time.Now().Add(signInTime + time.Second))
	refused("too late", b, at, "took too long")
	h.set(time.Time{})
	b, at = begin()
	u, _ := url.Parse(at)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: signInCookie, Value: other.desk.sealed(t, underway{State: u.Query().Get("state"), Until: time.Now().Add(time.Minute)}), Path: "/"}})
	refused("a cookie that another hub made", b, at, "another hub")
	b, at = begin()
	if status, text := b.get(t, at); status != http.StatusOK || !strings.Contains(text, "signed in as ann@example.org") {
		t.Errorf("the answer itself: %d %s", status, text)
	}
	refused("once more", b, at, "begun no sign-in")
}
