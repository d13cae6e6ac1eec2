package claims

import (
	"cmp"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/params"
)

// Owner is the principals behind a terminal's claim.
type Owner struct {
	// Holder is the id of the principal of the claim's client, or of the one that drives
	// the claim's session. HandBackHolder is that of Holding.HandBack.
	Holder         string `json:"holder"`
	HandBackHolder string `json:"handBackHolder,omitempty"`
	// Person is the person that a hub names as the holder (auth.Principal.Person).
	Person string `json:"person,omitempty"`
	// Lender is the client that had the claim before it followed the keyboard to another
	// client of the same person; "" after any other claim.
	Lender string `json:"lender,omitempty"`
}

// Holding is who holds a terminal, and the session's claim that it can be handed back to.
type Holding struct {
	Claim    ahp.Claim
	HandBack *ahp.Claim
	Owner
	Last
}

// Last is about the newest claim: Before is the last sequence number handed out before it,
// By the principal that made it.
type Last struct {
	Before int64
	By     string
}

// Holds reports whether the principal holds the terminal: by one of its clients, or by a
// session that it drives. An agent does not hold what a client with the same token holds.
func (h Holding) Holds(p *auth.Principal) bool {
	return h.Holder == p.ID && (p.Agent == "" || p.Token == "" || h.Claim.Kind == ahp.ClaimSession)
}

// HeldBy names who holds the terminal.
func (h Holding) HeldBy() string {
	c := h.Claim
	switch {
	case c.Kind == ahp.ClaimClient:
		return fmt.Sprintf("client %s", c.ClientID)
	case c.ToolCallID != "":
		return fmt.Sprintf("session %s, which runs tool call %s in it", c.Session, c.ToolCallID)
	}
	return fmt.Sprintf("session %s", c.Session)
}

// MayType decides terminal/input (docs/contributing/decisions.md §35, §9). Only a terminal's
// holder may type; the operator, too, must claim it first. hosted says that the host runs the
// session that holds it: into such a terminal only an agent types, and not one by a token.
// follow says that the claim moves to the typing client first, since another client of the
// same person has it.
func (h Holding) MayType(p *auth.Principal, clientID string, hosted bool) (follow bool, refusal string) {
	switch session := h.Claim.Kind == ahp.ClaimSession; {
	case !session && h.Holds(p):
		return h.Claim.ClientID != clientID, ""
	case session && h.Holds(p) && !p.Human && (!hosted || p.Agent != "" && p.Token == ""):
		return false, ""
	case session && h.Holds(p), p.Operates():
		return false, fmt.Sprintf("the terminal is held by %s: reclaim it before typing", h.HeldBy())
	}
	return false, fmt.Sprintf("the terminal is held by %s: only its holder may type", h.HeldBy())
}

// May decides what only the holder and the operator may do; doing names it, such as "end it"
// (docs/contributing/decisions.md §10, §1).
func (h Holding) May(p *auth.Principal, doing string) (refusal string) {
	if h.Holds(p) || p.Operates() {
		return ""
	}
	return fmt.Sprintf("the terminal is held by %s: only its holder or the host's operator may %s", h.HeldBy(), doing)
}

// MayEnd decides disposeTerminal (docs/contributing/decisions.md §1). An agent may end only
// terminals that its session holds and no layout shows (T20, T21); visible says that one does.
func (h Holding) MayEnd(p *auth.Principal, visible bool) (refusal string) {
	refusal = h.May(p, "end it")
	refusal = cmp.Or(refusal, p.Lacks(auth.ScopeClaim))
	if refusal == "" && p.Agent != "" && (h.Claim.Kind != ahp.ClaimSession || !h.Holds(p) || visible) {
		refusal = "Cannot kill visible or user-owned terminals"
	}
	return refusal
}

// MayClaim decides terminal/claimed: who may claim a terminal, and for whom (R17, G48,
// docs/protocol.md, Departures from the text). owner is the principal of the session in the
// claim if the host runs that session, else "".
func (h Holding) MayClaim(p *auth.Principal, clientID string, to ahp.Claim, owner string) (refusal string) {
	if s := Check(to); s != "" {
		return s
	}
	if s := p.RefuseClaim(to); s != "" {
		return s
	}
	// A token for this one terminal with the right to claim was made to take it.
	if s := h.May(p, "transfer it"); s != "" && p.Terminal == "" {
		return s
	}
	if to.Kind == ahp.ClaimClient {
		return ownClient(clientID, to)
	}
	switch {
	case narrows(h.Claim, to): // to the background
		return ""
	case h.HandBack != nil && sameSession(*h.HandBack, to): // hand back
		return ""
	case sameSession(h.Claim, to) && h.Holds(p): // G45
		return ""
	case p.May(auth.ScopeSession):
		return mayDrive(p, to.Session, owner)
	}
	return "a claim for a session needs the right to drive it: claim for this client, or give the terminal back to the session it came from"
}

