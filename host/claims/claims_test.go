package claims

import (
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/params"
)

var (
	alien  = &auth.Principal{ID: "token:agent", Token: "agent", Scopes: []string{auth.ScopeRead, auth.ScopeCreate, auth.ScopeInput, auth.ScopeClaim}}
	driver = &auth.Principal{ID: "token:driver", Token: "driver", Scopes: []string{auth.ScopeRead, auth.ScopeInput, auth.ScopeClaim, auth.ScopeSession}}
	guest  = &auth.Principal{ID: "agent:g", Agent: "guest", Session: "s", Scopes: []string{auth.ScopeRead, auth.ScopeInput, auth.ScopeClaim, auth.ScopeSession}}
	admin  = &auth.Principal{ID: "token:admin", Token: "admin", Scopes: []string{auth.ScopeAdmin}}
)

func held(c ahp.Claim, p *auth.Principal, back *ahp.Claim) Holding {
	return Holding{Claim: c, HandBack: back, Owner: Owner{Holder: p.ID}}
}

func byClient(id string) ahp.Claim { return ahp.Claim{Kind: ahp.ClaimClient, ClientID: id} }

func bySession(id, chat, turn, call string) ahp.Claim {
	return ahp.Claim{Kind: ahp.ClaimSession, Session: id, Chat: chat, TurnID: turn, ToolCallID: call}
}

// TestPolicy is the table of who may do what (docs/contributing/decisions.md §35, §1, §9, §10;
// R17, G41–G48).
func TestPolicy(t *testing.T) {
	mine := held(byClient("tui"), auth.Operator, nil)
	agents := held(byClient("agent"), alien, nil)
	running := held(bySession("s", "c", "t", "call"), driver, nil)
	parked := held(bySession("s", "c", "", ""), driver, nil)
	back := bySession("s", "c", "", "")
	taken := held(byClient("tui"), auth.Operator, &back)
	ownRun := held(bySession("s", "c", "t", "call"), auth.Operator, nil)

	announced := *driver
	announced.Session = "outside"
	hosted := map[ahp.URI]string{"mine": "operator", "driver's": driver.ID}
	const yes, follow = "", "follows"
	for _, c := range []struct {
		name string
		t    Holding
		p    *auth.Principal
		id   string
		what string // type, type in hosted, shape, dispose or a claim
		to   ahp.Claim
		want string // part of the refusal
	}{
		{"holder types", mine, auth.Operator, "tui", "type", ahp.Claim{}, yes},
		{"my other client types", mine, auth.Operator, "cli", "type", ahp.Claim{}, follow},
		{"stranger types", mine, alien, "agent", "type", ahp.Claim{}, "only its holder"},
		{"admin token types", mine, admin, "remote", "type", ahp.Claim{}, "reclaim it before typing"},
		{"operator types into agent's", agents, auth.Operator, "tui", "type", ahp.Claim{}, "reclaim it before typing"},
		{"operator types into a session's", running, auth.Operator, "tui", "type", ahp.Claim{}, "tool call call"},
		{"driver types into its session's", running, driver, "d", "type", ahp.Claim{}, yes},
		{"driver types into its session's that the host runs", running, driver, "d", "type in hosted", ahp.Claim{}, "reclaim it before typing"},
		{"stranger types into one that the host runs", running, alien, "a", "type in hosted", ahp.Claim{}, "only its holder"},
		{"agent types into its own in one that the host runs", held(parked.Claim, guest, nil), guest, "g", "type in hosted", ahp.Claim{}, yes},
		{"agent of its own token's in one that the host runs", running, &auth.Principal{ID: driver.ID, Token: "driver", Agent: "x", Session: "s", Scopes: driver.Scopes}, "x", "type in hosted", ahp.Claim{}, "reclaim it before typing"},
		{"agent types into another's in one that the host runs", running, guest, "g", "type in hosted", ahp.Claim{}, "only its holder"},
		{"driver types into its own in a hosted session's stead", held(byClient("d"), driver, &back), driver, "d", "type in hosted", ahp.Claim{}, yes},
		{"operator types into a session's that it drives", ownRun, auth.Operator, "tui", "type", ahp.Claim{}, "reclaim"},

		{"holder shapes", agents, alien, "agent", "shape", ahp.Claim{}, yes},
		{"operator shapes", agents, auth.Operator, "tui", "shape", ahp.Claim{}, yes},
		{"admin shapes", agents, admin, "remote", "shape", ahp.Claim{}, yes},
		{"stranger shapes", agents, driver, "d", "shape", ahp.Claim{}, "only its holder"},
		{"stranger shapes a session's", running, alien, "agent", "shape", ahp.Claim{}, "only its holder"},

		{"holder ends", agents, alien, "agent", "dispose", ahp.Claim{}, yes},
		{"operator ends", running, auth.Operator, "tui", "dispose", ahp.Claim{}, yes},
		{"agent ends what was taken", taken, driver, "d", "dispose", ahp.Claim{}, "only its holder"},

		{"operator takes a session's", running, auth.Operator, "tui", "claim", byClient("tui"), yes},
		{"operator takes for another client", running, auth.Operator, "tui", "claim", byClient("cli"), "only for itself"},
		{"admin takes", mine, admin, "remote", "claim", byClient("remote"), yes},
		{"agent takes mine", mine, alien, "agent", "claim", byClient("agent"), "may transfer"},
		{"driver takes mine", mine, driver, "d", "claim", bySession("s", "c", "", ""), "may transfer"},
		{"my other client claims", mine, auth.Operator, "cli", "claim", byClient("cli"), yes},
		{"operator narrows", running, auth.Operator, "tui", "claim", bySession("s", "c", "", ""), yes},
		{"operator narrows without a chat", running, auth.Operator, "tui", "claim", bySession("s", "", "", ""), yes},
		{"driver narrows", running, driver, "d", "claim", bySession("s", "c", "", ""), yes},
		{"driver widens", parked, driver, "d", "claim", bySession("s", "c", "t2", "call2"), yes},
		{"agent narrows another's", running, alien, "agent", "claim", bySession("s", "c", "", ""), "may transfer"},
		{"hand back", taken, auth.Operator, "tui", "claim", bySession("s", "c", "", ""), yes},
		{"agent gives to a session", agents, alien, "agent", "claim", bySession("s", "c", "", ""), "right to drive"},
		{"for an unknown session", mine, auth.Operator, "tui", "claim", bySession("none", "c", "", "call"), "there is no session none"},
		{"for one of the host's", mine, auth.Operator, "tui", "claim", bySession("driver's", "c", "", "call"), yes},
		{"driver gives its own to its session", held(byClient("d"), driver, nil), driver, "d", "claim", bySession("driver's", "c", "", "call"), yes},
		{"to another's, with a call of its own making", held(byClient("d"), driver, nil), driver, "d", "claim", bySession("mine", "c", "t", "call"), "somebody else's"},
		{"to one that it has not announced", held(byClient("d"), driver, nil), driver, "d", "claim", bySession("outside", "c", "t", "call"), "has not announced it"},
		{"to one that it has announced", held(byClient("d"), driver, nil), &announced, "d", "claim", bySession("outside", "c", "t", "call"), yes},
		{"no kind", mine, auth.Operator, "tui", "claim", ahp.Claim{}, "kind"},
		{"no session", mine, auth.Operator, "tui", "claim", ahp.Claim{Kind: ahp.ClaimSession}, "no session"},
		{"endless", mine, auth.Operator, "tui", "claim", ahp.Claim{Kind: ahp.ClaimSession, Session: strings.Repeat("x", params.MaxURI+1)}, "bytes"},
	} {
		got, follows := "", false
		switch c.what {
		case "type", "type in hosted":
			follows, got = c.t.MayType(c.p, c.id, c.what == "type in hosted")
		case "shape":
			got = c.t.May(c.p, "change it")
		case "dispose":
			got = c.t.May(c.p, "end it")
		case "claim":
			got = c.t.MayClaim(c.p, c.id, c.to, hosted[c.to.Session])
		}
		want := c.want
		if want == follow {
			want = ""
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) || follows != (c.want == follow) {
			t.Errorf("%s: %q, follows %v; want %q", c.name, got, follows, c.want)
		}
	}
}

