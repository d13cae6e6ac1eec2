package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// asker is a program that asks when it is told to ("Q": the background, "R":
// red, "S": light or dark, "M": to be told of changes) and prints what it gets.
const asker = `stty raw -echo; printf ready
while c=$(dd bs=1 count=1 2>/dev/null); do
	case $c in
	Q) printf '\033]11;?\033\\' ;;
	R) printf '\033]4;1;?\033\\' ;;
	S) printf '\033[?996n' ;;
	M) printf '\033[?2031h' ;;
	*) printf %s "$c" | cat -v ;;
	esac
done`

// paint tells the host what colours a client shows.
func (p *peer) paint(bg, red string) {
	p.t.Helper()
	p.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodColors, "params": ahp.ColorsParams{
		Channel: ahp.RootURI, FG: "#808080", BG: bg, Palette: []string{"", red},
	}})
}

func (p *peer) ask(uri ahp.URI, seq int64, keys string) {
	p.t.Helper()
	p.dispatch(uri, seq, ahp.TerminalInput{Data: keys})
}

const (
	whiteAnswer = `^[]11;rgb:ffff/ffff/ffff^[\`
	nightAnswer = `^[]11;rgb:1010/2020/3030^[\`
	plainAnswer = `^[]11;rgb:0000/0000/0000^[\`
)

// TestColorsOfTheHolder: a program that asks is told the colours of the client
// that holds its terminal (docs/contributing/decisions.md §34: once, by the host).
func TestColorsOfTheHolder(t *testing.T) {
	w := start(t)
	a, b := w.connect("a"), w.connect("b")
	a.initialize()
	b.initialize()
	const uri = "ahp-terminal:/asker"
	a.create(uri, "sh", "-c", asker)
	b.subscribe(uri)
	a.output(uri, "ready")
	a.ask(uri, 1, "Q")
	a.output(uri, plainAnswer) // nobody has shown it yet

	a.paint("#ffffff", "#dc322f")
	b.paint("#102030", "#aa0000")
	a.ask(uri, 2, "Q")
	a.output(uri, whiteAnswer)
	a.ask(uri, 3, "R")
	a.output(uri, `^[]4;1;rgb:dcdc/3232/2f2f^[\`)
	a.ask(uri, 4, "S")
	a.output(uri, "^[[?997;2n")

	// The claim moves, and the colours with it.
	b.must(ahp.MethodPing, nil, nil) // its colours are there
	b.dispatch(uri, 1, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "b"}})
	b.echo(1)
	b.ask(uri, 2, "Q")
	b.output(uri, nightAnswer)
	b.ask(uri, 3, "S")
	b.output(uri, "^[[?997;1n")

	// A client that shows nothing leaves it as it was last seen.
	c := w.connect("c")
	c.initialize()
	c.subscribe(uri)
	c.dispatch(uri, 1, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "c"}})
	c.echo(1)
	c.ask(uri, 2, "R")
	c.output(uri, `^[]4;1;rgb:aaaa/0000/0000^[\`)
}

// TestColorsFromTheStart: a program that asks at once gets the colours of the
// client that creates its terminal.
func TestColorsFromTheStart(t *testing.T) {
	w := start(t)
	a := w.connect("a")
	a.initialize()
	a.paint("#102030", "")
	a.create("ahp-terminal:/quick", "sh", "-c", `stty raw -echo; printf '\033]11;?\033\\'; exec cat -v`)
	a.output("ahp-terminal:/quick", nightAnswer)
}

// TestSchemeReport: a program that set mode 2031 hears of a change between light
// and dark once, however many watch, and of no other change.
func TestSchemeReport(t *testing.T) {
	w := start(t)
	a, b := w.connect("a"), w.connect("b")
	a.initialize()
	b.initialize()
	const uri = "ahp-terminal:/asker"
	a.create(uri, "sh", "-c", asker)
	b.subscribe(uri)
	a.output(uri, "ready")
	a.paint("#102030", "")
	a.ask(uri, 1, "MQ")
	a.output(uri, nightAnswer)
	b.paint("#ffffff", "") // holds nothing
	a.paint("#112233", "") // dark as before
	a.paint("#ffffff", "")
	a.output(uri, "^[[?997;2n")
	a.paint("#fffffe", "") // light as before
	a.ask(uri, 2, "Q")
	a.output(uri, "^[]11;rgb:ffff/ffff/fefe")
	b.output(uri, "^[]11;rgb:ffff/ffff/fefe")
	for _, p := range []*peer{a, b} {
		if n := strings.Count(p.out[uri].String(), "[?997;"); n != 1 {
			t.Errorf("%s saw %d reports in %q", p.name, n, p.out[uri])
		}
	}
}

// TestBadColors: what is malformed changes nothing, and ends nothing.
func TestBadColors(t *testing.T) {
	w := start(t)
	a := w.connect("a")
	a.sendRaw(`{"jsonrpc":"2.0","method":"x-tandemux/colors","params":{"bg":"#ffffff"}}`) // before the handshake
	a.initialize()
	const uri = "ahp-terminal:/asker"
	a.create(uri, "sh", "-c", asker)
	a.output(uri, "ready")
	a.paint("#102030", "#000000")
	for _, params := range []string{
		`null`, `[]`, `{"bg":7}`, `{"bg":"red"}`, `{"bg":"#fff"}`, `{"bg":"#fffffff"}`, `{"bg":"xffffff"}`, `{"bg":"#ggffff"}`,
		`{"bg":"#ffffff","palette":["#+fffff"]}`, `{"bg":"#ffffff","palette":` + `["` + strings.Repeat(`","`, 16) + `"]}`,
		`{"bg":"` + strings.Repeat("#", 100000) + `"}`,
	} {
		a.sendRaw(`{"jsonrpc":"2.0","method":"x-tandemux/colors","params":` + params + `}`)
	}
	a.ask(uri, 1, "Q")
	a.output(uri, nightAnswer)
}
