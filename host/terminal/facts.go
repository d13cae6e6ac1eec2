package terminal

import (
	"encoding/json"
	"slices"

	"tandemux/emulator"
	"tandemux/host/shell"
)

// facts is the journal's record of what a terminal knows that neither the content nor an
// action tells.
type facts struct {
	Passed uint64 `json:"passed"`         // Terminal.passed
	Base   uint64 `json:"base,omitempty"` // kept.base
	Title  string `json:"title,omitempty"`
	Cwd    string `json:"cwd,omitempty"`

	Count      int           `json:"count,omitempty"` // of commands
	Hidden     int           `json:"hidden,omitempty"`
	Mark       uint64        `json:"mark,omitempty"`
	Marks      bool          `json:"marks,omitempty"` // commands.marks
	Available  bool          `json:"available,omitempty"`
	TellsInput bool          `json:"tellsInput,omitempty"`
	Shows      bool          `json:"shows,omitempty"`
	Input      place         `json:"input,omitzero"`
	Skip       []place       `json:"skip,omitempty"`
	Tracker    shell.Tracker `json:"tracker,omitzero"`

	Typed   bool `json:"typed,omitempty"`
	Entered bool `json:"entered,omitempty"`
	Exited  bool `json:"exited,omitempty"` // TerminalExited was queued

	Clears []clearing `json:"clears,omitempty"`
}

// clearing is a clearing of the content. Its offsets count as Terminal.passed. From At to
// To viewers were given output made of the state, not by the child. kept begins at Base.
type clearing struct {
	At, Base, To uint64
}

// maxClears bounds the clearings remembered since the last checkpoint; the newest are
// kept. After a restore, the kept output of a command that ran during an older clearing
// also has the output made of the state then.
const maxClears = 32

// cleared notes a clearing.
func (g *given) cleared(c clearing) {
	if n := len(g.clears); n == maxClears {
		g.clears = slices.Delete(g.clears, 0, 1)
	}
	g.clears = append(g.clears, c)
}

// facts returns the present facts. The caller holds screen.
func (t *Terminal) facts() facts {
	c := &t.cmds
	return facts{
		Passed: t.passed, Base: t.kept.base, Title: t.titles.program, Cwd: t.cwd,
		Count: c.count, Hidden: c.hidden, Mark: c.mark, Marks: c.marks, Available: c.available, TellsInput: c.tellsInput,
		Shows: c.prompt.shows, Input: c.prompt.input, Skip: slices.Clone(c.prompt.skip), Tracker: c.tracker,
		Typed: t.line.on.Load(), Entered: t.entered.on.Load(), Exited: t.told,
		Clears: slices.Clone(t.clears),
	}
}

// know sets what f tells, except what follows from the content. The caller holds screen.
func (t *Terminal) know(f facts) {
	t.titles.program, t.cwd = f.Title, f.Cwd
	c := &t.cmds
	c.count, c.hidden, c.available, c.tellsInput = f.Count, f.Hidden, f.Available, f.TellsInput
	c.mark = max(c.mark, f.Mark)
	c.prompt = prompt{shows: f.Shows, input: f.Input, skip: f.Skip}
	c.tracker = f.Tracker
	t.line.set(f.Typed)
	t.entered.set(f.Entered)
	t.clears, t.told = f.Clears, f.Exited
	t.exit.queued.Store(f.Exited)
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // facts has nothing that JSON cannot encode
	}
	return b
}

// places are the marks of the prompt, in the order of the stream.
func (f *facts) places() []place {
	if f.Input.ID == 0 {
		return nil
	}
	return append([]place{f.Input}, f.Skip...)
}

// moveTo sets the places of the prompt's marks to where a state has them that viewers are
// given at offset at.
func (p *prompt) moveTo(at uint64, marks []emulator.Cut) {
	if p.input.ID == 0 {
		return
	}
	where := make(map[uint64]uint64, len(marks))
	for _, m := range marks {
		where[m.ID] = at + uint64(m.At)
	}
	move := func(p *place) {
		if at, ok := where[p.ID]; ok {
			p.At = at
		} else {
			p.At = gone
		}
	}
	move(&p.input)
	for i := range p.skip {
		move(&p.skip[i])
	}
}

// gone is the place of a mark that the emulator no longer has.
const gone = ^uint64(0)
