package keys

import (
	"slices"
	"strconv"
	"strings"

	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/look"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
)

// OpenPalette opens the command palette, which finds a command by its name and runs it with the
// words typed after the name.
func (k *Keys) OpenPalette() {
	list := &overlay.List{Source: overlay.Source{
		Title: "Commands", Width: 76, Words: true, EnterKeys: "enter run  tab complete", ClickEnters: true,
		Columns: []overlay.Column{{Most: 34, Least: 18}, {Fills: true, Muted: true}, {Most: 16, Right: true}},
	}}
	list.Rows = func() []overlay.Row {
		words, _ := keymap.Words(list.Typed())
		ours, _, err := command.FromTmux(words)
		if list.None = ""; err != nil {
			list.None = err.Error()
			return nil
		}
		return k.paletteRows(list.Typed(), ours)
	}
	list.Enter = func(name string) bool {
		c, _ := command.Find(name)
		words, err := keymap.Words(list.Typed())
		text := len(c.Args) == 1 && c.Args[0].Kind == command.Text
		if text && err != nil { // such as an apostrophe
			words = strings.Fields(list.Typed())
		}
		ours, args, _ := command.FromTmux(words)
		if len(words) > 0 && words[0] == name && ours != name {
			args = words[1:]
		}
		switch {
		case whyNot(c, k.do.Context()) != "":
			return false
		case err != nil && !text:
			k.loop.Say(status.Warning, "%v", err)
			return false
		case len(c.Args) > 0 && !c.Args[0].Optional && len(args) == 0:
			list.Complete(name)
			return false
		case text && len(args) > 1:
			args = []string{strings.Join(args, " ")}
		}
		k.loop.Close()
		k.do.Run(name, args)
		return true
	}
	k.loop.Open(list)
}

// whyNot says why a command can't run now whatever its arguments, "" if it may.
func whyNot(c command.Command, ctx command.Context) string {
	if len(c.Args) > 0 && !c.Args[0].Optional {
		return ""
	}
	return command.Why(c.Name, nil, ctx)
}

// paletteRows returns the rows of all commands, or of only the command ours if it is not "".
func (k *Keys) paletteRows(typed, ours string) []overlay.Row {
	l, ctx := k.do.Look(), k.do.Context()
	first, _, _ := strings.Cut(strings.TrimSpace(typed), " ")
	var rows []overlay.Row
	for _, c := range command.All() {
		if ours != "" && c.Name != ours {
			continue
		}
		title := overlay.Cell{Text: c.Title}
		why := whyNot(c, ctx)
		if why != "" {
			title.Style = l.OverlayMuted
		}
		args := ""
		for _, a := range c.Args {
			if a.Optional {
				a.Name = "[" + a.Name + "]"
			}
			args += a.Name + " "
		}
		filter := c.Title + " " + c.Name
		if strings.Contains(first, "-") && slices.ContainsFunc(c.Tmux, func(name string) bool { return strings.HasPrefix(name, first) }) || c.Name == ours {
			filter += " " + typed
		}
		rows = append(rows, overlay.Row{
			Key: c.Name, Filter: filter, Facts: []string{c.Help},
			Cells: []overlay.Cell{title, {Text: strings.TrimSpace(args + " " + why)}, {Text: k.Short(c.Name), Style: l.OverlayAccent}},
		})
	}
	return rows
}

// OpenHelp lists all keys: those after the prefix key by group, then copy mode's.
func (k *Keys) OpenHelp() {
	sections := k.table.Help(keymap.Normal, command.Describe)
	in := keymap.Section{Title: "In copy mode"}
	for _, s := range k.table.Help(keymap.Copy, command.Describe) {
		in.Rows = append(in.Rows, s.Rows...)
	}
	var all []keymap.Row
	rows := func() []overlay.Row {
		l := k.do.Look()
		var rows []overlay.Row
		all = all[:0]
		for i, s := range append(sections, in) {
			if i > 0 {
				rows = append(rows, overlay.Row{})
			}
			rows = append(rows, overlay.Row{Cells: []overlay.Cell{{Text: s.Title, Style: l.OverlayAccent}}})
			for _, r := range s.Rows {
				keys := strings.Join(r.Keys, " ")
				all = append(all, r)
				rows = append(rows, overlay.Row{
					Key: strconv.Itoa(len(all)), Filter: r.Text + " " + keys + " " + r.Command + " " + s.Title,
					Cells: []overlay.Cell{{Text: keys, Style: l.HintKeyOn(l.Overlay)}, {Text: r.Text}},
				})
			}
		}
		return rows
	}
	k.loop.Open(&overlay.List{Source: overlay.Source{
		Title: "Keys, after " + k.table.Prefix().String(), Width: 240, Strip: 38, Rows: rows,
		Columns: []overlay.Column{{Most: 12}, {Fills: true, Least: 20}},
		Enter: func(key string) bool {
			r := all[overlay.Index(key)-1]
			k.loop.Close()
			k.do.Run(r.Command, r.Args)
			return true
		},
		EnterKeys: "enter run",
	}})
}

// DrawHint draws what can follow the keys pressed so far.
func (k *Keys) DrawHint(c *paint.Canvas, area paint.Rect, l look.Look) {
	ctx, after := k.do.Context(), k.table.Following(k.do.Mode(), k.pending...)
	flat := func(name string, args []string) (group, text string, ok bool) {
		_, text, ok = command.Describe(name, args)
		return "", text, ok
	}
	var rows []overlay.HintRow
	for _, s := range k.table.Help(keymap.Normal, flat) {
		for _, r := range s.Rows {
			if r.Prefixed && slices.ContainsFunc(after, func(b keymap.Binding) bool { return b.Command == r.Command }) {
				rows = append(rows, overlay.HintRow{
					Keys: r.Keys[0], Text: r.Text, Off: command.Why(r.Command, r.Args, ctx) != "", Keep: r.Command == "help" || r.Command == "palette",
				})
			}
		}
	}
	overlay.Hint(c, area, rows, k.page, l)
}
