package host

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/annotations"
	"tandemux/host/core"
	"tandemux/host/front"
	"tandemux/host/listen"
	"tandemux/host/requests"
	"tandemux/host/terminals"
)

// restoreTime bounds the making of all that an earlier host left.
const restoreTime = time.Minute

// restore makes what an earlier host left: channels, clients, terminals. Nobody
// is connected yet.
func (h *Host) restore() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), restoreTime)
	defer cancel()
	left, err := h.terminals.Inherit(ctx)
	if err != nil {
		return err
	}
	tx := h.core.Lock()
	for _, f := range left.Journals {
		tx.Saw(f.Contents.Newest)
	}
	for _, f := range left.Spares {
		if !h.journals.Put(f.Journal) {
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Channels {
		if err := tx.Revive(f); err != nil {
			h.cfg.Log.Error("restore a channel", "channel", f.Contents.Channel, "err", err)
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Stale {
		h.journals.Drop(f.Journal)
	}
	tx.Unlock()
	left.Adopt(ctx)
	tx = h.core.Lock()
	left.Join(tx)
	tx.RestoreWindows()
	left.Doubt(tx)
	h.sessions.Revive(tx)
	h.terminals.SendList(tx)
	h.activity.Revived(tx)
	channels := 0
	for range tx.Channels() {
		channels++
	}
	tx.Unlock()
	if err := h.journals.Fill(); err != nil {
		h.activity.Warn("journals", err)
	}
	h.core.Locked(func(tx core.Tx) { tx.Keep(tx.Channel(ahp.RootURI)) })
	if terms := left.Start(ctx); terms+len(left.Journals) > 0 {
		h.cfg.Log.Info("took over from an earlier host", "terminals", terms, "channels", channels, "took", time.Since(began))
	}
	return nil
}

// describeHost answers x-tandemux/host. A token bound to one terminal learns only
// what concerns it.
func (h *Host) describeHost(_ context.Context, c *requests.Conn, _ json.RawMessage) (any, error) {
	r := ahp.HostResult{Version: h.cfg.Version, Listen: []string{}, URLs: []string{}, Principal: c.Principal.ID}
	if c.Principal.Bounded() {
		return r, nil
	}
	trouble := h.requests.Tokens.Trouble()
	tx := h.core.Lock()
	defer tx.Unlock()
	if c.Principal.Operates() {
		r.Warning = h.activity.Warning(tx, trouble)
		if err := h.losing(tx); err != nil {
			r.Losing = activity.OneLine(err)
		}
	}
	at := listen.Addresses(h.front.Listeners(front.TCP))
	r.Listen, r.URLs, r.Fingerprint = at.Listen, at.URLs, at.Fingerprint
	r.Pid, r.KeeperPid, r.Started = os.Getpid(), h.terminals.Keeper().Pid(), h.life.started.UnixMilli()
	for _, p := range h.terminals.Strays() {
		r.Orphans = append(r.Orphans, ahp.Orphan{Terminal: p.Terminal, Pid: p.Pid, Name: p.Name})
	}
	r.Terminals = len(h.terminals.All(tx))
	for c := range h.requests.Conns(tx) {
		if !h.keepsHouse(c) {
			r.Clients++
			r.Waits += h.commands.Waits(tx, c)
		}
	}
	return r, nil
}

// keepsHouse reports whether the connection is the housekeeper's.
func (h *Host) keepsHouse(c *requests.Conn) bool {
	return c.Client != nil && c.Client.ID != "" && c.Client.ID == h.cfg.Housekeeper
}

// root is the body of the root channel.
type root struct {
	terminals *terminals.Terminals
	value     ahp.RootState
}

func (r *root) Reduce(a ahp.Action)  { r.value = ahp.ReduceRoot(r.value, a) }
func (r *root) State(tx core.Tx) any { return r.value }
func (r *root) Settle(tx core.Tx)    { r.terminals.SendDue(tx) }

// kinds are the channels that outlive the host, by the scheme of their URIs; that of a
// session or chat may be another one. Terminals are besides (package terminals). A channel
// of these kinds is journalled from its first action on, or from Tx.Keep.
func (h *Host) kinds() map[string]core.Kind {
	return map[string]core.Kind{
		"ahp-root:": func(_ *core.Channel, state json.RawMessage) (core.Body, error) {
			r := &root{terminals: h.terminals, value: ahp.RootState{Agents: []ahp.AgentInfo{}}}
			return r, json.Unmarshal(state, &r.value)
		},
		"x-tandemux-activity:": h.activity.Revive,
		ahp.LayoutScheme:       h.layouts.revive,
		annotations.Kind: func(ch *core.Channel, s json.RawMessage) (core.Body, error) {
			return h.sessions.Annotations.Revive(ch, s)
		},
		ahp.SessionScheme: func(ch *core.Channel, s json.RawMessage) (core.Body, error) { return h.sessions.ReviveSession(ch, s) },
		ahp.ChatScheme:    func(ch *core.Channel, s json.RawMessage) (core.Body, error) { return h.sessions.ReviveChat(ch, s) },
	}
}
