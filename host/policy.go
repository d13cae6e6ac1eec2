package host

import (
	"fmt"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/params"
)

// This file decides; it changes nothing. Each function gives the reason of a
// refusal, shown to people as it is, or "".

// holds reports whether the terminal's claim is one of the principal's: of one
// of its clients, or of a session that it drives.
func (t *term) holds(p *auth.Principal) bool { return t.holder == p.ID }

// holderText names who holds the terminal.
func (t *term) holderText() string {
	c := t.value.Claim
	switch {
	case c.Kind == ahp.ClaimClient:
		return fmt.Sprintf("client %s", c.ClientID)
	case c.ToolCallID != "":
		return fmt.Sprintf("session %s, which runs tool call %s in it", c.Session, c.ToolCallID)
	}
	return fmt.Sprintf("session %s", c.Session)
}

// mayType decides terminal/input (docs/decisions.md §35, docs/decisions.md §9). The
// keyboard of a terminal belongs to its holder; the operator too takes it over
// openly, by a claim, before typing. follow says that the claim goes to the typing
// client first: it belongs to another client of the same person.
func (t *term) mayType(p *auth.Principal, clientID string) (follow bool, refusal string) {
	c := t.value.Claim
	switch {
	case t.value.Lifecycle.Exited():
		return false, "the terminal's process has ended"
	case c.Kind == ahp.ClaimClient && t.holds(p):
		return c.ClientID != clientID, ""
	case c.Kind == ahp.ClaimSession && t.holds(p) && !p.Human:
		return false, ""
	case p.Operates():
		return false, fmt.Sprintf("the terminal is held by %s: reclaim it before typing", t.holderText())
	}
	return false, fmt.Sprintf("the terminal is held by %s: only its holder may type", t.holderText())
}

// mayShape decides resize, title and clear (docs/decisions.md §10).
func (t *term) mayShape(p *auth.Principal) string {
	if t.holds(p) || p.Operates() {
		return ""
	}
	return fmt.Sprintf("the terminal is held by %s: only its holder or the host's operator may change it", t.holderText())
}

// mayDispose decides disposeTerminal (docs/decisions.md §1).
func (t *term) mayDispose(p *auth.Principal) string {
	if t.holds(p) || p.Operates() {
		return ""
	}
	return fmt.Sprintf("the terminal is held by %s: only its holder or the host's operator may end it", t.holderText())
}

// mayClaim decides terminal/claimed: who may take it, and for whom (R17, G48,
// docs/protocol.md, Departures from the text).
func (t *term) mayClaim(p *auth.Principal, clientID string, to ahp.Claim) string {
	if s := wellFormed(to); s != "" {
		return s
	}
	if s := p.RefuseClaim(to); s != "" {
		return s
	}
	// A token for this one terminal with the right to claim was made to take it.
	if !t.holds(p) && !p.Operates() && p.Terminal == "" {
		return fmt.Sprintf("the terminal is held by %s: only its holder or the host's operator may transfer it", t.holderText())
	}
	if to.Kind == ahp.ClaimClient {
		return ownClient(clientID, to)
	}
	from := t.value.Claim
	switch {
	case narrows(from, to): // to the background
		return ""
	case t.meta.HandBack != nil && sameSession(*t.meta.HandBack, to): // hand back
		return ""
	case from.Kind == ahp.ClaimSession && sameSession(from, to) && t.holds(p): // G45
		return ""
	case p.May(auth.ScopeSession):
		return ""
	}
	return "a claim for a session needs the right to drive it: claim for this client, or give the terminal back to the session it came from"
}

// mayClaimNew decides the claim of a new terminal.
func mayClaimNew(p *auth.Principal, clientID string, claim ahp.Claim) *ahp.Error {
	if s := wellFormed(claim); s != "" {
		return ahp.InvalidParams("create terminal: %s", s)
	}
	if s := p.RefuseClaim(claim); s != "" {
		return ahp.PermissionDenied("create terminal: %s", s)
	}
	if claim.Kind == ahp.ClaimClient {
		if s := ownClient(clientID, claim); s != "" {
			return ahp.PermissionDenied("create terminal: %s", s)
		}
		return nil
	}
	if s := p.Lacks(auth.ScopeSession); s != "" {
		return ahp.PermissionDenied("create terminal for session %s: %s", claim.Session, s)
	}
	return nil
}

func ownClient(clientID string, claim ahp.Claim) string {
	if claim.ClientID == clientID {
		return ""
	}
	return fmt.Sprintf("a client claims only for itself: %q is not this client's id", claim.ClientID)
}

// wellFormed says what is missing in a claim (R3–R6).
func wellFormed(c ahp.Claim) string {
	switch {
	case c.Kind == ahp.ClaimClient && c.ClientID == "":
		return "the claim names no clientId"
	case c.Kind == ahp.ClaimSession && c.Session == "":
		return "the claim names no session"
	case c.Kind != ahp.ClaimClient && c.Kind != ahp.ClaimSession:
		return fmt.Sprintf("the claim's kind is %q: use %q or %q", c.Kind, ahp.ClaimClient, ahp.ClaimSession)
	}
	for _, s := range []string{c.ClientID, c.Session, c.Chat, c.TurnID, c.ToolCallID} {
		if len(s) > params.MaxURI {
			return fmt.Sprintf("the claim has a member of more than %d bytes", params.MaxURI)
		}
	}
	return ""
}

// sameSession compares sessions, and chats where both name one (0.5 has none).
func sameSession(a, b ahp.Claim) bool {
	return a.Kind == ahp.ClaimSession && b.Kind == ahp.ClaimSession && a.Session == b.Session &&
		(a.Chat == b.Chat || a.Chat == "" || b.Chat == "")
}

// narrows reports whether to is from without its tool call or turn (G41).
func narrows(from, to ahp.Claim) bool {
	return sameSession(from, to) &&
		(to.TurnID == "" || to.TurnID == from.TurnID) &&
		(to.ToolCallID == "" || to.ToolCallID == from.ToolCallID)
}

// keepChat completes a session claim of a 0.5 client, which has no word for the
// chat.
func keepChat(from, to ahp.Claim) ahp.Claim {
	if to.Chat == "" && sameSession(from, to) {
		to.Chat = from.Chat
	}
	return to
}
