package ahp

import "encoding/json"

// The wire forms of sessions. Only their states, summaries and rows of clients
// differ from what encoding/json makes of the types.

func (s SessionState) MarshalJSON() ([]byte, error)        { return Encode(V1, s) }
func (s SessionSummary) MarshalJSON() ([]byte, error)      { return Encode(V1, s) }
func (c ActiveClient) MarshalJSON() ([]byte, error)        { return Encode(V1, c) }
func (c SessionConfig) MarshalJSON() ([]byte, error)       { return Encode(V1, c) }
func (r ListSessionsResult) MarshalJSON() ([]byte, error)  { return Encode(V1, r) }
func (n SessionNotification) MarshalJSON() ([]byte, error) { return Encode(V1, n) }
func (r CompletionsResult) MarshalJSON() ([]byte, error)   { return Encode(V1, r) }
func (r FetchTurnsResult) MarshalJSON() ([]byte, error)    { return Encode(V1, r) }
func (p CreateSessionParams) MarshalJSON() ([]byte, error) { return marshal(plainCreateSession(p)) }
func (s ChatSummary) appendTo(w *writer)                   { w.embed(s.members()) }
func (n InputNeeded) appendTo(w *writer)                   { w.embed(plainInputNeeded(n)) }
func (c SessionConfig) appendTo(w *writer) {
	w.open('{')
	w.object("schema", c.Schema)
	w.member("values", nonNilMap(c.Values))
	w.close('}')
}

type plainInputNeeded InputNeeded

// optRaw leaves out what is absent.
func (w *writer) optRaw(k string, v json.RawMessage) {
	if !isAbsent(v) {
		w.raw(k, v)
	}
}

// object writes an object, {} when there is none.
func (w *writer) object(k string, v json.RawMessage) {
	if isAbsent(v) {
		v = json.RawMessage("{}")
	}
	w.raw(k, v)
}

// embed writes a value of a plain type as encoding/json does.
func (w *writer) embed(v any) {
	b, err := marshal(v)
	if err != nil {
		w.fail(err)
		return
	}
	w.buf = append(w.buf, b...)
}

// inline writes the members of a plain value into the object that is open.
func (w *writer) inline(v any) {
	b, err := marshal(v)
	if err != nil || len(b) < 2 || b[0] != '{' {
		if w.err == nil {
			w.err = err
		}
		return
	}
	if len(b) > 2 {
		w.comma()
		w.buf = append(w.buf, b[1:len(b)-1]...)
	}
}

// opt writes a list unless it is nil.
func opt[T any](w *writer, k string, items []T) {
	if items != nil {
		list(w, k, items)
	}
}

func (s SessionState) appendTo(w *writer) {
	w.open('{')
	if w.p == V05 { // nested in the sources of 0.5, flat in what was released (docs/protocol.md, Versions)
		w.member("summary", s.Summary())
	}
	w.metadata(s.Provider, s.Title, s.Status, s.Activity)
	w.optRaw("origin", s.Origin)
	w.scope(s.Project, s.WorkingDirectories)
	w.optRaw("annotations", s.Annotations)
	life := s.Lifecycle
	if w.p == V05 && life == LifecycleFailed {
		life = "creationFailed"
	}
	w.str("lifecycle", life)
	if s.CreationError != nil {
		w.member("creationError", s.CreationError)
	}
	opt(w, "serverTools", s.ServerTools)
	list(w, "activeClients", s.ActiveClients)
	list(w, "chats", s.Chats)
	w.optStr("defaultChat", s.DefaultChat)
	if s.Config != nil {
		w.member("config", *s.Config)
	}
	opt(w, "customizations", s.Customizations)
	opt(w, "changesets", s.Changesets)
	if len(s.InputNeeded) > 0 && w.p != V05 {
		list(w, "inputNeeded", s.InputNeeded)
	}
	w.optRaw("_meta", s.Meta)
	w.close('}')
}

// metadata writes what states and summaries have in common.
func (w *writer) metadata(provider, title string, status Status, activity string) {
	w.str("provider", provider)
	w.str("title", title)
	w.int("status", int64(status))
	w.optStr("activity", activity)
}

// scope writes what a session works on.
func (w *writer) scope(p *Project, dirs []URI) {
	if p != nil {
		w.member("project", p)
	}
	switch {
	case len(dirs) == 0:
	case w.p == V05:
		w.str("workingDirectory", dirs[0])
	default:
		list(w, "workingDirectories", dirs)
	}
}

// Summary is the session's row as far as its state tells.
func (s SessionState) Summary() SessionSummary {
	return SessionSummary{
		Resource: s.Resource, Provider: s.Provider, Title: s.Title, Status: s.Status, Activity: s.Activity,
		Origin: s.Origin, Project: s.Project, WorkingDirectories: s.WorkingDirectories, Annotations: s.Annotations,
		CreatedAt: s.CreatedAt, ModifiedAt: s.ModifiedAt, DefaultChat: s.DefaultChat,
		Changes: s.Changes, Model: s.Model, CurrentAgent: s.CurrentAgent,
	}
}

