package ahp

import "slices"

// The wire forms of this package's types, written by hand so that each key's
// presence is exact: lists are never null, a running terminal's lifecycle is
// always there, a command part has all its required members.

// MarshalJSON writes the newest form; Encode writes others.
func (s RootState) MarshalJSON() ([]byte, error)        { return Encode(V1, s) }
func (t TerminalInfo) MarshalJSON() ([]byte, error)     { return Encode(V1, t) }
func (s TerminalState) MarshalJSON() ([]byte, error)    { return Encode(V1, s) }
func (s LayoutState) MarshalJSON() ([]byte, error)      { return Encode(V1, s) }
func (p Part) MarshalJSON() ([]byte, error)             { return Encode(V1, p) }
func (c Claim) MarshalJSON() ([]byte, error)            { return Encode(V1, c) }
func (l Lifecycle) MarshalJSON() ([]byte, error)        { return Encode(V1, l) }
func (a AgentInfo) MarshalJSON() ([]byte, error)        { return Encode(V1, a) }
func (e Envelope) MarshalJSON() ([]byte, error)         { return Encode(V1, e) }
func (d DispatchParams) MarshalJSON() ([]byte, error)   { return Encode(V1, d) }
func (s Snapshot) MarshalJSON() ([]byte, error)         { return Encode(V1, s) }
func (p InitializeParams) MarshalJSON() ([]byte, error) { return Encode(V1, p) }
func (r InitializeResult) MarshalJSON() ([]byte, error) { return Encode(V1, r) }
func (p ReconnectParams) MarshalJSON() ([]byte, error)  { return Encode(V1, p) }
func (r ReconnectResult) MarshalJSON() ([]byte, error)  { return Encode(V1, r) }
func (r SubscribeResult) MarshalJSON() ([]byte, error)  { return Encode(V1, r) }
func (r TokenListResult) MarshalJSON() ([]byte, error)  { return Encode(V1, r) }

func (s RootState) appendTo(w *writer) {
	w.open('{')
	list(w, "agents", s.Agents)
	if s.ActiveSessions != nil {
		w.int("activeSessions", int64(*s.ActiveSessions))
	}
	if s.Terminals != nil {
		list(w, "terminals", s.Terminals)
	}
	if s.Config != nil {
		w.key("config")
		w.open('{')
		w.member("schema", nonNilMap(s.Config.Schema))
		w.member("values", nonNilMap(s.Config.Values))
		w.close('}')
	}
	w.close('}')
}

func (a AgentInfo) appendTo(w *writer) {
	w.open('{')
	w.str("provider", a.Provider)
	w.str("displayName", a.DisplayName)
	w.str("description", a.Description)
	list(w, "models", a.Models)
	w.optRaw("capabilities", a.Capabilities)
	w.close('}')
}

func (t TerminalInfo) appendTo(w *writer) {
	w.open('{')
	w.str("resource", t.Resource)
	w.str("title", t.Title)
	w.member("claim", t.Claim)
	w.life(t.Lifecycle)
	if t.Meta != nil {
		w.member("_meta", t.Meta)
	}
	w.close('}')
}

// life writes a lifecycle as members of a terminal: in the newer profiles as
// itself, in all as exitCode once there is one (AHP, Terminal Channel).
func (w *writer) life(l Lifecycle) {
	if w.p != V05 {
		w.member("lifecycle", l)
	}
	if l.Exited() && l.ExitCode != nil {
		w.int("exitCode", int64(*l.ExitCode))
	}
}

func (l Lifecycle) appendTo(w *writer) {
	w.open('{')
	if l.Status == "" {
		l.Status = StatusRunning
	}
	w.str("status", l.Status)
	if l.ExitCode != nil && l.Exited() {
		w.int("exitCode", int64(*l.ExitCode))
	}
	w.close('}')
}

func (s TerminalState) appendTo(w *writer) {
	w.open('{')
	w.str("title", s.Title)
	w.optStr("cwd", s.Cwd)
	if s.Cols != 0 {
		w.int("cols", int64(s.Cols))
	}
	if s.Rows != 0 {
		w.int("rows", int64(s.Rows))
	}
	list(w, "content", s.Content)
	w.life(s.Lifecycle)
	w.member("claim", s.Claim)
	if s.SupportsCommandDetection {
		w.bool("supportsCommandDetection", true)
	}
	if s.IsPty != nil && w.p != V05 {
		w.bool("isPty", *s.IsPty)
	}
	w.close('}')
}

