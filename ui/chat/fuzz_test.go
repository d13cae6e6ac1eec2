package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/paint"
)

// tape gives the fuzzer's bytes one by one, zeros at the end.
type tape struct {
	data []byte
}

func (p *tape) next(n int) int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b) % n
}

// text is a piece of what agents write.
func (p *tape) text() string {
	pieces := []string{
		"word ", "日本語 ", "👩‍👩‍👧", "\n", "\n\n", "```go\nx := 1\n```\n", "```\n", "- item\n", "  - sub\n", "1. one\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "# h\n",
		"> q\n", "**b** ", "`c` ", "\x1b[31m", "\t", "\u202e", strings.Repeat("x", 90), "https://x.y/z ", "~~s~~", "<b>", "***", "[a](b) ",
	}
	return pieces[p.next(len(pieces))]
}

// act does something to a chat: what a host, a person or a screen does.
func act(s *stage, p *tape) {
	turn, part := fmt.Sprint("t", p.next(4)), fmt.Sprint("p", p.next(5))
	names := slices.Sorted(maps.Keys(commands))
	switch p.next(22) {
	case 0, 1:
		s.apply(ahp.ChatTurnStarted{TurnID: turn, StartedAt: ahp.InstantOf(s.now.UnixMilli()), Message: message(p.text() + p.text())})
	case 2:
		kind := []string{ahp.PartMarkdown, ahp.PartReasoning, ahp.PartSystemNotification, "other"}[p.next(4)]
		s.apply(ahp.ChatResponsePart{TurnID: turn, Part: ahp.ResponsePart{Kind: kind, ID: part, Content: p.text(), Note: ahp.Plain(p.text()), Raw: json.RawMessage(`{"kind":"other"}`)}})
	case 3, 4, 5:
		s.apply(ahp.ChatDelta{TurnID: turn, PartID: part, Content: p.text() + p.text()})
	case 6:
		s.apply(ahp.ChatReasoning{TurnID: turn, PartID: part, Content: p.text()})
	case 7:
		s.apply(ahp.ChatToolCallStart{TurnID: turn, ToolCallID: part, ToolName: "x", DisplayName: p.text()})
	case 8:
		s.apply(ahp.ChatToolCallReady{TurnID: turn, ToolCallID: part, InvocationMessage: ahp.Plain(p.text()), ToolInput: ahp.TextInput(p.text()), Options: options[:p.next(4)], Confirmed: []string{"", ahp.ConfirmedNotNeeded}[p.next(2)]})
	case 9:
		s.apply(ahp.ChatToolCallContentChanged{TurnID: turn, ToolCallID: part, Content: []ahp.ToolContent{
			{Type: ahp.ContentText, Text: p.text()}, {Type: ahp.ContentTerminal, Resource: "ahp-terminal:/x"}, edit("/a.go", p.text(), p.text()),
		}[p.next(3):]})
	case 10:
		s.apply(ahp.ChatToolCallComplete{TurnID: turn, ToolCallID: part, Result: ahp.ToolResult{Success: p.next(2) == 0, Content: []ahp.ToolContent{{Type: ahp.ContentText, Text: p.text()}}}})
	case 11:
		s.apply(ahp.ChatToolCallConfirmed{TurnID: turn, ToolCallID: part, Approved: p.next(2) == 0})
	case 12:
		s.apply([]ahp.Action{ahp.ChatTurnComplete{TurnID: turn, Duration: &ms}, ahp.ChatTurnCancelled{TurnID: turn}, ahp.ChatError{TurnID: turn, Part: ahp.ResponsePart{Kind: ahp.PartError}}}[p.next(3)])
	case 13:
		s.apply([]ahp.Action{
			ahp.ChatTruncated{TurnID: turn},
			ahp.ChatTruncated{},
			ahp.ChatTurnsLoaded{Turns: []ahp.Turn{{ID: part, State: ahp.TurnComplete, Message: message(p.text()), ResponseParts: []ahp.ResponsePart{{Kind: ahp.PartMarkdown, ID: "a", Content: p.text()}}}}},
			ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: part, Message: message(p.text())},
			ahp.ChatPendingMessageRemoved{Kind: ahp.PendingQueued, ID: part},
		}[p.next(5)])
	case 14:
		s.apply([]ahp.Action{ahp.ChatInputRequested{Request: request()}, ahp.ChatInputCompleted{RequestID: "q", Response: ahp.InputAccept}}[p.next(2)])
	case 15:
		s.c.Reset(s.c.state)
	case 16:
		s.w, s.h = 1+p.next(100), 1+p.next(40)
		s.cv.Resize(s.w, s.h)
	case 17, 18:
		s.c.Do(names[p.next(len(names))], s.now)
		if s.edited != nil && p.next(2) == 0 {
			s.edited(p.text())
		}
	case 19:
		text := p.text()
		s.c.Type(tea.Key{Code: 'x', Text: strings.ReplaceAll(text, "\n", "")}, s.now)
		s.c.Type(tea.Key{Code: []rune{tea.KeyLeft, tea.KeyBackspace, tea.KeyHome, tea.KeyDelete}[p.next(4)]}, s.now)
		s.c.Offer([]ahp.CompletionItem{{InsertText: "@" + text}}, s.c.edit.String(), p.next(3))
	case 20:
		x, y := p.next(100), p.next(40)
		if !s.c.Click(x, y, s.now) && s.c.StartDrag(x, y) {
			s.c.Drag(p.next(100), p.next(40))
			s.c.Selected()
			s.c.Hit(x, y)
			s.c.LinkAt(x, y)
		}
		s.c.Find(strings.TrimSpace(p.text()), p.next(2) == 0)
	case 21:
		s.now = s.now.Add(time.Duration(p.next(3)) * time.Second)
		s.c.Tick()
		if x := s.screens["ahp-terminal:/x"]; x != nil {
			x.rows, x.version = numbered(p.next(30)), x.version+1
		}
		i := session()
		i.Plan = plan[:p.next(4)]
		s.c.SetSession(i)
	}
}

