package keys

import (
	"slices"
	"strings"

	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/look"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
)

// OpenPalette opens the command palette.
func (k *Keys) OpenPalette() {
	rows := func() []overlay.Command {
		ctx := k.do.Context()
		var rows []overlay.Command
		for _, c := range command.All() {
			row := overlay.Command{Name: c.Name, Title: c.Title, Help: c.Help, Args: argsText(c), Keys: k.Short(c.Name)}
			if len(c.Args) == 0 || c.Args[0].Optional {
				row.Why = command.Why(c.Name, nil, ctx)
			}
			rows = append(rows, row)
		}
		return rows
	}
	k.loop.Open(overlay.NewPalette(rows, func(name string, args []string) {
		k.loop.Close()
		if c, ok := command.Find(name); ok && len(c.Args) == 1 && c.Args[0].Kind == command.Text && len(args) > 1 {
			args = []string{strings.Join(args, " ")}
		}
		k.do.Run(name, args)
	}))
}

// argsText shows what arguments a command takes.
func argsText(c command.Command) string {
	var parts []string
	for _, a := range c.Args {
		s := a.Name
		if a.Optional {
			s = "[" + s + "]"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

// OpenHelp opens the help on all keys: those after the prefix by group, then
// copy mode's.
func (k *Keys) OpenHelp() {
	sections := k.table.Help(keymap.Normal, command.Describe)
	in := keymap.Section{Title: "In copy mode"}
	for _, s := range k.table.Help(keymap.Copy, command.Describe) {
		in.Rows = append(in.Rows, s.Rows...)
	}
	title := "Keys, after " + k.table.Prefix().String()
	k.loop.Open(overlay.NewHelp(title, append(sections, in)))
}

// DrawHint draws what can follow the keys pressed so far.
func (k *Keys) DrawHint(c *paint.Canvas, area paint.Rect, l look.Look) {
	ctx := k.do.Context()
	sections := k.following()
	rows := overlay.HintRows(sections, func(name string, args []string) string { return command.Why(name, args, ctx) })
	overlay.Hint(c, area, rows, k.page, l)
}

// following gives the help rows of the bindings that can follow the pending
// keys.
func (k *Keys) following() []keymap.Section {
	after := k.table.Following(k.do.Mode(), k.pending...)
	sections := k.table.Help(keymap.Normal, func(name string, args []string) (string, string, bool) {
		bound := slices.ContainsFunc(after, func(b keymap.Binding) bool { return b.Command == name })
		_, text, ok := command.Describe(name, args)
		return "", text, ok && bound
	})
	for i := range sections {
		sections[i].Rows = slices.DeleteFunc(sections[i].Rows, func(r keymap.Row) bool { return !r.Prefixed })
	}
	return sections
}
