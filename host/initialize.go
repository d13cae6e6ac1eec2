package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/outbox"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

// initialize is the handshake (AHP, Lifecycle).
func initialize(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.InitializeParams
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	version, profile, err := ahp.Negotiate(p.ProtocolVersions)
	if err != nil {
		if ahp.CodeOf(err) == ahp.CodeUnsupportedVersion {
			c.rpc.AfterReply(func() {
				c.rpc.Close(outbox.CloseProtocol, "no common protocol version") //nolint:errcheck // it ends either way
			})
		}
		return nil, err
	}
	if err := auth.CheckClientID(p.ClientID); err != nil {
		return nil, err
	}
	if len(p.InitialSubscriptions) > c.h.limits.Subscriptions {
		return nil, ahp.InvalidParams("initialSubscriptions: more than %d", c.h.limits.Subscriptions)
	}
	h := c.h
	who := c.Principal
	if p.Meta != nil && p.Meta.Agent != nil {
		if who, err = who.AsAgent(p.Meta.Agent, p.ClientID); err != nil {
			return nil, err
		}
	}
	var taken []snapshot
	var seq int64
	h.core.Locked(func(tx core.Tx) {
		var cl *core.Client
		if cl, err = h.bindClient(tx, p.ClientID, who); err != nil {
			return
		}
		tx.Initialized(cl, version, profile)
		c.Principal, cl.Guest = who, nil
		if who.Agent != "" {
			cl.Guest = who
		}
		c.Resumed, c.Continues = false, false
		c.begin(tx, cl)
		taken = c.openAll(tx, p.InitialSubscriptions)
		seq = tx.Seq()
	})
	if err != nil {
		return nil, err
	}
	snapshots, err := c.encode(taken)
	if err != nil {
		return nil, c.undo(err)
	}
	return ahp.Encode(profile, ahp.InitializeResult{
		ProtocolVersion:  version,
		ServerSeq:        seq,
		Snapshots:        snapshots,
		ServerInfo:       &ahp.Implementation{Name: "tandemux", Version: h.cfg.Version},
		DefaultDirectory: fileuri.Of(h.home),
		Meta:             &ahp.InitializeMeta{Principal: who.ID, Session: who.Session},
	})
}

// openAll subscribes to what can be subscribed to; the rest yields no snapshot
// (AHP, Lifecycle).
func (c *conn) openAll(tx core.Tx, uris []ahp.URI) (taken []snapshot) {
	seen := map[ahp.URI]bool{}
	for _, uri := range uris {
		if uri = params.Canonical(uri); seen[uri] {
			continue
		}
		seen[uri] = true
		if s, err := c.open(tx, uri); err == nil {
			taken = append(taken, s)
		}
	}
	c.fit(tx, taken)
	return taken
}

// begin ends the handshake.
func (c *conn) begin(tx core.Tx, cl *core.Client) {
	tx.Begin(c.Link, cl)
	c.h.comesOrGoes(tx, cl)
	c.Log = c.Log.With("client", cl.ID)
	c.Out.SetLog(c.Log)
}

// encode encodes snapshots up to the bound of one reply; the rest is left out
// and unsubscribed, and can be subscribed to one by one.
func (c *conn) encode(taken []snapshot) ([]ahp.Snapshot, error) {
	list := make([]ahp.Snapshot, 0, len(taken))
	size := 0
	for _, s := range taken {
		e, err := s.encode(c.Profile)
		if err != nil {
			return nil, err
		}
		if size += len(e.State); size > c.h.limits.ReplyBytes {
			c.forgo(s.uri)
			continue
		}
		list = append(list, e)
	}
	return list, nil
}

func (c *conn) forgo(uri ahp.URI) {
	tx := c.h.core.Lock()
	defer tx.Unlock()
	if ch := c.Watched(uri); ch != nil {
		tx.Unsubscribe(ch, c.Link)
	}
}