// TestStale: of two that decided on the same, the second is refused (G48).
func TestStale(t *testing.T) {
	taken := held(byClient("remote"), admin, nil)
	taken.Last = Last{Before: 10, By: admin.ID}
	driven := held(bySession("s", "c", "", ""), driver, nil)
	driven.Last = Last{Before: 10, By: auth.Operator.ID}
	for _, c := range []struct {
		name string
		h    Holding
		p    *auth.Principal
		k    Known
		want bool
	}{
		{"says that it saw what was before", taken, auth.Operator, Known{Seen: 10, Read: 20}, true},
		{"says that it saw the claim", taken, auth.Operator, Known{Seen: 11, Read: 20}, false},
		{"says that it saw the claim, and can hardly have", taken, auth.Operator, Known{Seen: 11, Read: 20, Unread: true}, false},
		{"its own claim", taken, admin, Known{Seen: 3, Read: 10, Unread: true}, false},
		{"came before the claim was carried out", taken, driver, Known{Read: 10}, true},
		{"came after", taken, driver, Known{Read: 11}, false},
		{"came after, sent before", taken, driver, Known{Read: 20, Unread: true}, true},
		{"holder", driven, driver, Known{Read: 20, Unread: true}, false},
		{"holder that says what it saw", driven, driver, Known{Seen: 9, Read: 20}, true},
		{"nobody has claimed since", held(byClient("remote"), admin, nil), auth.Operator, Known{Seen: 1, Read: 1}, false},
		{"nobody has claimed since, and what it says is none", held(byClient("remote"), admin, nil), auth.Operator, Known{Seen: -1, Read: 1}, false},
	} {
		if got := c.h.Stale(c.p, c.k); (got != "") != c.want || c.want && !strings.Contains(got, "the terminal is held by "+c.h.HeldBy()+" by now") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestPerson: who a hub says a holder is goes with their claim, to the next one's, and into
// nothing that decides.
func TestPerson(t *testing.T) {
	ann, bob := &auth.Principal{ID: "token:1", Scopes: auth.AllScopes, Person: "ann"}, &auth.Principal{ID: "token:1", Scopes: auth.AllScopes, Person: "bob"}
	h := held(bySession("s", "c", "turn", "call"), driver, nil)
	h = h.Transfer(byClient("a"), ann, false)
	if h.Person != "ann" || !h.Holds(bob) {
		t.Errorf("after ann's claim: %+v", h)
	}
	if h = h.Transfer(byClient("b"), bob, true); h.Person != "bob" || h.Lender != "a" {
		t.Errorf("after bob's: %+v", h)
	}
	if told := h.Told(h.Claim); told != "token:1 bob" {
		t.Errorf("clients are told of %q", told)
	}
	if back := h.Transfer(bySession("s", "c", "", ""), bob, false); back.Person != "" || back.Holder != driver.ID {
		t.Errorf("handed back: %+v", back)
	}
}
