package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
)

// FuzzLines shows turns of any texts in any widths: no line is wider than the view,
// and a view that was given the turns one by one has the lines of one that was given
// all of them.
func FuzzLines(f *testing.F) {
	for i, s := range []string{
		"word 日本語 👩\u200d👩\u200d👧", "```go\nx := 1\n```\n- item\n  - sub", "| a | b |\n|---|---|\n| 1 | 2 |\n# h", "\x1b[31m\t\u202e" + strings.Repeat("x", 90),
	} {
		f.Add(s, uint8(10*i+1), uint8(i))
	}
	theme, _ := themes.Find("tandemux-dark")
	l := look.New(theme, true, true)
	f.Fuzz(func(t *testing.T, text string, width, kinds uint8) {
		w := 1 + int(width)%120
		state := ahp.ChatState{}
		grown := New(nil)
		draw := func(v *View) {
			var cv paint.Canvas
			cv.Resize(w, 20)
			v.Dress(&l, time.Time{})
			v.Draw(&cv, cv.Bounds(), &l, kinds%2 == 0)
		}
		apply := func(a ahp.Action) {
			state = ahp.ReduceChat(state, a)
			grown.Sync(&state, time.Time{})
			draw(grown)
		}
		for i := range 1 + int(kinds)%3 {
			id, call := fmt.Sprint("t", i), fmt.Sprint("c", i)
			apply(ahp.ChatTurnStarted{TurnID: id, Message: ahp.Message{Text: text}})
			apply(ahp.ChatResponsePart{TurnID: id, Part: ahp.ResponsePart{Kind: ahp.PartMarkdown, ID: "a", Content: text}})
			apply(ahp.ChatToolCallStart{TurnID: id, ToolCallID: call, DisplayName: text})
			apply(ahp.ChatToolCallReady{TurnID: id, ToolCallID: call, InvocationMessage: ahp.Plain(text), ToolInput: ahp.TextInput(text), Confirmed: ahp.ConfirmedNotNeeded})
			apply(ahp.ChatToolCallComplete{TurnID: id, ToolCallID: call, Result: ahp.ToolResult{Success: i == 0, Content: []ahp.ToolContent{{Type: ahp.ContentText, Text: text}}}})
			apply(ahp.ChatError{TurnID: id, Part: ahp.ResponsePart{Kind: ahp.PartError, ID: "e", Error: &ahp.ErrorInfo{Message: text}}})
		}
		grown.Details()
		draw(grown)
		whole := New(nil)
		whole.Reset(&state)
		whole.Details()
		draw(whole)
		if whole.rows != grown.rows {
			t.Fatalf("%d rows one by one, %d as a whole", grown.rows, whole.rows)
		}
		for row := range grown.rows {
			a, _, ok := grown.lineAt(row)
			b, _, _ := whole.lineAt(row)
			if a.Text() != b.Text() {
				t.Fatalf("row %d is %q one by one, %q as a whole", row, a.Text(), b.Text())
			}
			if n := markup.Width(a.Runs); ok && n > max(grown.r.w, 2) {
				t.Fatalf("row %d has %d cells of %d: %q", row, n, grown.r.w, a.Text())
			}
		}
	})
}

// TestFindGrows: what is looked for is found in a line that grows, and gone where it
// has changed.
func TestFindGrows(t *testing.T) {
	theme, _ := themes.Find("tandemux-dark")
	l := look.New(theme, true, true)
	v := New(nil)
	state := ahp.ChatState{}
	apply := func(a ahp.Action) {
		state = ahp.ReduceChat(state, a)
		v.Sync(&state, time.Time{})
	}
	found := func(want string) {
		t.Helper()
		var cv paint.Canvas
		cv.Resize(40, 10)
		v.Dress(&l, time.Time{})
		v.Draw(&cv, cv.Bounds(), &l, false)
		if got := v.Found(); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	apply(ahp.ChatTurnStarted{TurnID: "t", Message: ahp.Message{Text: "where is the word?"}})
	apply(ahp.ChatResponsePart{TurnID: "t", Part: ahp.ResponsePart{Kind: ahp.PartMarkdown, ID: "a"}})
	v.Grow("t", "a", false, "a wo")
	found("")
	v.Find("word", false)
	found("1 of 1")
	v.Grow("t", "a", false, "rd, another word")
	found("1 of 3")
	v.Grow("t", "a", false, "s\n\n**wo**rd")
	found("1 of 4")
	state = ahp.ReduceChat(state, ahp.ChatTruncated{})
	v.Rebuild(&state)
	v.Find("word", true)
	found("no match")
}

// TestToolProgress: a call that runs is shown as what it does now, and one that has ended
// with how long the host says that it took.
func TestToolProgress(t *testing.T) {
	theme, _ := themes.Find("tandemux-dark")
	l := look.New(theme, true, true)
	v := New(nil)
	state := ahp.ChatState{}
	shows := func(a ahp.Action) string {
		state = ahp.ReduceChat(state, a)
		v.Sync(&state, time.Time{})
		var cv paint.Canvas
		cv.Resize(60, 20)
		v.Dress(&l, time.Time{})
		v.Draw(&cv, cv.Bounds(), &l, true)
		var text strings.Builder
		for row := range v.rows {
			line, _, _ := v.lineAt(row)
			text.WriteString(line.Text() + "\n")
		}
		return text.String()
	}
	shows(ahp.ChatTurnStarted{TurnID: "t"})
	shows(ahp.ChatToolCallStart{TurnID: "t", ToolCallID: "c"})
	shows(ahp.ChatToolCallReady{TurnID: "t", ToolCallID: "c", InvocationMessage: ahp.Plain("Build"), Confirmed: ahp.ConfirmedNotNeeded})
	if got := shows(ahp.ChatToolCallProgress{TurnID: "t", ToolCallID: "c", ToolProgress: ahp.ToolProgress{Message: ahp.Plain("Link")}}); !strings.Contains(got, "Link") || strings.Contains(got, "Build") {
		t.Errorf("while it links:\n%s", got)
	}
	if got := shows(ahp.ChatToolCallProgress{TurnID: "t", ToolCallID: "c"}); !strings.Contains(got, "Build") {
		t.Errorf("when it only says that it runs:\n%s", got)
	}
	took := int64(65_000)
	if got := shows(ahp.ChatToolCallComplete{TurnID: "t", ToolCallID: "c", Duration: &took, Result: ahp.ToolResult{Success: true}}); !strings.Contains(got, "Build") || !strings.Contains(got, "1m05s") {
		t.Errorf("when it has ended:\n%s", got)
	}
}