func (p Part) appendTo(w *writer) {
	w.open('{')
	w.str("type", p.Type)
	if p.Type != PartCommand {
		w.str("value", p.Value)
		w.close('}')
		return
	}
	w.str("commandId", p.CommandID)
	w.str("commandLine", p.CommandLine)
	w.str("output", p.Output)
	w.int("timestamp", p.Timestamp)
	w.bool("isComplete", p.IsComplete)
	w.outcome(p.ExitCode, p.DurationMs)
	w.close('}')
}

func (c Claim) appendTo(w *writer) {
	w.open('{')
	w.str("kind", c.Kind)
	if c.Kind == ClaimClient || c.ClientID != "" {
		w.str("clientId", c.ClientID)
	}
	if c.Kind == ClaimSession || c.Session != "" {
		w.str("session", c.Session)
	}
	switch {
	case w.p == V05:
	case c.Chat == "" && c.Kind == ClaimSession:
		// From a 0.5 client; later ones require the member. There a session is
		// its own chat.
		w.str("chat", c.Session)
	default:
		w.optStr("chat", c.Chat)
	}
	w.optStr("turnId", c.TurnID)
	w.optStr("toolCallId", c.ToolCallID)
	w.close('}')
}

func (s LayoutState) appendTo(w *writer) {
	w.open('{')
	w.int("rev", s.Rev)
	w.raw("doc", s.Doc)
	list(w, "terminals", s.Terminals)
	w.close('}')
}

func (e Envelope) appendTo(w *writer) {
	w.open('{')
	w.str("channel", e.Channel)
	w.key("action")
	w.action(e.Action)
	w.int("serverSeq", e.ServerSeq)
	if e.Origin != nil {
		w.member("origin", *e.Origin)
	}
	w.optStr("rejectionReason", e.RejectionReason)
	w.close('}')
}

func (o Origin) appendTo(w *writer) {
	w.open('{')
	w.str("clientId", o.ClientID)
	w.int("clientSeq", o.ClientSeq)
	w.close('}')
}

func (d DispatchParams) appendTo(w *writer) {
	w.open('{')
	w.str("channel", d.Channel)
	w.int("clientSeq", d.ClientSeq)
	w.key("action")
	w.action(d.Action)
	w.close('}')
}

func (s Snapshot) appendTo(w *writer) {
	w.open('{')
	w.str("resource", s.Resource)
	w.raw("state", s.State)
	w.int("fromSeq", s.FromSeq)
	w.close('}')
}

func (p InitializeParams) appendTo(w *writer) {
	w.open('{')
	w.str("channel", p.Channel)
	list(w, "protocolVersions", p.ProtocolVersions)
	w.str("clientId", p.ClientID)
	if p.ClientInfo != nil {
		w.member("clientInfo", *p.ClientInfo)
	}
	if len(p.InitialSubscriptions) > 0 {
		list(w, "initialSubscriptions", p.InitialSubscriptions)
	}
	w.optStr("locale", p.Locale)
	if p.Meta != nil {
		w.member("_meta", *p.Meta)
	}
	w.close('}')
}

func (r InitializeResult) appendTo(w *writer) {
	w.open('{')
	w.str("protocolVersion", r.ProtocolVersion)
	w.int("serverSeq", r.ServerSeq)
	list(w, "snapshots", r.Snapshots)
	if r.ServerInfo != nil {
		w.member("serverInfo", *r.ServerInfo)
	}
	w.optStr("defaultDirectory", r.DefaultDirectory)
	if r.Meta != nil {
		w.member("_meta", *r.Meta)
	}
	w.close('}')
}

func (p ReconnectParams) appendTo(w *writer) {
	w.open('{')
	w.str("channel", p.Channel)
	w.str("clientId", p.ClientID)
	w.int("lastSeenServerSeq", p.LastSeenServerSeq)
	list(w, "subscriptions", p.Subscriptions)
	if p.Meta != nil {
		w.member("_meta", *p.Meta)
	}
	w.close('}')
}

func (r ReconnectResult) appendTo(w *writer) {
	w.open('{')
	w.str("type", r.Type)
	if r.Type == ReconnectSnapshot {
		list(w, "snapshots", r.Snapshots)
	} else {
		actions := r.Actions
		if w.p == V05 {
			actions = slices.DeleteFunc(slices.Clone(actions), func(e Envelope) bool {
				return e.Action != nil && !Speaks(w.p, e.Action.ActionType())
			})
		}
		list(w, "actions", actions)
		list(w, "missing", r.Missing)
	}
	w.close('}')
}

func (r SubscribeResult) appendTo(w *writer) {
	w.open('{')
	if r.Snapshot != nil {
		w.member("snapshot", *r.Snapshot)
	}
	w.close('}')
}

func (r TokenListResult) appendTo(w *writer) {
	w.open('{')
	list(w, "items", r.Items)
	w.close('}')
}
