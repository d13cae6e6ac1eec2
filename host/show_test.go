package host_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/host"
)

// listed is a layout for the test: the terminals that it shows, one after the other.
func listed(l ahp.LayoutState, terminal, beside ahp.URI, size func(ahp.URI) (cols, rows int)) (ahp.LayoutState, ahp.ShowResult, bool, error) {
	at := ahp.ShowResult{Pane: terminal}
	if slices.Contains(l.Terminals, terminal) || !slices.Contains(l.Terminals, beside) {
		return l, at, slices.Contains(l.Terminals, terminal), nil
	}
	if cols, rows := size(beside); cols == 0 || rows == 0 {
		return l, at, false, nil
	}
	return ahp.LayoutState{Rev: l.Rev + 1, Doc: []byte(`{}`), Terminals: append(slices.Clone(l.Terminals), terminal)}, at, true, nil
}

// Who holds a terminal shows it beside what is of the same session; a program of the owner's
// may say where it runs itself, the owner may all (docs/protocol.md).
func TestShow(t *testing.T) {
	t.Parallel()
	const main = ahp.URI("x-tandemux-layout:/main")
	w := start(t, func(c *host.Config) { c.Place = listed })
	ui := w.connect("ui")
	ui.initialize()
	ui.subscribe(main)
	ui.create("ahp-terminal:/persons", "cat")
	ui.dispatch(main, 1, ahp.LayoutChanged{Rev: 1, Doc: []byte(`{}`), Terminals: []ahp.URI{"ahp-terminal:/persons"}})
	if r := ui.echo(1).RejectionReason; r != "" {
		t.Fatal(r)
	}
	g, other := w.guest("g"), w.guest("other")
	g.shell("ahp-terminal:/one")
	g.shell("ahp-terminal:/two")
	other.shell("ahp-terminal:/others")
	far := w.connectTCP("far", w.token("terminal:read", "terminal:create", "terminal:claim").Token)
	far.initialize()
	far.create("ahp-terminal:/far", "cat")
	for _, c := range []struct {
		who             *peer
		terminal        string
		beside, refusal string
	}{
		{g, "one", "", "no layout shows a pane"},
		{far, "far", "", "no layout shows a pane"},
		{far, "far", "persons", "is not of the session"},
		{far, "persons", "", "only its holder may show it"},
		{other, "one", "", "only its holder may show it"},
		{g, "one", "persons", ""},
		{g, "two", "", ""},        // beside one
		{g, "two", "persons", ""}, // it does
		{ui, "others", "two", ""},
		{g, "none", "", "there is no terminal"},
	} {
		p := ahp.ShowParams{Channel: ahp.URI("ahp-terminal:/" + c.terminal)}
		if c.beside != "" {
			p.Beside = ahp.URI("ahp-terminal:/" + c.beside)
		}
		var at ahp.ShowResult
		err := c.who.call(ahp.MethodShow, p, &at)
		switch {
		case c.refusal == "" && (err != nil || at.Layout != main || at.Pane != p.Channel):
			t.Errorf("%+v: %+v, %v", c, at, err)
		case c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)):
			t.Errorf("%+v: %v", c, err)
		}
	}
	var l ahp.LayoutState
	if err := ahp.Unmarshal(ui.subscribe(main).State, &l); err != nil || len(l.Terminals) != 4 {
		t.Errorf("%v: these show: %v", err, l.Terminals)
	}
}

// Who runs a command of the palette is who may change layouts, and dials as nobody else.
func TestDoIsTheCallers(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		c.Do = func(ctx context.Context, dial host.Dial, p palette.Params) (palette.Result, error) {
			conn, err := dial(ctx)
			if err != nil {
				return palette.Result{}, err
			}
			defer conn.Close(1000, "") //nolint:errcheck // it is over
			hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"inner"}}`
			if err := conn.Write(ctx, []byte(hello)); err != nil {
				return palette.Result{}, err
			}
			answer, err := conn.Read(ctx)
			return palette.Result{Pane: string(answer)}, err
		}
	})
	ui, g := w.connect("ui"), w.guest("g")
	ui.initialize()
	p := palette.Params{Channel: "x-tandemux-layout:/main", Command: "new-tab"}
	var r palette.Result
	ui.must(palette.Method, p, &r)
	if !strings.Contains(r.Pane, `"tandemux/principal":"operator"`) {
		t.Errorf("it is told %s", r.Pane)
	}
	reader := w.connectTCP("reader", w.token("terminal:read", "terminal:create", "terminal:claim").Token)
	reader.initialize()
	for _, who := range []*peer{g, reader} {
		if err := who.call(palette.Method, p, nil); err == nil || !strings.Contains(err.Error(), `lacks the scope "admin"`) {
			t.Errorf("%v", err)
		}
	}
}