func (s SessionSummary) appendTo(w *writer) {
	w.open('{')
	w.str("resource", s.Resource)
	w.metadata(s.Provider, s.Title, s.Status, s.Activity)
	w.optRaw("origin", s.Origin)
	w.scope(s.Project, s.WorkingDirectories)
	w.optRaw("annotations", s.Annotations)
	w.instant("createdAt", s.CreatedAt)
	w.instant("modifiedAt", s.ModifiedAt)
	w.optRaw("changes", s.Changes)
	if w.p == V05 {
		w.optRaw("model", s.Model)
		w.optRaw("agent", s.CurrentAgent)
	} else {
		w.optStr("defaultChat", s.DefaultChat)
	}
	w.optRaw("_meta", s.Meta)
	w.close('}')
}

// instant writes a session's time: a number in 0.5.
func (w *writer) instant(k string, at Instant) {
	if w.p != V05 {
		w.str(k, string(at))
		return
	}
	ms, _ := at.Ms()
	w.int(k, ms)
}

func (c ActiveClient) appendTo(w *writer) {
	w.open('{')
	w.str("clientId", c.ClientID)
	w.optStr("displayName", c.DisplayName)
	list(w, "tools", c.Tools)
	if len(c.Customizations) > 0 {
		list(w, "customizations", c.Customizations)
	}
	w.close('}')
}

// UnmarshalJSON accepts every profile's form: with a nested summary, or flat.
func (s *SessionState) UnmarshalJSON(b []byte) error {
	var w struct {
		wireSummary
		Summary       *wireSummary      `json:"summary"`
		Lifecycle     string            `json:"lifecycle"`
		CreationError *ErrorInfo        `json:"creationError"`
		ServerTools   []ToolDefinition  `json:"serverTools"`
		ActiveClients []ActiveClient    `json:"activeClients"`
		Chats         []ChatSummary     `json:"chats"`
		Config        *SessionConfig    `json:"config"`
		Custom        []json.RawMessage `json:"customizations"`
		Changesets    []json.RawMessage `json:"changesets"`
		InputNeeded   []InputNeeded     `json:"inputNeeded"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	m := w.wireSummary
	if w.Summary != nil {
		chat, meta := m.DefaultChat, m.Meta
		m = *w.Summary
		m.DefaultChat, m.Meta = chat, meta
	}
	if w.Lifecycle == "creationFailed" {
		w.Lifecycle = LifecycleFailed
	}
	sum := m.summary()
	*s = SessionState{
		Provider: sum.Provider, Title: sum.Title, Status: sum.Status, Activity: sum.Activity, Origin: sum.Origin,
		Project: sum.Project, WorkingDirectories: sum.WorkingDirectories, Annotations: sum.Annotations,
		Lifecycle: w.Lifecycle, CreationError: w.CreationError, ServerTools: w.ServerTools,
		ActiveClients: w.ActiveClients, Chats: w.Chats, DefaultChat: sum.DefaultChat, Config: w.Config,
		Customizations: w.Custom, Changesets: w.Changesets, InputNeeded: w.InputNeeded, Meta: sum.Meta,
		Resource: sum.Resource, CreatedAt: sum.CreatedAt, ModifiedAt: sum.ModifiedAt,
		Changes: sum.Changes, Model: sum.Model, CurrentAgent: sum.CurrentAgent,
	}
	return nil
}

// wireSummary reads a session's metadata in every profile's form.
type wireSummary struct {
	Resource           URI             `json:"resource"`
	Provider           string          `json:"provider"`
	Title              string          `json:"title"`
	Status             Status          `json:"status"`
	Activity           string          `json:"activity"`
	Origin             json.RawMessage `json:"origin"`
	Project            *Project        `json:"project"`
	WorkingDirectory   URI             `json:"workingDirectory"`
	WorkingDirectories []URI           `json:"workingDirectories"`
	Annotations        json.RawMessage `json:"annotations"`
	CreatedAt          Instant         `json:"createdAt"`
	ModifiedAt         Instant         `json:"modifiedAt"`
	Changes            json.RawMessage `json:"changes"`
	DefaultChat        URI             `json:"defaultChat"`
	Meta               json.RawMessage `json:"_meta"`
	Model              json.RawMessage `json:"model"`
	Agent              json.RawMessage `json:"agent"`
}

func (m wireSummary) summary() SessionSummary {
	dirs := m.WorkingDirectories
	if dirs == nil && m.WorkingDirectory != "" {
		dirs = []URI{m.WorkingDirectory}
	}
	return SessionSummary{
		Resource: m.Resource, Provider: m.Provider, Title: m.Title, Status: m.Status, Activity: m.Activity,
		Origin: notNull(m.Origin), Project: m.Project, WorkingDirectories: dirs, Annotations: notNull(m.Annotations),
		CreatedAt: m.CreatedAt, ModifiedAt: m.ModifiedAt, Changes: notNull(m.Changes), DefaultChat: m.DefaultChat,
		Meta: notNull(m.Meta), Model: notNull(m.Model), CurrentAgent: notNull(m.Agent),
	}
}

// UnmarshalJSON accepts every profile's form.
func (s *SessionSummary) UnmarshalJSON(b []byte) error {
	var m wireSummary
	if err := Unmarshal(b, &m); err != nil {
		return err
	}
	*s = m.summary()
	return nil
}
