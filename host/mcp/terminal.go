package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"cotty/ahp"
)

const idPrefix = "pty-"

// terminal is what the tools tell of a terminal (T4). The order of its members
// is the seed's.
type terminal struct {
	ID        string   `json:"id"`
	Cwd       string   `json:"cwd"`
	Owner     string   `json:"owner" jsonschema:"user or agent: who holds the terminal"`
	Visible   bool     `json:"visible" jsonschema:"whether a person holds it or sees it"`
	CreatedAt int64    `json:"createdAt" jsonschema:"Unix time in milliseconds"`
	Command   []string `json:"command,omitempty"`

	Title string `json:"title,omitempty"`
	// Mine says that the calling agent holds it.
	Mine        bool   `json:"mine" jsonschema:"whether you hold it: you may type into it and kill it"`
	LastCommand string `json:"lastCommand,omitempty" jsonschema:"the newest command that the terminal's shell ran"`
	Running     *bool  `json:"running,omitempty" jsonschema:"whether lastCommand still runs"`
	ExitCode    *int   `json:"exitCode,omitempty" jsonschema:"of lastCommand, once it has ended"`
}

// describe derives what the tools tell from the host's row.
func (s *Server) describe(t *ahp.TerminalInfo) terminal {
	m := t.Meta
	if m == nil {
		m = &ahp.TerminalMeta{}
	}
	d := terminal{
		ID: idOf(t.Resource), Cwd: pathOf(m.Cwd), Owner: "agent", Visible: len(m.Layouts) > 0,
		CreatedAt: m.Created, Command: m.Command, Title: t.Title, Mine: s.holds(t),
	}
	if t.Claim.Kind == ahp.ClaimClient {
		d.Owner, d.Visible = "user", true
	}
	if c := m.LastCommand; c != nil && m.Command == nil {
		d.LastCommand, d.Running, d.ExitCode = c.CommandLine, &c.Running, c.ExitCode
	}
	return d
}

// holds reports whether the agent's session holds the terminal.
func (s *Server) holds(t *ahp.TerminalInfo) bool {
	c, mine := t.Claim, s.o.Claim
	return c.Kind == ahp.ClaimSession && c.Session == mine.Session && (c.Chat == mine.Chat || c.Chat == "" || mine.Chat == "")
}

// idOf is the tools' name of a terminal.
func idOf(uri ahp.URI) string { return idPrefix + uri[strings.LastIndexAny(uri, "/:")+1:] }

// list asks the host for its terminals: what it says is never older than what
// the agent was answered before.
func (s *Server) list(ctx context.Context) ([]ahp.TerminalInfo, error) {
	var raw json.RawMessage
	if err := s.request(ctx, ahp.MethodSubscribe, ahp.SubscribeParams{Channel: ahp.RootURI}, &raw); err != nil {
		return nil, err
	}
	r, err := ahp.ReadSubscribeResult(raw)
	if err != nil || r.Snapshot == nil {
		return nil, fmt.Errorf("list the terminals: the host's answer has no state: %w", err)
	}
	var root ahp.RootState
	if err := json.Unmarshal(r.Snapshot.State, &root); err != nil {
		return nil, fmt.Errorf("list the terminals: %w", err)
	}
	return root.Terminals, nil
}

// find is the terminal that an id means, also one whose process has ended; nil
// when there is none.
func (s *Server) find(ctx context.Context, id string) (*ahp.TerminalInfo, error) {
	all, err := s.list(ctx)
	for _, t := range all {
		if name := idOf(t.Resource); id != "" && (id == name || id == t.Resource || idPrefix+id == name) {
			return &t, nil
		}
	}
	return nil, err
}

// known is find for the tools that need the terminal.
func (s *Server) known(ctx context.Context, id string) (*ahp.TerminalInfo, error) {
	t, err := s.find(ctx, id)
	if err == nil && t == nil {
		err = fmt.Errorf("Terminal not found: %s", clip(id)) //nolint:staticcheck // the documents' text
	}
	return t, err
}

// own is known for the tools that only the holder may use.
func (s *Server) own(ctx context.Context, id, doing string) (*ahp.TerminalInfo, error) {
	t, err := s.known(ctx, id)
	if err == nil && !s.holds(t) {
		err = fmt.Errorf("%s: you do not hold %s: claim_terminal asks for it", doing, idOf(t.Resource))
	}
	return t, err
}

// clip bounds what is repeated of a caller's text.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// pathOf is the path of a file URI.
func pathOf(uri ahp.URI) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	return u.Path
}

func fileURI(path string) ahp.URI { return (&url.URL{Scheme: "file", Path: path}).String() }
