package commandline_test

import (
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host/agent/commandline"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"!ls": "ls", "!  ls -l \n": "ls -l", "!": "", "! \t": "", " !ls": "", "ls!": "", "": "", "!a\nb": "a\nb",
	} {
		if got := commandline.Of(ahp.Message{Text: text}); got != want {
			t.Errorf("%q is the command line %q, want %q", text, got, want)
		}
	}
	for meta, want := range map[string]string{`{"tandemux/text":true}`: "", `{"tandemux/text":false}`: "ls", `{"x":1}`: "ls", `no json`: "ls"} {
		if got := commandline.Of(ahp.Message{Text: "!ls", Meta: []byte(meta)}); got != want {
			t.Errorf("with %s: %q, want %q", meta, got, want)
		}
	}
}

// TestAttach: what was run since the agent's last turn, the newest of many, also when a
// turn was between that the agent never got to; but none that it knows.
func TestAttach(t *testing.T) {
	yes := true
	run := func(line, out string) ahp.Turn {
		return ahp.Turn{Message: ahp.Message{Text: "!" + line}, State: ahp.TurnComplete, ResponseParts: []ahp.ResponsePart{{ToolCall: &ahp.ToolCall{
			Success: &yes, Content: []ahp.ToolContent{{Result: &ahp.TerminalResult{Preview: out, Truncated: out == "cut"}}},
		}}}}
	}
	asked := ahp.Turn{Message: ahp.Message{Text: "hello"}, State: ahp.TurnComplete}
	failed := ahp.Turn{Message: ahp.Message{Text: "hello"}, State: ahp.TurnError, ResponseParts: []ahp.ResponsePart{{Kind: ahp.PartError}}}
	cancelled := ahp.Turn{Message: ahp.Message{Text: "!sleep 9"}, State: ahp.TurnCancelled}
	got := commandline.Attach(ahp.Message{Text: "go"}, []ahp.Turn{run("old", ""), asked, run("one", "1\n"), failed, run("two", "cut"), cancelled})
	want := "Since your last turn the user has run this:\n\n$ one\n1\n(exit code 0)\n\n$ two\n(The beginning is left out.)\ncut\n(exit code 0)\n\n$ sleep 9\n(it did not run to its end)\n"
	if len(got.Attachments) != 1 || got.Attachments[0].ModelRepresentation != want || got.Attachments[0].Label != "3 commands" {
		t.Errorf("attached is %+v, want %q", got.Attachments, want)
	}
	if got := commandline.Attach(ahp.Message{}, []ahp.Turn{run("old", ""), asked}); got.Attachments != nil {
		t.Errorf("attached is %+v", got.Attachments)
	}
	var many []ahp.Turn
	for i := range 12 {
		many = append(many, run(fmt.Sprint("run ", i), ""))
	}
	text := commandline.Attach(ahp.Message{}, many).Attachments[0].ModelRepresentation
	if !strings.Contains(text, "(2 before are left out.)") || strings.Contains(text, "$ run 1\n") || !strings.Contains(text, "$ run 2\n") {
		t.Errorf("of many: %q", text)
	}
}
