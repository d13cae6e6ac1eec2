package host

import (
	"time"

	"cotty/ahp"
	"cotty/host/guard"
)

// Belt is what agents at the side may do (rulings.md §3.2–3.4): a seat belt, not
// a wall.
type Belt struct {
	Policy guard.Policy
	// Spawns a minute and Terminals at once are for the background terminals of one
	// agent, Calls at once for those in which a tool call runs; 0 means any number.
	Spawns, Terminals, Calls int
	// Idle is how long an agent's background terminal may be without input and
	// output before it is ended; 0 means for ever.
	Idle time.Duration
}

// DefaultBelt is that of the documents (T10–T13, T38).
func DefaultBelt() Belt {
	return Belt{Policy: guard.Default(), Spawns: 3, Terminals: 5, Calls: 20, Idle: 5 * time.Minute}
}

// belt is the one in force.
func (h *Host) belt() Belt {
	if h.cfg.Belt != nil {
		return h.cfg.Belt()
	}
	return DefaultBelt()
}

// judge decides whether an agent may run a command, after its scope, ownership
// and directory were found right, and reserves its place: order matters
// (rulings.md §3.1). Others get no place and need none.
func (h *Host) judge(p *principal, c ahp.CreateTerminalParams) (*guard.Slot, error) {
	if p.agent == "" {
		return nil, nil
	}
	b := h.belt()
	if c.Meta != nil {
		if r := b.Policy.Check(c.Meta.Command); r != nil {
			return nil, ahp.PermissionDenied("%s", r.MCP())
		}
	}
	if c.Claim.ToolCallID != "" {
		return h.reserveSlot(p.id+" calls", b.Calls, 0)
	}
	return h.reserveSlot(p.id, b.Terminals, b.Spawns)
}

// judgeLine is judge for a line of a shell's that has its terminal.
func (h *Host) judgeLine(p *principal, argv []string, line string) error {
	if p.agent == "" {
		return nil
	}
	b := h.belt()
	r := b.Policy.Check(argv)
	if line != "" {
		r = b.Policy.CheckLine(line)
	}
	if r != nil {
		return ahp.PermissionDenied("%s", r.MCP())
	}
	return nil
}

// reserveSlot takes a place under one of an agent's quotas.
func (h *Host) reserveSlot(of string, live, rate int) (*guard.Slot, error) {
	h.mu.Lock()
	q := h.quotas[of]
	if q == nil {
		if len(h.quotas) >= maxQuotas {
			clear(h.quotas) // agents that come and go; those that are there begin anew
		}
		q = guard.NewQuota(live, rate, time.Minute, h.now)
		h.quotas[of] = q
	}
	h.mu.Unlock()
	slot, err := q.Reserve()
	if err != nil {
		return nil, ahp.Conflict("%s", err.Error())
	}
	return slot, nil
}

// maxQuotas bounds the agents that are counted.
const maxQuotas = 1000
