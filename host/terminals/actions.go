package terminals

import (
	"errors"
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminal"
)

// maxInput bounds one input in bytes.
const maxInput = 1 << 20

// Actions are the actions that clients may dispatch to terminals or about them.
func (ts *Terminals) Actions() map[string]requests.Action {
	return map[string]requests.Action{
		ahp.TerminalInput{}.ActionType(): onTerminal(requests.Action{
			Scope: auth.ScopeInput, Needs: []string{"data"}, Private: true,
			Again: func(d *requests.Dispatch) ahp.Action { return d.Action },
		}, typeInput),
		ahp.TerminalResized{}.ActionType(): onTerminal(requests.Action{
			Scope: auth.ScopeInput, Needs: []string{"cols", "rows"},
			Again: func(d *requests.Dispatch) ahp.Action {
				v := d.Channel.Body.(*Terminal).Value
				return ahp.TerminalResized{Cols: v.Cols, Rows: v.Rows}
			},
		}, resize),
		ahp.TerminalTitleChanged{}.ActionType(): onTerminal(requests.Action{
			Scope: auth.ScopeInput, Needs: []string{"title"},
			Again: func(d *requests.Dispatch) ahp.Action {
				return ahp.TerminalTitleChanged{Title: d.Channel.Body.(*Terminal).Value.Title}
			},
		}, rename),
		ahp.TerminalCleared{}.ActionType(): onTerminal(requests.Action{Scope: auth.ScopeInput}, clearTerminal),
		ahp.TerminalClaimed{}.ActionType(): onTerminal(requests.Action{
			Scope: auth.ScopeClaim, Needs: []string{"claim"},
			Again: func(d *requests.Dispatch) ahp.Action {
				return ahp.TerminalClaimed{Claim: d.Channel.Body.(*Terminal).Value.Claim}
			},
		}, claimTerminal),
		ahp.TerminalSeen{}.ActionType(): {
			Scope: auth.ScopeInput, Needs: []string{"terminal"}, Fits: requests.Is[*activity.Activity], Do: ts.seeTerminal,
			Again: func(d *requests.Dispatch) ahp.Action { return d.Action },
		},
	}
}

// onTerminal completes the row of an action on terminals: do gets the terminal.
func onTerminal(a requests.Action, do func(tx core.Tx, t *Terminal, d *requests.Dispatch) string) requests.Action {
	a.Fits = requests.Is[*Terminal]
	a.Do = func(tx core.Tx, d *requests.Dispatch) string { return do(tx, d.Channel.Body.(*Terminal), d) }
	return a
}

// seeTerminal handles x-tandemux/terminalSeen. It needs the right to change the terminal,
// as it removes marks that others see too.
func (ts *Terminals) seeTerminal(tx core.Tx, d *requests.Dispatch) string {
	a := d.Action.(ahp.TerminalSeen)
	t, ok := At(tx, a.Terminal)
	if !ok || !Reaches(tx, d.Conn.Principal, a.Terminal) {
		return fmt.Sprintf("there is no terminal %q", params.Clip(a.Terminal))
	}
	if s := t.Held().May(d.Conn.Principal, "change it"); s != "" {
		return s
	}
	ts.Activity.Seen(tx, a.Terminal, d.By)
	return ""
}

// typeInput handles terminal/input: it writes input to the pty in the order of arrival, and
// changes no state (G24, R15).
func typeInput(tx core.Tx, t *Terminal, d *requests.Dispatch) string {
	data := d.Action.(ahp.TerminalInput).Data
	if len(data) > maxInput {
		return fmt.Sprintf("more than %d bytes of input at once", maxInput)
	}
	follow, refusal := t.MayType(tx, d.Conn.Principal, d.Conn.Client.ID)
	if refusal != "" {
		return refusal
	}
	if d.Conn.Principal.Agent != "" {
		if refusal := t.mayEnter(tx, data); refusal != "" {
			return refusal
		}
	}
	if follow {
		t.ts.Audit.Did(d.Conn.Who(), "claim", d.Channel.URI, "from", claims.Text(t.Value.Claim), "follows", "keyboard")
		t.Claim(tx, ahp.Claim{Kind: ahp.ClaimClient, ClientID: d.Conn.Client.ID}, nil, d.Conn.Principal)
	}
	if t.Term.LookAtEcho() {
		t.Flush(tx)
	}
	t.typed = time.Now()
	t.ts.typist = typist{d.Conn.Principal.ID, t, t.typed}
	if err := t.typeIn(tx, d, data); err != nil {
		return t.ts.inputRefusal(err)
	}
	if len(data) <= 32 { // a key
		d.Conn.Hold = t.Term.WithAnswer
	}
	return ""
}

// inputRefusal is why input was not accepted.
func (ts *Terminals) inputRefusal(err error) string {
	for _, known := range []error{terminal.ErrInputFull, terminal.ErrExited, terminal.ErrClosed} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	ts.Log.Error("write input", "err", err)
	return "the input could not be written"
}

// resize handles terminal/resized. The terminal puts the action into its stream where the
// size took effect (R16, AHP, Terminal Channel).
func resize(tx core.Tx, t *Terminal, d *requests.Dispatch) string {
	a := d.Action.(ahp.TerminalResized)
	if s := t.Held().May(d.Conn.Principal, "change it"); s != "" {
		return s
	}
	if s := checkSize(a.Cols, a.Rows); s != "" {
		return s
	}
	if t.Value.Lifecycle.Exited() {
		return "the terminal's process has ended"
	}
	t.Flush(tx)
	t.requests = append(t.requests, d.By)
	if err := t.Term.Resize(a.Cols, a.Rows); err != nil {
		t.requests = t.requests[:len(t.requests)-1]
		return fmt.Sprintf("the size could not be set: %v", err)
	}
	t.Flush(tx)
	return ""
}

// clearTerminal handles terminal/cleared (G36).
func clearTerminal(tx core.Tx, t *Terminal, d *requests.Dispatch) string {
	if s := t.Held().May(d.Conn.Principal, "change it"); s != "" {
		return s
	}
	t.Flush(tx)
	t.requests = append(t.requests, d.By)
	t.Term.Clear()
	t.Flush(tx)
	t.ts.Audit.Did(d.Conn.Who(), "clear", d.Channel.URI)
	return ""
}

// claimTerminal handles terminal/claimed: a transfer (G5, G32, R17).
func claimTerminal(tx core.Tx, t *Terminal, d *requests.Dispatch) string {
	a := d.Action.(ahp.TerminalClaimed)
	to, held := a.Claim, t.Held()
	if s := held.MayClaim(d.Conn.Principal, d.Conn.Client.ID, to, t.ts.Host.SessionOwner(tx, to.Session)); s != "" {
		return s
	}
	if s := t.ts.foreignChat(tx, to); s != "" {
		return s
	}
	known := claims.Known{Seen: a.Seen, Read: d.Read, Unread: tx.Unread(d.Conn.Link, d.Channel.URI)}
	if s := held.Stale(d.Conn.Principal, known); s != "" {
		return s
	}
	t.Flush(tx)
	t.ts.Audit.Did(d.Conn.Who(), "claim", d.Channel.URI, "from", claims.Text(t.Value.Claim), "to", claims.Text(to))
	t.Claim(tx, to, d.By, d.Conn.Principal)
	return ""
}
