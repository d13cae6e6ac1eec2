package main

import (
	"context"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/ahp/palette"
	"tandemux/host"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/keymap"
	"tandemux/themes"
	"tandemux/ui"
	"tandemux/ui/address"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/link"
)

// doFor is the host's for x-tandemux/do.
func doFor(d local.Dirs) func(ctx context.Context, dial host.Dial, p palette.Params) (palette.Result, error) {
	return func(ctx context.Context, dial host.Dial, p palette.Params) (palette.Result, error) {
		if err := ui.CheckOrder(p.Command, p.Args); err != nil {
			return palette.Result{}, ahp.InvalidParams("do: %v", err)
		}
		if _, there := hosted.Split(p.Terminal); p.Terminal != "" && !strings.HasPrefix(there, ahp.TerminalScheme+"/") {
			return palette.Result{}, ahp.InvalidParams("do: terminal: it is the URI of none")
		}
		sink := sinkAdapter{link.NewSink()}
		c, err := client.Connect(ctx, client.Options{
			Dial: dial, ClientID: endpoint.NewClientID("do"), Sink: sink, Info: ahp.Implementation{Name: "tandemux", Version: version},
		})
		if err != nil {
			return palette.Result{}, err
		}
		defer c.Close()
		done, err := ui.Do(ctx, ui.Config{
			Host: hostAdapter{c, endpoint.Endpoint{Dirs: d}, sink.Agents}, Sink: sink.Sink, Layout: address.LayoutName(p.Channel), Person: c.Principal(),
		}, ui.Order{Name: p.Command, Args: p.Args, At: p.Pane, Marked: p.With, Terminal: p.Terminal, KeepFocus: p.KeepFocus, Yes: p.Yes})
		if err != nil && ahp.CodeOf(err) == 0 {
			err = ahp.Conflict("do: %v", err)
		}
		return palette.Result{Tab: done.Tab, Pane: string(done.Pane), Terminal: done.Terminal, Made: done.Made, ExitCode: done.Exit}, err
	}
}

// place is the host's for x-tandemux/show: a layout that can't be read shows nothing.
func place(st ahp.LayoutState, terminal, beside ahp.URI, size func(ahp.URI) (cols, rows int)) (next ahp.LayoutState, at ahp.ShowResult, shown bool, err error) {
	l, err := layout.Decode(st.Doc)
	if err != nil {
		return st, at, false, nil //nolint:nilerr // a newer client's, or never written
	}
	next = st
	id, there := l.Showing(terminal)
	if _, ok := l.Showing(beside); !there && ok {
		if l, id, err = l.Beside(beside, terminal, size); err != nil {
			return st, at, true, err
		}
		next = ahp.LayoutState{Rev: st.Rev + 1, Doc: l.Encode(), Terminals: slices.DeleteFunc(l.Terminals(), address.IsChat)}
		there = true
	}
	if i, _, ok := l.Find(id); ok {
		at.Tab, at.Pane = l.Tabs[i].ID, string(id)
	}
	return next, at, there, nil
}

// interfaceOf is the host's for x-tandemux/interface.
func interfaceOf(now func() *ui.Look) func(programs bool) (palette.Interface, error) {
	return func(programs bool) (palette.Interface, error) {
		look := now()
		keys, _, err := look.Selection.Table(command.Check)
		if err != nil {
			keys, _ = keymap.Preset(keymap.Presets()[0]) // what is wrong is for the interface to say
		}
		pair, err := themes.Choose(look.Theme, look.Themes)
		if err != nil {
			if pair, err = themes.Choose(themes.Auto, nil); err != nil {
				return palette.Interface{}, ahp.Conflict("choose theme: %v", err)
			}
		}
		r := palette.Interface{
			Prefix: keys.Prefix().String(), Keys: []palette.Binding{}, CommandMarks: !bool(look.NoCommandMarks),
			Dark: themeColors(pair.Dark), Light: themeColors(pair.Light),
		}
		for _, b := range keys.Bindings() {
			if !programs && starts(b) {
				continue
			}
			r.Keys = append(r.Keys, palette.Binding{Mode: b.Mode.String(), Keys: b.Keys, Command: b.Command, Args: b.Args, Repeat: b.Repeat})
		}
		does := ui.Doable()
		for _, c := range command.All() {
			i := slices.IndexFunc(does, func(d command.Command) bool { return d.Name == c.Name })
			if i >= 0 {
				c = does[i]
			}
			r.Commands = append(r.Commands, palette.Command{Name: c.Name, Title: c.Title, Group: c.Group, Help: c.Help, Args: argWords(c), Do: i >= 0})
		}
		return r, nil
	}
}

// starts reports whether a key runs a program of its user's.
func starts(b keymap.Binding) bool {
	own, next := command.Cut(b.Args)
	c, ok := command.Find(b.Command)
	n := len(c.Args)
	return !ok || len(next) > 0 || n > 0 && c.Args[n-1].Kind == command.Program && len(own) >= n
}

func themeColors(t themes.Theme) palette.Theme {
	r := palette.Theme{Name: t.Name, Dark: t.Dark, Colors: map[string]string{}}
	for name, c := range t.Colors.All() {
		r.Colors[name] = themes.Spell(c)
	}
	return r
}
