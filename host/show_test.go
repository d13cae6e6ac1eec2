package host_test

import (
	"context"
	"fmt"
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

// A command for an interface reaches one of the caller's own that shows the layout, and the
// answer comes back; nobody else knows of it, nor moves it: not an agent, nor a token.
func TestOrderIsTheCallers(t *testing.T) {
	t.Parallel()
	const main = ahp.URI("x-tandemux-layout:/main")
	w := start(t)
	face, cli, g := w.connect("face"), w.connect("cli"), w.guest("g")
	face.initialize()
	cli.initialize()
	admin := w.connectTCP("remote", w.token("admin", "terminal:read").Token)
	admin.initialize()
	face.subscribe(main)
	cli.subscribe(main) // who follows no activity shows nothing
	list := func(p *peer) (ids []string) {
		var all palette.Clients
		p.must(palette.MethodClients, ahp.SubscribeParams{Channel: ahp.RootURI}, &all)
		for _, one := range all.Items {
			ids = append(ids, one.ClientID+" "+one.Layout)
		}
		return ids
	}
	if got := list(cli); len(got) != 0 {
		t.Errorf("without an interface there are %v", got)
	}
	face.subscribe(ahp.ActivityURI)
	if got := list(cli); !slices.Equal(got, []string{"face " + main}) {
		t.Errorf("there are %v", got)
	}
	if got := list(admin); len(got) != 0 {
		t.Errorf("a token sees %v", got)
	}
	p := palette.Params{Channel: main, Interface: "face", Command: "copy-mode", Pane: "p1", Args: []string{"x"}}
	for _, c := range []struct {
		who *peer
		p   palette.Params
		why string
	}{
		{g, p, `lacks the scope "admin"`},
		{admin, p, "no interface face of yours shows"},
		{cli, palette.Params{Channel: main, Interface: "cli", Command: "help"}, "no interface cli of yours shows"},
		{cli, palette.Params{Channel: "x-tandemux-layout:/work", Interface: "face", Command: "help"}, "no interface face of yours shows"},
		{face, p, "no interface face of yours shows"}, // itself
	} {
		if err := c.who.call(palette.Method, c.p, nil); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.who.name, err, c.why)
		}
	}
	if err := g.call(palette.MethodClients, ahp.SubscribeParams{Channel: ahp.RootURI}, nil); err == nil {
		t.Error("an agent is told of a person's interfaces")
	}
	for answer, want := range map[string]string{
		`"result":{"pane":"p1","made":false,"said":"hello"}`:                  "",
		`"error":{"code":-32602,"message":"copy-mode: nothing to copy"}`:      "copy-mode: nothing to copy",
		`"error":{"code":-32601,"message":"this client answers no requests"}`: "that interface takes no commands",
	} {
		var r palette.Result
		done := make(chan error, 1)
		go func() { done <- cli.call(palette.Method, p, &r) }()
		var asked struct {
			ID     int            `json:"id"`
			Method string         `json:"method"`
			Params palette.Params `json:"params"`
		}
		for msg := range face.in {
			if err := ahp.Unmarshal(msg, &asked); err == nil && asked.Method == palette.MethodOrder {
				break
			}
		}
		if asked.Params.Command != "copy-mode" || asked.Params.Interface != "" || asked.Params.Pane != "p1" || !slices.Equal(asked.Params.Args, p.Args) {
			t.Errorf("it is asked %+v", asked)
		}
		face.sendRaw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, asked.ID, answer))
		err := <-done
		if want == "" && (err != nil || r.Said != "hello" || r.Pane != "p1") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", answer, r, err)
		}
	}
	// One that goes ends what waits for it.
	done := make(chan error, 1)
	go func() { done <- cli.call(palette.Method, p, nil) }()
	for msg := range face.in {
		if strings.Contains(string(msg), palette.MethodOrder) {
			break
		}
	}
	face.hangUp()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "the interface is gone") {
		t.Errorf("%v", err)
	}
}