// FuzzChat does anything in any order: nothing panics, nothing is drawn outside of
// the rectangle, and the state's texts are what shows.
func FuzzChat(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x02\x00\x01\x00\x00\x03\x05\x10\x20\x30"))
	f.Add([]byte(strings.Repeat("\x01\x01\x00\x07\x08\x09\x10\x11\x12\x13\x14\x15", 8)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStage(t, 40, 12)
		s.screens["ahp-terminal:/x"] = &screen{rows: numbered(5), version: 1}
		s.c.Reset(ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1"}})
		p := &tape{data[:min(len(data), 600)]}
		for len(p.data) > 0 {
			act(s, p)
			if p.next(2) == 0 {
				checkDrawn(t, s)
			}
		}
		checkDrawn(t, s)
	})
}

// checkDrawn draws a chat within a margin that must stay as it is.
func checkDrawn(t *testing.T, s *stage) {
	t.Helper()
	var cv paint.Canvas
	cv.Resize(s.w+2, s.h+2)
	cv.Fill(cv.Bounds(), '#', testLook.Status)
	cur := s.c.Draw(&cv, paint.Rect{X: 1, Y: 1, W: s.w, H: s.h}, &testLook, true, s.now)
	if cur.Visible && (cur.X < 1 || cur.X > s.w || cur.Y < 1 || cur.Y > s.h) {
		t.Fatalf("the cursor is at %d,%d of %dx%d", cur.X-1, cur.Y-1, s.w, s.h)
	}
	out := paint.NewPainter(paint.Options{}).Frame(nil, &cv, paint.Cursor{})
	rows := strings.Split(screenOf(t, s.w+2, s.h+2, out), "\n")
	edge := strings.Repeat("#", s.w+2)
	if rows[0] != edge || rows[len(rows)-1] != edge {
		t.Fatalf("something was drawn above or below:\n%s", strings.Join(rows, "\n"))
	}
	for _, r := range rows {
		if !strings.HasPrefix(r, "#") || !strings.HasSuffix(r, "#") {
			t.Fatalf("something was drawn beside:\n%s", strings.Join(rows, "\n"))
		}
	}
}

// TestStreamIsTheWhole: a chat that was told of piece by piece shows what one does
// that gets the state at the end.
func TestStreamIsTheWhole(t *testing.T) {
	s := newStage(t, 60, 40)
	s.c.Reset(ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1"}})
	state := ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1"}}
	tell := func(a ahp.Action) {
		state = ahp.ReduceChat(state, a)
		s.c.Apply(a, time.Time{})
		s.draw()
	}
	tell(ahp.ChatTurnStarted{TurnID: "t1", StartedAt: ahp.InstantOf(epoch.UnixMilli()), Message: message("why?")})
	tell(ahp.ChatResponsePart{TurnID: "t1", Part: ahp.ResponsePart{Kind: ahp.PartReasoning, ID: "r"}})
	for _, w := range strings.SplitAfter("The port is fixed, so the second fails.", " ") {
		tell(ahp.ChatReasoning{TurnID: "t1", PartID: "r", Content: w})
	}
	tell(ahp.ChatResponsePart{TurnID: "t1", Part: ahp.ResponsePart{Kind: ahp.PartMarkdown, ID: "a"}})
	for _, w := range strings.SplitAfter(answer, " ") {
		tell(ahp.ChatDelta{TurnID: "t1", PartID: "a", Content: w})
	}
	tell(ahp.ChatToolCallStart{TurnID: "t1", ToolCallID: "c", DisplayName: "Edit"})
	tell(ahp.ChatToolCallReady{TurnID: "t1", ToolCallID: "c", InvocationMessage: ahp.Plain("Edit x"), Confirmed: ahp.ConfirmedNotNeeded})
	tell(ahp.ChatToolCallComplete{TurnID: "t1", ToolCallID: "c", Result: ahp.ToolResult{Success: true, Content: []ahp.ToolContent{edit("/x.go", "a\n", "b\n")}}})
	tell(ahp.ChatTurnComplete{TurnID: "t1", Duration: &ms})
	whole := newStage(t, 60, 40)
	whole.c.Reset(state)
	if a, b := s.text(), whole.text(); a != b {
		t.Errorf("told piece by piece it shows:\n%s\nas a whole:\n%s", a, b)
	}
	before := s.text()
	s.c.Reset(state) // as after a lost connection
	if after := s.text(); after != before {
		t.Errorf("given again it shows:\n%s\nbefore:\n%s", after, before)
	}
}
