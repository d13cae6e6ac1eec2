package host

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/host/sessions"
)

// actions are those that clients may dispatch.
func (h *Host) actions() map[string]requests.Action {
	all := sessions.Actions()
	maps.Copy(all, map[string]requests.Action{
		ahp.TerminalInput{}.ActionType(): onTerm(requests.Action{
			Scope: auth.ScopeInput, Needs: []string{"data"}, Private: true,
			Again: func(d *requests.Dispatch) ahp.Action { return d.Action },
		}, typeInput),
		ahp.TerminalResized{}.ActionType(): onTerm(requests.Action{
			Scope: auth.ScopeInput, Needs: []string{"cols", "rows"},
			Again: func(d *requests.Dispatch) ahp.Action {
				v := d.Channel.Body.(*term).value
				return ahp.TerminalResized{Cols: v.Cols, Rows: v.Rows}
			},
		}, resize),
		ahp.TerminalTitleChanged{}.ActionType(): onTerm(requests.Action{
			Scope: auth.ScopeInput, Needs: []string{"title"},
			Again: func(d *requests.Dispatch) ahp.Action {
				return ahp.TerminalTitleChanged{Title: d.Channel.Body.(*term).value.Title}
			},
		}, rename),
		ahp.TerminalCleared{}.ActionType(): onTerm(requests.Action{Scope: auth.ScopeInput}, clearTerminal),
		ahp.TerminalClaimed{}.ActionType(): onTerm(requests.Action{
			Scope: auth.ScopeClaim, Needs: []string{"claim"},
			Again: func(d *requests.Dispatch) ahp.Action {
				return ahp.TerminalClaimed{Claim: d.Channel.Body.(*term).value.Claim}
			},
		}, claimTerminal),
		ahp.LayoutChanged{}.ActionType(): {
			Scope: auth.ScopeAdmin, Needs: []string{"rev"}, Fits: requests.Is[*layout], Do: h.changeLayout,
		},
		ahp.TerminalSeen{}.ActionType(): {
			Scope: auth.ScopeInput, Needs: []string{"terminal"}, Fits: requests.Is[*activity.Activity], Do: h.seeTerminal,
			Again: func(d *requests.Dispatch) ahp.Action { return d.Action },
		},
		ahp.RootConfigChanged{}.ActionType(): {
			Scope: auth.ScopeAdmin, Fits: requests.Is[*root], Do: func(core.Tx, *requests.Dispatch) string {
				return "this host has no configuration that clients can change"
			},
		},
	})
	return all
}

// onTerm completes a row of an action on terminals.
func onTerm(a requests.Action, do func(tx core.Tx, t *term, d *requests.Dispatch) string) requests.Action {
	a.Fits = requests.Is[*term]
	a.Do = func(tx core.Tx, d *requests.Dispatch) string { return do(tx, d.Channel.Body.(*term), d) }
	return a
}

// typeInput is terminal/input: to the pty, in the order of arrival, changing
// no state (G24, R15).
func typeInput(tx core.Tx, t *term, d *requests.Dispatch) string {
	data := d.Action.(ahp.TerminalInput).Data
	if len(data) > maxInput {
		return fmt.Sprintf("more than %d bytes of input at once", maxInput)
	}
	follow, refusal := t.mayType(d.Conn.Principal, d.Conn.Client.ID)
	if refusal != "" {
		return refusal
	}
	if follow {
		t.h.audit.Did(d.Conn.Who(), "claim", d.Channel.URI, "from", claimText(t.value.Claim), "follows", "keyboard")
		t.claim(tx, ahp.Claim{Kind: ahp.ClaimClient, ClientID: d.Conn.Client.ID}, nil, d.Conn.Principal)
	}
	t.typed = time.Now()
	t.h.typist = typist{d.Conn.Principal.ID, t, t.typed}
	if err := t.h.typeIn(tx, t, d, data); err != nil {
		return t.h.inputRefusal(err)
	}
	return ""
}

func (h *Host) inputRefusal(err error) string {
	for _, known := range inputRefusals {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	h.log.Error("write input", "err", err)
	return "the input could not be written"
}

// resize is terminal/resized: the terminal puts the action into its stream
// where the size took effect (R16, AHP, Terminal Channel).
func resize(tx core.Tx, t *term, d *requests.Dispatch) string {
	a := d.Action.(ahp.TerminalResized)
	if s := t.mayShape(d.Conn.Principal); s != "" {
		return s
	}
	if s := checkSize(a.Cols, a.Rows); s != "" {
		return s
	}
	if t.value.Lifecycle.Exited() {
		return "the terminal's process has ended"
	}
	t.flush(tx)
	t.requests = append(t.requests, d.By)
	if err := t.t.Resize(a.Cols, a.Rows); err != nil {
		t.requests = t.requests[:len(t.requests)-1]
		return fmt.Sprintf("the size could not be set: %v", err)
	}
	t.flush(tx)
	return ""
}

// clearTerminal is terminal/cleared (G36).
func clearTerminal(tx core.Tx, t *term, d *requests.Dispatch) string {
	if s := t.mayShape(d.Conn.Principal); s != "" {
		return s
	}
	t.flush(tx)
	t.requests = append(t.requests, d.By)
	t.t.Clear()
	t.flush(tx)
	t.h.audit.Did(d.Conn.Who(), "clear", d.Channel.URI)
	return ""
}

// claimTerminal is terminal/claimed: a transfer (G5, G32, R17).
func claimTerminal(tx core.Tx, t *term, d *requests.Dispatch) string {
	to := d.Action.(ahp.TerminalClaimed).Claim
	if s := t.mayClaim(d.Conn.Principal, d.Conn.Client.ID, to); s != "" {
		return s
	}
	t.flush(tx)
	t.h.audit.Did(d.Conn.Who(), "claim", d.Channel.URI, "from", claimText(t.value.Claim), "to", claimText(to))
	t.claim(tx, to, d.By, d.Conn.Principal)
	return ""
}
