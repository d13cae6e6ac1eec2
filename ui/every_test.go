package ui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/soak"
	"tandemux/ui/command"
)

// scene is two panes beside each other and a second tab, with commands that ran, a
// copy, and a terminal that was an agent's.
func scene(t *testing.T, w, h int) *UI {
	t.Helper()
	u := New(t, Options{W: w, H: h})
	u.Press("ctrl+space c", "ctrl+space 1")
	sh := u.Host.Terminal("sh1")
	sh.Run("ls", "alpha\r\nbeta https://example.org/x (one)\r\n", 0)
	sh.Run("make all", "cc a.c\r\nfailed\r\n", 2)
	u.WaitIdle()
	u.Press("ctrl+space y", "ctrl+space |", "ctrl+space h")
	sh.Describe(func(m *ahp.TerminalMeta) {
		m.HandBack = &ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/claude"}
	})
	u.Host.Terminal("sh3").Attend(func(a *ahp.Attention) {})
	u.Host.Terminal("sh2").Attend(func(a *ahp.Attention) { a.Bell = 1 })
	u.WaitIdle()
	u.Advance(noteOver)
	return u
}

// noteOver is longer than a message stays.
const noteOver = 60_000_000_000

// sample gives arguments that a command needs.
func sample(c command.Command) string {
	line := c.Name
	for _, a := range c.Args {
		switch {
		case a.Optional:
		case a.Kind == command.Int:
			line += fmt.Sprint(" ", min(a.Min+1, a.Max))
		case a.Kind == command.Choice:
			line += " " + a.Choices[0]
		default:
			line += " x"
		}
	}
	return line
}

// runs are four or more of one character, which a text need not have in full.
var runs = regexp.MustCompile(` {4,}|─{4,}|-{4,}`)

func brief(row string) string {
	return runs.ReplaceAllStringFunc(strings.TrimRight(row, " "), func(s string) string {
		r := []rune(s)
		return fmt.Sprintf("%c{%d}", r[0], len(r))
	})
}

// changed gives the rows that differ, those that are alike once.
func changed(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out strings.Builder
	for i := 0; i < len(b); i++ {
		if i < len(a) && a[i] == b[i] {
			continue
		}
		row, from := brief(b[i]), i
		for i+1 < len(b) && brief(b[i+1]) == row {
			i++
		}
		fmt.Fprintf(&out, "%3d %s\n", from, row)
	}
	return out.String()
}

// address is a terminal's, which is made at random.
var address = regexp.MustCompile(`ahp-terminal:/[a-z0-9]{10}`)

// TestEveryCommand runs each command of the table from the palette, at each size,
// and compares what it changes on the screen.
func TestEveryCommand(t *testing.T) {
	for _, s := range sizes[:soak.Short(1, len(sizes))] {
		var text strings.Builder
		var u *UI
		for _, c := range command.All() {
			if c.Group == "Chats" && c.Name != "chat-send" {
				continue // ui/chat tries them; where no chat is they all say that
			}
			u = scene(t, s[0], s[1])
			if c.Group == "Copy mode" {
				u.Press("ctrl+space [")
			}
			before, was := u.Screen(), u.Outer().Cursor()
			sent := len(u.Host.Sent)
			u.Press("ctrl+space :")
			u.Paste(sample(c)) // at once: each key typed looks through all commands
			u.Press("enter")
			fmt.Fprintf(&text, "%s\n%s", sample(c), changed(before, u.Screen()))
			if now := u.Outer().Cursor(); now.X != was.X || now.Y != was.Y || now.Visible != was.Visible {
				fmt.Fprintf(&text, "    cursor %d,%d\n", now.X, now.Y)
			}
			for _, what := range u.Host.Sent[sent:] {
				fmt.Fprintf(&text, "    sent %s\n", address.ReplaceAllString(what, "URI"))
			}
			if exit, ended := u.Ended(); ended {
				fmt.Fprintf(&text, "    ended: %s\n", exit.Note)
			}
			text.WriteByte('\n')
		}
		u.GoldenText(golden("commands", s[0]), text.String())
	}
}
