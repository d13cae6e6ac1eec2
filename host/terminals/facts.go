package terminals

import (
	"cmp"
	"encoding/json"
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/keeper"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

// facts are what no action of a terminal tells and the next host must know (core.Private).
type facts struct {
	claims.Owner
	Shell   string           `json:"shell,omitempty"`
	Engine  string           `json:"engine,omitempty"`
	Sandbox ahp.URI          `json:"sandbox,omitempty"`
	Meta    ahp.TerminalMeta `json:"meta"`
	Colors  *emulator.Colors `json:"colors,omitempty"`
	Runs    []ranKey         `json:"runs,omitempty"`
	// Place names the quota in which the terminal counts.
	Place string `json:"place,omitempty"`
	// Follower is the client that must miss no output; see follower.
	Follower string `json:"follower,omitempty"`
}

func (t *Terminal) Private() any {
	f := facts{
		Owner: t.Owner,
		Shell: t.shell, Engine: t.engine, Sandbox: t.sandbox, Meta: t.Meta, Runs: t.runs, Follower: t.follower.who(),
		Place: t.slot.Of(),
	}
	if t.colors != (emulator.Colors{}) {
		f.Colors = &t.colors
	}
	return f
}

func (t *Terminal) Changed() bool {
	was := t.dirty
	t.dirty = false
	return was
}

func (t *Terminal) Know(raw json.RawMessage) error {
	var f facts
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	t.know(f)
	return nil
}

func (t *Terminal) know(f facts) {
	t.Owner = f.Owner
	t.shell, t.engine, t.sandbox, t.Meta, t.runs = f.Shell, f.Engine, f.Sandbox, f.Meta, f.Runs
	t.place = f.Place
	t.follower.expect(f.Follower)
	if f.Colors != nil {
		t.colors = *f.Colors
	}
}

// childNote is the keeper's note of a child, for a host that finds no journal of its
// terminal, or a damaged one.
type childNote struct {
	Channel ahp.URI   `json:"channel"`
	Title   string    `json:"title"`
	Claim   ahp.Claim `json:"claim"`
	Cwd     ahp.URI   `json:"cwd,omitempty"`
	Cols    int       `json:"cols"`
	Rows    int       `json:"rows"`
	Facts   facts     `json:"facts"`
	// The following are as in terminal.Config.
	Command    string `json:"command,omitempty"`
	Nonce      string `json:"nonce,omitempty"`
	PromptEnds bool   `json:"promptEnds,omitempty"`
}

// maxNoted bounds the longer members of a note, in bytes.
const maxNoted = 512

// encode makes a note of at most keeper.MaxNote bytes.
func (n childNote) encode() []byte {
	n.Facts.Colors = nil
	n.Command = strings.ToValidUTF8(params.Cut(n.Command, maxNoted), "")
	b, err := json.Marshal(n)
	if err == nil && len(b) > keeper.MaxNote { // a claim with long names
		n.Claim, n.Facts.Meta = operatorClaim, ahp.TerminalMeta{Created: n.Facts.Meta.Created}
		b, err = json.Marshal(n)
	}
	if err != nil || len(b) > keeper.MaxNote {
		return nil
	}
	return b
}

// operatorClaim is the claim of a terminal about which nothing is known: any client of the
// operator may type into it.
var operatorClaim = ahp.Claim{Kind: ahp.ClaimClient, ClientID: "tandemux"}

// noteOf is the note of a child without a journal.
func (ts *Terminals) noteOf(info keeper.Info) childNote {
	n := childNote{}
	if json.Unmarshal(info.Note, &n) != nil || n.Channel == "" {
		n = childNote{Channel: ahp.TerminalScheme + "/" + info.ID, Cwd: fileuri.Of(info.Dir)}
	}
	if n.Title == "" && len(info.Argv) > 0 {
		n.Title = params.CleanTitle(info.Argv[0])
	}
	if claims.Check(n.Claim) != "" || n.Facts.Holder == "" {
		n.Claim, n.Facts.Holder = operatorClaim, auth.Operator.ID
	}
	if checkSize(n.Cols, n.Rows) != "" {
		n.Cols, n.Rows = defaultCols, defaultRows
	}
	n.Facts.Meta.Principal = n.Facts.Told(n.Claim)
	n.Facts.Meta.Created = cmp.Or(n.Facts.Meta.Created, info.Started)
	return n
}
