package terminals

import (
	"fmt"

	"tandemux/ahp"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// MayClaimNew decides the claim of a new terminal. owner is the principal of the claim's
// session, "" if the host does not run that.
func (ts *Terminals) MayClaimNew(c *requests.Conn, claim ahp.Claim) (owner string, err error) {
	foreign := ""
	ts.Core.Locked(func(tx core.Tx) {
		owner = ts.Host.SessionOwner(tx, claim.Session)
		foreign = ts.foreignChat(tx, claim)
	})
	if err := claims.MayClaimNew(c.Principal, c.Client.ID, claim, owner); err != nil {
		return "", err
	}
	return owner, params.Allowed("create terminal", foreign)
}

// foreignChat refuses a claim that names a chat of another session: the terminal's commands
// and questions would show in that chat.
func (ts *Terminals) foreignChat(tx core.Tx, claim ahp.Claim) (refusal string) {
	if of := ts.Host.ChatSession(tx, claim.Chat); of != "" && of != claim.Session {
		return fmt.Sprintf("the chat %s is not one of session %s", params.Clip(claim.Chat), params.Clip(claim.Session))
	}
	return ""
}
