package mcp_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/internal/hosttest"
)

// panes are those of the layout main: their terminals, and which has the focus.
func panes(w *hosttest.Machine) (shown []string, focused string) {
	w.Helper()
	var rows []struct {
		Tabs []struct {
			Panes []struct {
				URI     string
				Focused bool
			}
		}
	}
	w.Must(json.Unmarshal([]byte(w.Tandemux("layout", "ls", "--json")), &rows))
	for _, r := range rows {
		for _, t := range r.Tabs {
			for _, p := range t.Panes {
				id := "pty-" + p.URI[strings.LastIndex(p.URI, "/")+1:]
				shown = append(shown, id)
				if p.Focused {
					focused = id
				}
			}
		}
	}
	return shown, focused
}

// TestShow: an agent shows its terminals beside the one that it runs in, and moves nobody's
// focus; it shows nobody else's, and without a pane of its own nothing.
func TestShow(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr := w.Listen()
	mine := strings.TrimSpace(w.Tandemux("new", "--", "cat"))
	person := "pty-" + mine
	cmd := w.Command("mcp")
	cmd.Stderr = os.Stderr
	cmd.Env = append(cmd.Environ(), "TANDEMUX_TERMINAL=ahp-terminal:/"+mine)
	a := connect(w, "inside", &mcp.CommandTransport{Command: cmd})
	one := a.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"].(string)
	if r := a.get("show_terminal", m{"terminalId": one}); r["visible"] != true || r["mine"] != true || r["owner"] != "agent" {
		t.Errorf("shown it is %v", r)
	}
	if shown, focused := panes(w); len(shown) != 2 || shown[1] != one || focused != person {
		t.Errorf("%v show, and %s has the focus", shown, focused)
	}
	a.get("show_terminal", m{"terminalId": one}) // it does already
	a.refused("Cannot kill visible or user-owned terminals", "kill_terminal", m{"terminalId": one})

	two := a.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"].(string)
	a.get("show_terminal", m{"terminalId": two, "besideId": one})
	if shown, focused := panes(w); len(shown) != 3 || focused != person {
		t.Errorf("%v show, and %s has the focus", shown, focused)
	}
	a.refused("show: you do not hold "+person+": claim_terminal asks for it", "show_terminal", m{"terminalId": person})

	b := newAgent(w, "outside")
	b.refused("show: you do not hold "+one+": claim_terminal asks for it", "show_terminal", m{"terminalId": one})
	other := b.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"].(string)
	b.refused("show: no layout shows a pane that this could come beside", "show_terminal", m{"terminalId": other})
	b.refused("show beside: you do not hold "+person+": claim_terminal asks for it", "show_terminal", m{"terminalId": other, "besideId": person})

	// By a token, what a program says of where it runs is nothing.
	c := overHTTP(w, "remote", addr, w.Token("--scope", "terminal:read,terminal:create,terminal:claim"))
	far := c.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"].(string)
	c.refused("show: no layout shows a pane that this could come beside", "show_terminal", m{"terminalId": far})
	d := overHTTP(w, "poor", addr, w.Token("--scope", "terminal:read,terminal:create"))
	own := d.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"].(string)
	if text, failed := d.call("show_terminal", m{"terminalId": own}); !failed || !strings.Contains(text, `lacks the scope "terminal:claim"`) {
		t.Errorf("without the scope: %s", text)
	}
}
