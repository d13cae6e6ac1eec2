package auth

import (
	"testing"

	"tandemux/ahp"
)

// TestIdentityIsNobodyElses: no clientId gives an agent the session, or makes it the
// principal, of one that has an identity.
func TestIdentityIsNobodyElses(t *testing.T) {
	as := func(p *Principal, identity, clientID string) *Principal {
		t.Helper()
		g, err := p.AsAgent(&ahp.AgentMeta{Name: "claude", Identity: identity}, clientID)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	token := (&Token{TokenInfo: ahp.TokenInfo{ID: "b", Scopes: []string{ScopeRead, ScopeCreate}}}).Principal()
	known := as(Operator, "1234", "a")
	if again := as(Operator, "1234", "b"); again.ID != known.ID || again.Session != known.Session {
		t.Errorf("it comes back as %s with %s; it was %s with %s", again.ID, again.Session, known.ID, known.Session)
	}
	for _, p := range []*Principal{Operator, token} {
		for _, id := range []string{"operator/1234", "operator%2F1234", "/operator/1234", "1234"} {
			if other := as(p, "", id); other.ID == known.ID || other.Session == known.Session {
				t.Errorf("%s with the clientId %s is %s with %s", p.ID, id, other.ID, other.Session)
			}
		}
	}
}
