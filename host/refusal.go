package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/sessions"
)

// What agents were not allowed is told to people where they look: on the channel
// of what goes on (ahp.ActivityURI), besides the audit log. The same again only
// counts, and lists go out no more often than rows of terminals do, so that an agent
// that tries in a loop costs no more than one that tried once.

// refusedAgent notes what an agent was not allowed.
func (h *Host) refusedAgent(tx core.Tx, r ahp.AgentRefusal) {
	v := h.activity
	r.At, r.Count = h.now().UnixMilli(), 1
	r.Agent, r.What, r.Why = inLine(r.Agent), inLine(r.What), inLine(r.Why)
	r.Session, r.Terminal = params.Clip(r.Session), params.Clip(r.Terminal)
	i := slices.IndexFunc(v.refusals, func(o ahp.AgentRefusal) bool {
		return o.Agent == r.Agent && o.Session == r.Session && o.What == r.What && o.Why == r.Why
	})
	if i >= 0 {
		r.Count += v.refusals[i].Count
		v.refusals = slices.Delete(v.refusals, i, i+1)
	}
	v.refusals = append(v.refusals, r)
	if n := len(v.refusals); n > ahp.MaxRefusals {
		v.refusals = slices.Delete(v.refusals, 0, n-ahp.MaxRefusals)
	}
	v.refused = true
	v.sendSoon(tx)
}

// inLine is a text that fits into a line of an interface.
func inLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(params.ClipTo(s, ahp.MaxNote), ""))
	return strings.TrimSpace(s)
}

// refusedGuest is refusedAgent for a request of an agent from the side.
func (h *Host) refusedGuest(c *conn, method string, params json.RawMessage, err error) {
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
		h.refusedAgent(tx, ahp.AgentRefusal{
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
	return quoteCommand(argv, "")
}

// commandLine is what the command of a new terminal is called: a line that an agent
// gave, as that line; what people start, as they started it.
func commandLine(p ahp.CreateTerminalParams) string {
	if p.Claim.Kind == ahp.ClaimSession {
		return shownCommand(p.Meta.Command)
	}
	return quoteCommand(p.Meta.Command, "")
}

// refuse notes what the agent of a chat was not allowed; what and why are kept in
// the audit log as well.
func (ts heldTerminals) refuse(c *sessions.Chat, kind, what string, err error) {
	h := ts.h
	h.audit.RefusedAgent(c.URI(), c.Session(), kind, what, err.Error())
	h.core.Do(func(tx core.Tx) {
		if !c.Dead(tx) {
			h.refusedAgent(tx, ahp.AgentRefusal{Agent: c.Provider(), Session: c.Session(), What: what, Why: err.Error()})
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
