package requests

import (
	"cmp"
	"context"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/plaintext"
)

// initialize handles the handshake (AHP, Lifecycle).
func (s *Server) initialize(ctx context.Context, c *Conn, p ahp.InitializeParams) (any, error) {
	version, profile, err := ahp.Negotiate(p.ProtocolVersions)
	if err != nil {
		if ahp.CodeOf(err) == ahp.CodeUnsupportedVersion {
			c.Out.RPC.AfterReply(func() {
				c.Out.RPC.Close(jsonrpc.CloseProtocol, "no common protocol version") //nolint:errcheck // it ends either way
			})
		}
		return nil, err
	}
	if err := auth.CheckClientID(p.ClientID); err != nil {
		return nil, err
	}
	if len(p.InitialSubscriptions) > c.s.Limits.Subscriptions {
		return nil, ahp.InvalidParams("initialSubscriptions: more than %d", c.s.Limits.Subscriptions)
	}
	who := c.Principal
	switch m := p.Meta; {
	case m != nil && m.Agent != nil:
		who, err = who.AsAgent(m.Agent, p.ClientID)
	case m != nil && m.Session != "":
		who, err = who.Driving(m.Session)
	}
	if err != nil {
		return nil, err
	}
	var taken []*snapshot
	var seq int64
	if failed := c.turn(ctx, false, func(tx core.Tx, b *batch) {
		var cl *core.Client
		if err = s.mayAnnounce(tx, "initialize", who); err != nil {
			return
		}
		if cl, err = s.bindClient(tx, p.ClientID, who); err != nil {
			return
		}
		tx.Initialized(cl, version, profile)
		cl.Title = titleOf(p.ClientInfo)
		c.Principal, cl.Guest = who, nil
		if who.Session != "" {
			cl.Guest = who
		}
		c.Resumed, c.Continues = false, false
		c.begin(tx, cl)
		taken = c.openAll(tx, b, p.InitialSubscriptions)
		seq = tx.Seq()
	}); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	snapshots, err := c.encode(taken)
	if err != nil {
		return nil, c.undo(err)
	}
	return c.reply(snapshots, func(list []ahp.Snapshot) any {
		return ahp.InitializeResult{
			ProtocolVersion:  version,
			ServerSeq:        seq,
			Snapshots:        list,
			ServerInfo:       &ahp.Implementation{Name: "tandemux", Version: s.Version},
			DefaultDirectory: fileuri.Of(s.Home),
			Triggers:         s.Triggers,
			CommandPrefix:    s.CommandPrefix,
			Meta:             &ahp.InitializeMeta{Principal: who.Told(), Session: who.Session, Scopes: who.Scopes},
		}
	})
}

// maxClientTitle bounds a client's title, in bytes.
const maxClientTitle = 64

// titleOf returns the title of a client's program, without unprintable characters.
func titleOf(info *ahp.Implementation) string {
	if info == nil {
		return ""
	}
	return plaintext.Without(params.ClipTo(cmp.Or(info.Title, info.Name), maxClientTitle), func(r rune) bool { return !unicode.IsPrint(r) })
}

// mayAnnounce returns an error if another principal's client has announced the session.
func (s *Server) mayAnnounce(tx core.Tx, doing string, who *auth.Principal) error {
	for cl := range tx.Clients() {
		if g := cl.Guest; g != nil && who.Session != "" && g.Session == who.Session && who.Agent+g.Agent == "" && g.ID != who.ID && cl.Here() {
			return ahp.PermissionDenied("%s: tandemux/session: the session %s is somebody else's: it was announced by another client", doing, params.Clip(who.Session))
		}
	}
	return nil
}

// openAll subscribes to those uris that exist and are allowed; the others get no snapshot (AHP,
// Lifecycle).
func (c *Conn) openAll(tx core.Tx, b *batch, uris []ahp.URI) (taken []*snapshot) {
	seen := map[ahp.URI]bool{}
	for _, uri := range uris {
		if uri = params.Canonical(uri); seen[uri] {
			continue
		}
		seen[uri] = true
		if s, err := c.open(tx, b, uri, whole); err == nil {
			taken = append(taken, s)
		}
	}
	c.fit(tx, taken)
	return taken
}

// begin ends the handshake.
func (c *Conn) begin(tx core.Tx, cl *core.Client) {
	tx.Begin(c.Link, cl)
	c.s.Channels.Came(tx, cl)
	c.Log = c.Log.With("client", cl.ID)
	c.Out.SetLog(c.Log)
}

// encode encodes snapshots up to the bound of one reply. The channels of the others are unsubscribed;
// the client can subscribe to them one by one.
func (c *Conn) encode(taken []*snapshot) ([]*encoded, error) {
	list := make([]*encoded, 0, len(taken))
	size := 0
	for _, s := range taken {
		e, err := s.encode(c.Profile, false)
		if err != nil {
			return nil, err
		}
		if size += e.size; size > c.s.Limits.ReplyBytes {
			c.forgo(s.uri)
			continue
		}
		list = append(list, e)
	}
	return list, nil
}

func (c *Conn) forgo(uri ahp.URI) {
	tx := c.s.Core.Lock()
	defer tx.Unlock()
	if ch := c.Watched(uri); ch != nil {
		tx.Unsubscribe(ch, c.Link)
	}
}
