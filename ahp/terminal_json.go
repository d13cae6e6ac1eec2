package ahp

import (
	"cmp"
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The wire forms of terminals that struct tags can't express.

// wireClaim is a claim with the members that its kind must have.
type wireClaim struct {
	Kind       string  `json:"kind"`
	ClientID   *string `json:"clientId,omitempty"`
	Session    *string `json:"session,omitempty"`
	Chat       URI     `json:"chat,omitempty"`
	TurnID     string  `json:"turnId,omitempty"`
	ToolCallID string  `json:"toolCallId,omitempty"`
}

func (c Claim) wire() wireClaim {
	w := wireClaim{Kind: c.Kind, Chat: c.Chat, TurnID: c.TurnID, ToolCallID: c.ToolCallID}
	if c.Kind == ClaimClient || c.ClientID != "" {
		w.ClientID = &c.ClientID
	}
	if c.Kind == ClaimSession || c.Session != "" {
		w.Session = &c.Session
	}
	return w
}

// MarshalJSON writes a session's claim with the session as the chat if it has none, as in 0.5.
func (c Claim) MarshalJSON() ([]byte, error) {
	if c.Chat == "" && c.Kind == ClaimSession {
		c.Chat = c.Session
	}
	return Encode(V1, c.wire())
}

// MarshalJSON writes the status also of a running process.
func (l Lifecycle) MarshalJSON() ([]byte, error) {
	type plain Lifecycle
	l.Status = cmp.Or(l.Status, StatusRunning)
	if !l.Exited() {
		l.ExitCode = nil
	}
	return Encode(V1, plain(l))
}

// life has both forms of a Lifecycle: lifecycle since 0.9, and exitCode in 0.5, which is written in
// all versions for clients that look for it there.
type life struct {
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
	ExitCode  *int       `json:"exitCode,omitempty"`
}

func lifeOf(l Lifecycle) life {
	if !l.Exited() {
		return life{Lifecycle: &l}
	}
	return life{&l, l.ExitCode}
}

// get returns the newer member if both are there.
func (l life) get() Lifecycle {
	switch {
	case l.Lifecycle != nil && l.Lifecycle.Status != "":
		return *l.Lifecycle
	case l.ExitCode != nil:
		return Lifecycle{Status: StatusExited, ExitCode: l.ExitCode}
	}
	return Lifecycle{Status: StatusRunning}
}

type wireInfo struct {
	Resource URI    `json:"resource"`
	Title    string `json:"title"`
	Claim    Claim  `json:"claim"`
	life
	Meta *TerminalMeta `json:"_meta,omitempty"`
}

func (t TerminalInfo) wire() wireInfo {
	return wireInfo{t.Resource, t.Title, t.Claim, lifeOf(t.Lifecycle), t.Meta}
}

// MarshalJSON writes the newest form.
func (t TerminalInfo) MarshalJSON() ([]byte, error) { return Encode(V1, t.wire()) }

// UnmarshalJSON accepts every profile's form. It ignores a _meta of another form.
func (t *TerminalInfo) UnmarshalJSON(b []byte) error {
	var w struct {
		wireInfo
		Meta json.RawMessage `json:"_meta"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*t = TerminalInfo{Resource: w.Resource, Title: w.Title, Claim: w.Claim, Lifecycle: w.get()}
	if meta := new(TerminalMeta); len(w.Meta) > 0 && Unmarshal(w.Meta, meta) == nil {
		t.Meta = meta
	}
	return nil
}

type wireState struct {
	Title   string     `json:"title"`
	Cwd     URI        `json:"cwd,omitempty"`
	Cols    int        `json:"cols,omitempty"`
	Rows    int        `json:"rows,omitempty"`
	Content List[Part] `json:"content"`
	life
	Claim                    Claim     `json:"claim"`
	SupportsCommandDetection bool      `json:"supportsCommandDetection,omitempty"`
	IsPty                    *bool     `json:"isPty,omitempty"`
	Meta                     StateMeta `json:"_meta,omitzero"`
}

func (s TerminalState) wire() wireState {
	return wireState{s.Title, s.Cwd, s.Cols, s.Rows, s.Content, lifeOf(s.Lifecycle), s.Claim, s.SupportsCommandDetection, s.IsPty, s.Meta}
}

// MarshalJSON writes the newest form, for encoding/json.
func (s TerminalState) MarshalJSON() ([]byte, error) { return Encode(V1, s.wire()) }

// MarshalJSONTo writes the newest form.
func (s TerminalState) MarshalJSONTo(e *jsontext.Encoder) error {
	return jsonv2.MarshalEncode(e, s.wire())
}

// UnmarshalJSON accepts every profile's form.
func (s *TerminalState) UnmarshalJSON(b []byte) error {
	var w wireState
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*s = TerminalState{w.Title, w.Cwd, w.Cols, w.Rows, w.Content, w.get(), w.Claim, w.SupportsCommandDetection, w.IsPty, w.Meta}
	return nil
}

// MarshalJSONTo writes the members of the part's type.
func (p Part) MarshalJSONTo(e *jsontext.Encoder) error {
	type plain Part
	if p.Type == PartCommand {
		p.Value = ""
		return jsonv2.MarshalEncode(e, plain(p))
	}
	return jsonv2.MarshalEncode(e, struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}{p.Type, p.Value})
}
