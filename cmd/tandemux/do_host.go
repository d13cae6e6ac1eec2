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
	"tandemux/ui"
	"tandemux/ui/address"
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
