package pool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/internal/plaintext"
)

// Owners of a terminal.
const (
	User  = "user"
	Agent = "agent"
)

// HistoryBytes is how much of a terminal's output is told (T6), cut at a line's
// end where one is near (T7, docs/contributing/decisions.md §6).
const HistoryBytes = 64 << 10

// History is the part of a terminal's output that is told.
func History(output string) string { return plaintext.Tail(output, HistoryBytes) }

// Terminal is what is told of a terminal (T4); the first six members, in their
// order, are the document's.
type Terminal struct {
	ID        string   `json:"id"`
	Cwd       string   `json:"cwd"`
	Owner     string   `json:"owner" jsonschema:"user or agent: who holds the terminal"`
	Visible   bool     `json:"visible" jsonschema:"whether a person holds it or sees it"`
	CreatedAt int64    `json:"createdAt" jsonschema:"Unix time in milliseconds"`
	Command   []string `json:"command,omitempty"`

	Name        string `json:"name,omitempty" jsonschema:"given by a person or an agent; does for the id"`
	Title       string `json:"title,omitempty" jsonschema:"what runs in it, as a program may say; not an id"`
	LastCommand string `json:"lastCommand,omitempty" jsonschema:"the newest command that the terminal's shell ran"`
	Running     *bool  `json:"running,omitempty" jsonschema:"whether lastCommand still runs"`
	ExitCode    *int   `json:"exitCode,omitempty" jsonschema:"of lastCommand, once it has ended"`
}

// Describe derives what is told from the host's row.
func Describe(t *ahp.TerminalInfo) Terminal {
	m := cmp.Or(t.Meta, &ahp.TerminalMeta{})
	d := Terminal{
		ID: ID(t.Resource), Cwd: fileuri.Path(m.Cwd), Owner: Agent, Visible: len(m.Layouts) > 0,
		CreatedAt: m.Created, Command: m.Command, Name: m.Name, Title: t.Title,
	}
	if m.Name != "" {
		d.Title = m.Title
	}
	if t.Claim.Kind == ahp.ClaimClient {
		d.Owner, d.Visible = User, true
	}
	if c := m.LastCommand; c != nil && m.RunsShell() {
		d.LastCommand, d.Running, d.ExitCode = c.CommandLine, &c.Running, c.ExitCode
	}
	return d
}

// List reads the terminals out of the answer to a subscription to the root
// channel.
func List(raw json.RawMessage) ([]ahp.TerminalInfo, error) {
	var r ahp.SubscribeResult
	err := ahp.Unmarshal(raw, &r)
	if err == nil && r.Snapshot == nil {
		err = errors.New("the answer has no state")
	}
	var root ahp.RootState
	if err == nil {
		err = json.Unmarshal(r.Snapshot.State, &root)
	}
	if err != nil {
		return nil, fmt.Errorf("list the terminals: %w", err)
	}
	return root.Terminals, nil
}

const idPrefix = "pty-"

// ID is the name of a terminal: pty- and the last part of its URI.
func ID(uri ahp.URI) string { return idPrefix + uri[strings.LastIndexAny(uri, "/:")+1:] }

// Find is the terminal that a name means, also one whose process has ended; nil
// when there is none. The URI and the id without its prefix do as well, and after
// them the name that somebody gave it; a title doesn't.
func Find(all []ahp.TerminalInfo, id string) *ahp.TerminalInfo {
	if id == "" {
		return nil
	}
	for i := range all {
		if name := ID(all[i].Resource); id == name || id == all[i].Resource || idPrefix+id == name {
			return &all[i]
		}
	}
	for i := range all {
		if m := all[i].Meta; m != nil && m.Name == id {
			return &all[i]
		}
	}
	return nil
}
