package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/host/sessions"
	"tandemux/host/shell"
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
		what = shownCommand(p.Command)
	}
	h.core.Do(func(tx core.Tx) {
		h.activity.Refuse(tx, ahp.AgentRefusal{
			Agent: c.Principal.Name(), Session: c.Principal.Session, Terminal: p.Channel,
			What: cmp.Or(what, method), Why: ahp.FromRPC(err).Message,
		})
	})
}

// shownCommand is a command as people read it: a line that a shell is given as
// that line.
func shownCommand(argv []string) string {
	if len(argv) == 3 && argv[0] == "/bin/sh" && argv[1] == "-c" {
		return argv[2]
	}
	return shell.Quote(argv, "")
}

// commandLine is what the command of a new terminal is called: a line that an agent
// gave, as that line; what people start, as they started it.
func commandLine(p creation) string {
	if p.Claim.Kind == ahp.ClaimSession {
		return shownCommand(p.Meta.Command)
	}
	return shell.Quote(p.Meta.Command, "")
}

// refuse notes what the agent of a chat was not allowed; what and why are kept in
// the audit log as well.
func (ts heldTerminals) refuse(c *sessions.Chat, kind, what string, err error) {
	h := ts.h
	h.audit.RefusedAgent(c.URI(), c.Session(), kind, what, err.Error())
	h.core.Do(func(tx core.Tx) {
		if !c.Dead(tx) {
			h.activity.Refuse(tx, ahp.AgentRefusal{Agent: c.Provider(), Session: c.Session(), What: what, Why: err.Error()})
		}
	})
}

// chatFiles are an agent's files; what it may not have is told to people.
type chatFiles struct {
	files agent.Files
	h     *Host
	c     *sessions.Chat
}

// Read implements agent.Files.
func (f chatFiles) Read(ctx context.Context, path string, line, limit int) (string, error) {
	text, err := f.files.Read(ctx, path, line, limit)
	f.note("read", path, err)
	return text, err
}

// Write implements agent.Files.
func (f chatFiles) Write(ctx context.Context, path, content string) error {
	err := f.files.Write(ctx, path, content)
	f.note("write", path, err)
	return err
}

func (f chatFiles) note(doing, path string, err error) {
	if errors.Is(err, agent.ErrFileOutside) {
		heldTerminals{f.h}.refuse(f.c, "file", doing+" "+path, err)
	}
}
