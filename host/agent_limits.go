package host

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/internal/statefile"
)

// agentLimits are those in force.
func (h *Host) agentLimits() guard.Limits {
	if h.cfg.AgentLimits != nil {
		return h.cfg.AgentLimits()
	}
	return guard.DefaultLimits()
}

// judge decides whether an agent may run a command, after its scope, ownership
// and directory were found right, and reserves its place: order matters
// (docs/decisions.md §22). Others get no place and need none.
func (h *Host) judge(p *auth.Principal, c ahp.CreateTerminalParams) (*guard.Slot, error) {
	if p.Agent == "" {
		return nil, nil
	}
	b := h.agentLimits()
	if c.Meta != nil {
		if r := b.Policy.Check(c.Meta.Command); r != nil {
			return nil, ahp.PermissionDenied("%s", r.MCP())
		}
	}
	if c.Claim.ToolCallID != "" {
		return h.reserveSlot(p.QuotaKey()+" calls", b.Calls, 0)
	}
	return h.reserveSlot(p.QuotaKey(), b.Terminals, b.Spawns)
}

// judgeLine is judge for a line of a shell's that has its terminal.
func (h *Host) judgeLine(p *auth.Principal, argv []string, line string) error {
	if p.Agent == "" {
		return nil
	}
	b := h.agentLimits()
	r := b.Policy.Check(argv)
	if line != "" {
		r = b.Policy.CheckLine(line)
	}
	if r != nil {
		return ahp.PermissionDenied("%s", r.MCP())
	}
	return nil
}

// reserveSlot takes a place under one of an agent's quotas. Starts that count are
// written down before anything is started, so that a host that is killed forgets
// none.
func (h *Host) reserveSlot(of string, live, rate int) (*guard.Slot, error) {
	q, err := h.quota(of)
	if err != nil {
		return nil, err
	}
	slot, err := q.Reserve(live, rate)
	if err != nil {
		return nil, ahp.Conflict("%s", err.Error())
	}
	if rate > 0 {
		h.keepStarts()
	}
	return slot, nil
}

// quota is that of an agent.
func (h *Host) quota(of string) (*guard.Quota, error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	q := h.quotas[of]
	if q != nil {
		return q, nil
	}
	if len(h.quotas) >= maxQuotas {
		maps.DeleteFunc(h.quotas, func(_ string, q *guard.Quota) bool { return q.Idle() })
	}
	if len(h.quotas) >= maxQuotas {
		return nil, ahp.Conflict("too many agents have started something in the last minute: try again later")
	}
	q = guard.NewQuota(of, startsWindow, h.now)
	h.quotas[of] = q
	return q, nil
}

const (
	// maxQuotas bounds the agents that are counted.
	maxQuotas = 1000
	// startsWindow is what spawns are counted in (T12).
	startsWindow = time.Minute
	startsFile   = "agent-starts.json"
)

// keepStarts writes down which agents have started something in the last minute.
func (h *Host) keepStarts() {
	h.startsMu.Lock()
	defer h.startsMu.Unlock()
	tx := h.core.Lock()
	quotas := maps.Clone(h.quotas)
	tx.Unlock()
	all := map[string][]int64{}
	for of, q := range quotas {
		for _, at := range q.Starts() {
			all[of] = append(all[of], at.UnixMilli())
		}
	}
	b, err := json.Marshal(all)
	if err == nil {
		err = statefile.Write(filepath.Join(h.cfg.State, startsFile), b)
	}
	if err != nil {
		h.log.Warn("keep what agents have started", "err", err)
	}
}

// recallStarts takes up what an earlier host wrote down.
func (h *Host) recallStarts() {
	b, err := os.ReadFile(filepath.Join(h.cfg.State, startsFile))
	if err != nil {
		return // Nothing was started yet.
	}
	var all map[string][]int64
	if err := json.Unmarshal(b, &all); err != nil {
		h.log.Warn("what agents have started in the last minute is forgotten", "err", err)
		return
	}
	for of, list := range all {
		q, err := h.quota(of)
		if err != nil {
			return
		}
		starts := make([]time.Time, 0, len(list))
		for _, ms := range list {
			starts = append(starts, time.UnixMilli(ms))
		}
		q.Recall(starts)
	}
}

// retake gives a terminal of an earlier host its place again, and its time without
// input and output.
func (t *term) retake(tx core.Tx) {
	t.watchIdle(tx)
	if t.place == "" || t.slot != nil || t.value.Claim.Kind != ahp.ClaimSession || t.value.Lifecycle.Exited() {
		return
	}
	q := t.h.quotas[t.place]
	if q == nil {
		q = guard.NewQuota(t.place, startsWindow, t.h.now)
		t.h.quotas[t.place] = q
	}
	t.slot = q.Retake()
}
