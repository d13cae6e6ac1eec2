package copying

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/internal/fileuri"
	"tandemux/ui/clipboard"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// maxPast is how many commands the list of all terminals' commands has.
const maxPast = 5000

// past is that list.
type past struct {
	cp     *Copying
	list   *overlay.List
	here   ahp.URI // the focused pane's directory
	wanted find.HistoryParams
	got    find.HistoryResult
}

// history lists the commands that ran in any terminal.
func (cp *Copying) history() {
	p := &past{cp: cp, here: cp.panes.Cwd(), wanted: find.HistoryParams{Channel: ahp.RootURI, Limit: maxPast}}
	with := func(do func(c *find.Command)) func(string) {
		return func(key string) {
			if i := overlay.Index(key); i < len(p.got.Items) {
				cp.loop.Close()
				do(&p.got.Items[i])
			}
		}
	}
	insert := with(func(c *find.Command) { cp.insert(c.CommandLine) })
	p.list = &overlay.List{Source: overlay.Source{
		Title: "History", Width: 150, Rows: p.rows,
		Columns: []overlay.Column{{Most: 1}, {Fills: true, Least: 20}, {Most: 40, Least: 8, Front: true, Muted: true}, {Least: 8, Right: true, Muted: true}},
		Enter:   func(key string) bool { insert(key); return true }, EnterKeys: "enter insert",
		Actions: []overlay.Action{
			{Letter: "enter", Label: "run", Do: with(func(c *find.Command) { cp.runAgain(pane.Command{Line: c.CommandLine}, nil) })},
			{Letter: "y", Label: "copy", Do: with(func(c *find.Command) {
				cp.clip.Copy(clipboard.Copied{Text: c.CommandLine, What: "the line " + cp.quoted(pane.Command{Line: c.CommandLine})})
			})},
			{Letter: "f", Label: "failed only", NoRow: true, Do: func(string) { p.wanted.Failed = !p.wanted.Failed; p.ask() }},
			{Letter: "d", Label: "this directory only", NoRow: true, Do: func(string) {
				if p.wanted.Cwd != "" {
					p.wanted.Cwd = ""
				} else {
					p.wanted.Cwd = p.here
				}
				p.ask()
			}},
		},
	}}
	p.ask()
}

// ask fetches the wanted commands and shows them in the list.
func (p *past) ask() {
	cp, wanted := p.cp, p.wanted
	loop.Get(cp.loop, "read history", func(ctx context.Context) (got find.HistoryResult, err error) {
		err = cp.link.Host.Call(ctx, find.MethodHistory, wanted, &got)
		return got, err
	}, func(got find.HistoryResult) {
		p.got = got
		p.list.Title, p.list.None = "History", "none is kept yet: command-history, shell-integration in config.toml"
		if wanted.Failed || wanted.Cwd != "" {
			p.list.None = "none of those that are kept"
		}
		if wanted.Failed {
			p.list.Title += ", failed"
		}
		if wanted.Cwd != "" {
			p.list.Title += " in " + p.dir(wanted.Cwd)
		}
		p.list.Home()
		if cp.loop.Overlay != p.list {
			cp.loop.Open(p.list)
		}
		cp.loop.Dirty |= loop.All
	})
}

func (p *past) dir(uri ahp.URI) string {
	return words.Clean(words.Shorten(fileuri.Path(uri), p.cp.loop.Home))
}

func (p *past) rows() []overlay.Row {
	rows := make([]overlay.Row, len(p.got.Items))
	for i := range p.got.Items {
		c := &p.got.Items[i]
		known := pane.Listed{Command: pane.Command{Line: c.CommandLine, ExitCode: c.ExitCode, Duration: -1}}
		if c.DurationMs != nil {
			known.Duration = time.Duration(*c.DurationMs) * time.Millisecond
		}
		row := p.cp.row(&known)
		facts := row.Cells[2].Text
		if facts != "" {
			facts += "  "
		}
		facts += p.when(time.UnixMilli(c.Timestamp))
		dir := p.dir(c.Cwd)
		where := cmp.Or(words.Clean(c.Name), p.cp.panes.Where(c.Terminal), "terminal "+words.Clean(c.Terminal[strings.LastIndexByte(c.Terminal, '/')+1:]))
		if c.Agent != "" {
			where += ", " + words.Clean(c.Agent)
		}
		rows[i] = overlay.Row{
			Key: fmt.Sprint(i), Filter: c.CommandLine + " " + dir,
			Cells: []overlay.Cell{row.Cells[0], row.Cells[1], {Text: dir}, {Text: facts}},
			Facts: []string{where, dir, facts},
		}
	}
	return rows
}

// when is a short text for the time at which a command began.
func (p *past) when(t time.Time) string {
	ago := p.cp.loop.Since(t)
	switch now := p.cp.loop.Now(); {
	case ago < 12*time.Hour:
		return words.Ago(ago)
	case now.Year() == t.Year():
		return t.Format("Jan _2 15:04")
	}
	return t.Format("2006-01-02")
}

// insert types a command line at the focused pane's prompt without running it.
func (cp *Copying) insert(line string) {
	_, t, v := cp.panes.Focused()
	if t == nil || v == nil || !cp.may(t) {
		return
	}
	if c, _, ok := v.Feed.LastCommand(); ok && c.Running {
		cp.loop.Say(status.Info, "not inserted: %s runs in this pane", cp.quoted(c))
		return
	}
	cp.clip.Type(line)
}
