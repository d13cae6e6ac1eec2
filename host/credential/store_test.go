package credential

import (
	"fmt"
	"strings"
	"testing"

	"tandemux/host/agent"
)

var forge = agent.Resource{URI: "https://forge.example", Variable: "FORGE_TOKEN", Required: true}

func TestStore(t *testing.T) {
	type end struct {
		who string
		r   agent.Resource
	}
	ended := make(chan end, 1)
	gone := ""
	s := New(func(who string) bool { return who != gone }, func(who string, r agent.Resource) { ended <- end{who, r} })
	has := func(who, want string) {
		t.Helper()
		env, ok := s.Env(who, &forge)
		if ok != (want != "") || fmt.Sprint(env) != map[bool]string{true: "[{FORGE_TOKEN " + want + "}]", false: "[]"}[want != ""] {
			t.Errorf("%s has %v, %v; want %q", who, env, ok, want)
		}
	}
	has("a", "")
	s.Put("a", forge, "one", nil)
	has("a", "one")
	has("b", "")
	s.Put("a", forge, "two", seconds(3600))
	has("a", "two")
	if !s.Revoke("a", forge) || s.Revoke("a", forge) {
		t.Error("a token is revoked once")
	}
	has("a", "")
	s.Put("a", forge, "three", seconds(1e-9))
	if got := <-ended; got.who != "a" || got.r.URI != forge.URI {
		t.Errorf("%+v has ended", got)
	}
	has("a", "")
	for i := range maxHeld + 1 {
		if s.Put(fmt.Sprint(i), forge, "x", nil) != (i < maxHeld) {
			t.Fatalf("%d tokens", i)
		}
	}
	gone = "1"
	has("1", "")
	if !s.Put("more", forge, "x", nil) || s.Put("too many", forge, "x", nil) {
		t.Error("one that is gone leaves its place to one")
	}
	gone = ""
	has("1", "")
	has("2", "x")
	s.Close()
	has("2", "")

	optional := forge
	optional.Required = false
	if env, ok := s.Env("a", &optional); !ok || env != nil {
		t.Errorf("an optional one: %v, %v", env, ok)
	}
	for _, none := range []*Store{nil, s} {
		if env, ok := none.Env("a", nil); !ok || env != nil {
			t.Errorf("an agent without: %v, %v", env, ok)
		}
	}
	for text, want := range map[string]bool{"gho_x.y/z+1=": true, strings.Repeat("x", maxToken+1): false, "a b": false, "a\n": false, "a\x00": false, "é": false} {
		if (Unusable(text, nil) == "") != want {
			t.Errorf("%.9q: %s", text, Unusable(text, nil))
		}
	}
	if Unusable("x", seconds(0)) == "" || Unusable("x", seconds(1e300)) != "" {
		t.Error("a token's life is more than nothing")
	}
}

func seconds(n float64) *float64 { return &n }