// Known is what the sender of a claim knew when it decided.
type Known struct {
	// Seen is the last sequence number that the sender says it had seen, or 0.
	Seen int64
	// Read is the last sequence number handed out when the host read the claim. The sender
	// cannot have known later ones.
	Read int64
	// Unread says that the sender may not have read the newest claim.
	Unread bool
}

// Stale refuses a claim whose sender did not know of the newest claim, of another principal
// (G48). Without Seen it is lenient: a holder's claim is refused only if the newest claim
// came after Read.
func (h Holding) Stale(p *auth.Principal, k Known) (refusal string) {
	switch {
	case h.By == "", h.By == p.ID, k.Seen > h.Before:
		return ""
	case k.Seen == 0 && k.Read > h.Before && (!k.Unread || h.Holds(p)):
		return ""
	}
	return fmt.Sprintf("somebody else was first: the terminal is held by %s by now", h.HeldBy())
}

// Transfer is the holding after a principal's claim, which the caller has checked. follows
// says that the claim follows the keyboard.
func (h Holding) Transfer(to ahp.Claim, p *auth.Principal, follows bool) Holding {
	from, back := h.Claim, h.HandBack
	next := Holding{Claim: to, HandBack: back, Owner: Owner{Holder: p.ID, Person: p.Person, HandBackHolder: h.HandBackHolder}}
	switch {
	case to.Kind == ahp.ClaimClient:
		if from.Kind == ahp.ClaimSession {
			next.HandBack, next.HandBackHolder = &from, h.Holder
		}
	case sameSession(from, to): // narrowed or widened; the driver stays
		next.Holder, next.Person, next.Claim = h.Holder, h.Person, keepChat(from, to)
	case back != nil && sameSession(*back, to):
		next.Holder, next.Person, next.Claim = h.HandBackHolder, "", keepChat(*back, to)
	}
	if to.Kind == ahp.ClaimSession {
		next.HandBack, next.HandBackHolder = nil, ""
	}
	if follows && from.Kind == ahp.ClaimClient {
		next.Lender = from.ClientID
	}
	return next
}

// Text is a claim for the audit log.
func Text(c ahp.Claim) string {
	if c.Kind == ahp.ClaimClient {
		return "client " + c.ClientID
	}
	return strings.TrimSpace("session " + c.Session + " " + c.ToolCallID)
}

// Told is the value of TerminalMeta.Principal for a claim of the owner's.
func (o Owner) Told(c ahp.Claim) string {
	if c.Kind == ahp.ClaimClient {
		return (&auth.Principal{ID: o.Holder, Person: o.Person}).Told()
	}
	return ""
}

// mayDrive refuses an unknown session, and another principal's. An agent without a token may
// name any session that the host runs: it acts for the host's user, who may have told it to.
func mayDrive(p *auth.Principal, session ahp.URI, owner string) (refusal string) {
	switch {
	case owner == "" && p.Session != session:
		return fmt.Sprintf("there is no session %s: this host runs none of that name, and this client has not announced it", session)
	case owner == "", owner == p.ID, p.Operates(), p.Agent != "" && p.Token == "":
		return ""
	}
	return fmt.Sprintf("the session %s is somebody else's", session)
}

// MayClaimNew decides the claim of a new terminal; owner is as in MayClaim.
func MayClaimNew(p *auth.Principal, clientID string, claim ahp.Claim, owner string) *ahp.Error {
	if s := Check(claim); s != "" {
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
	if s := mayDrive(p, claim.Session, owner); s != "" {
		return ahp.PermissionDenied("create terminal: %s", s)
	}
	return nil
}

func ownClient(clientID string, claim ahp.Claim) string {
	if claim.ClientID == clientID {
		return ""
	}
	return fmt.Sprintf("a client claims only for itself: %q is not this client's id", claim.ClientID)
}

// Check says what is missing in a claim (R3–R6).
func Check(c ahp.Claim) string {
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

// sameSession compares sessions, and chats if both claims name one (AHP 0.5 has none).
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

// keepChat adds the chat to a session claim of an AHP 0.5 client, which can't name it.
func keepChat(from, to ahp.Claim) ahp.Claim {
	if to.Chat == "" && sameSession(from, to) {
		to.Chat = from.Chat
	}
	return to
}
