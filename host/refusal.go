package host

import (
	"cmp"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/host/terminals"
)

// refusedGuest tells people what was not allowed of a request of an agent from the side.
func (h *Host) refusedGuest(c *requests.Conn, method string, params json.RawMessage, err error) {
	var p struct {
		Channel ahp.URI         `json:"channel"`
		Command []string        `json:"command"` // x-tandemux/run
		Line    string          `json:"line"`
		Meta    *ahp.CreateMeta `json:"_meta"` // createTerminal
	}
	json.Unmarshal(params, &p) //nolint:errcheck // then what is there
	what := p.Line
	if p.Meta != nil && len(p.Meta.Command) > 0 {
		p.Command = p.Meta.Command
	}
	if len(p.Command) > 0 {
		what = terminals.ShownCommand(p.Command)
	}
	h.core.Do(func(tx core.Tx) {
		h.activity.Refuse(tx, ahp.AgentRefusal{
			Agent: c.Principal.Name(), Session: c.Principal.Session, Terminal: p.Channel,
			What: cmp.Or(what, method), Why: ahp.FromRPC(err).Message,
		})
	})
}
