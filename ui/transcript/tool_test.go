package transcript

import (
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
)

// TestOutputIsPreformatted: what a command printed is shown line by line, as it is, fenced or
// not and whatever Markdown would make of it; what a tool that gives Markdown gave is that.
func TestOutputIsPreformatted(t *testing.T) {
	theme, _ := themes.Find("tandemux-dark")
	l := look.New(theme, true, true)
	show := func(kind, text string) string {
		v := New(nil)
		state := ahp.ChatState{}
		for _, a := range []ahp.Action{
			ahp.ChatTurnStarted{TurnID: "t", Message: ahp.Message{Text: "x"}},
			ahp.ChatToolCallStart{TurnID: "t", ToolCallID: "c", DisplayName: "run", Meta: []byte(`{"tandemux/kind":"` + kind + `"}`)},
			ahp.ChatToolCallReady{TurnID: "t", ToolCallID: "c", InvocationMessage: ahp.Plain("run"), Confirmed: ahp.ConfirmedNotNeeded},
			ahp.ChatToolCallComplete{TurnID: "t", ToolCallID: "c", Result: ahp.ToolResult{Success: true, Content: []ahp.ToolContent{{Type: ahp.ContentText, Text: text}}}},
		} {
			state = ahp.ReduceChat(state, a)
		}
		v.Reset(&state)
		v.Details()
		var cv paint.Canvas
		cv.Resize(60, 40)
		v.Dress(&l, time.Time{})
		v.Draw(&cv, cv.Bounds(), &l, true)
		var all []string
		for row := range v.rows {
			line, _, _ := v.lineAt(row)
			all = append(all, strings.TrimRight(strings.TrimPrefix(line.Text(), v.r.g.Bar+" "), " "))
		}
		return strings.Join(all, "\n") + "\n"
	}
	const out = "# 3 of 4\nok   a  0.1s\nFAIL b\n\n    indented\n* x *y*\n```\n<b>not</b>\n```\n[a]: http://b\n---\nend"
	for _, text := range []string{out, "```console\n" + out + "\n```"} {
		for _, kind := range []string{"execute", "other", ""} {
			if got := show(kind, text); !strings.Contains(got, "\n"+out+"\n") {
				t.Errorf("%q shows\n%s", kind, got)
			}
		}
	}
	if got := show("execute", "```console\none\ntwo\n```"); !strings.Contains(got, "\none\ntwo\n") {
		t.Errorf("fenced: %s", got)
	}
	if got := show("think", "one\ntwo **three**"); !strings.Contains(got, "\none two three\n") {
		t.Errorf("Markdown: %s", got)
	}
}

// TestMarkOfExitCode: a command that failed has no mark of success, whatever its agent says.
func TestMarkOfExitCode(t *testing.T) {
	yes, no, three := true, 0, 3
	g := &markup.Glyphs{Passed: "passed", Failed: "failed"}
	for _, c := range []struct {
		code *int
		want string
	}{{nil, "passed"}, {&no, "passed"}, {&three, "failed"}} {
		call := &ahp.ToolCall{Status: ahp.ToolCompleted, Success: &yes, Content: []ahp.ToolContent{{Type: ahp.ContentTerminal, Result: &ahp.TerminalResult{ExitCode: c.code}}}}
		if got := callMark(call, g).Text; got != c.want {
			t.Errorf("exit code %v: %s, want %s", c.code, got, c.want)
		}
	}
}
