package task

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
)

// grow changes a turn as a host may: something more is said, called, or answered.
func grow(r *rand.Rand, turn *ahp.Turn, n int) {
	parts := slices.Clone(turn.ResponseParts)
	last := len(parts) - 1
	switch k := r.IntN(10); {
	case k < 3 && last >= 0 && (parts[last].Kind == ahp.PartMarkdown || parts[last].Kind == ahp.PartReasoning):
		parts[last].Content += fmt.Sprintf("more %d ü ", n)
	case k < 5:
		parts = append(parts, ahp.ResponsePart{Kind: ahp.PartMarkdown, ID: fmt.Sprintf("p%d", n), Content: strings.Repeat("text ", r.IntN(3))})
	case k < 6:
		parts = append(parts, ahp.ResponsePart{Kind: ahp.PartReasoning, ID: fmt.Sprintf("p%d", n), Content: "hm"})
	case k < 7 && last >= 0 && parts[last].Kind == ahp.PartInputRequest:
		parts[last].Response = ahp.InputAccept
	case k < 7 && r.IntN(3) == 0:
		parts = append(parts, ahp.ResponsePart{Kind: ahp.PartInputRequest, Request: &ahp.InputRequest{ID: fmt.Sprintf("q%d", n), Message: ahp.Plain("which?")}})
	case k < 7:
		parts = append(parts, ahp.ResponsePart{Kind: ahp.PartSystemNotification, Note: ahp.Plain("notice")})
	case k < 8:
		parts = append(parts, ahp.ResponsePart{Kind: ahp.PartToolCall, ToolCall: &ahp.ToolCall{ToolCallID: fmt.Sprintf("c%d", n), ToolName: "sh", DisplayName: "Sh", Status: ahp.ToolStreaming, PartialInput: `{"a`}})
	default:
		var open []int
		for i, p := range parts {
			if p.ToolCall != nil && !p.ToolCall.Over() {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			break
		}
		i := open[r.IntN(len(open))]
		c := *parts[i].ToolCall
		switch c.Status {
		case ahp.ToolStreaming:
			if r.IntN(2) == 0 {
				c.PartialInput += `b":1}`
			}
			c.Status, c.ToolInput = ahp.ToolRunning, json.RawMessage(`"{\"ab\":1}"`)
			if r.IntN(2) == 0 {
				c.Status = ahp.ToolPending
			}
		case ahp.ToolPending:
			switch r.IntN(3) {
			case 0: // it is asked in other words
				c.ToolInput = ahp.TextInput(fmt.Sprint("other ", n))
			case 1:
				c.Status, c.Confirmed = ahp.ToolRunning, ahp.ConfirmedUserAction
			default:
				c.Status, c.Reason = ahp.ToolCancelled, ahp.ReasonDenied
			}
		default:
			c.Status = ahp.ToolCompleted
		}
		parts[i].ToolCall = &c
	}
	turn.ResponseParts = parts
}

// TestTellFromAnywhere: a turn that is told in pieces, by who forgets and reads what
// was told again and again, is the turn that is told at once; its text is all there
// and its parts are in order (U48–U51).
func TestTellFromAnywhere(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		turn := &ahp.Turn{ID: "evt_1", ResponseParts: []ahp.ResponsePart{}}
		var said []Part
		s := told{}
		for n := range 60 {
			grow(r, turn, n)
			if r.IntN(3) == 0 {
				said = append(said, s.tell(turn, false)...)
			}
			if r.IntN(5) == 0 { // a service that begins anew
				s = told{}
				for _, p := range said {
					s.note(p)
				}
			}
		}
		turn.State = ahp.TurnComplete
		said = append(said, s.tell(turn, true)...)
		check(t, seed, turn, said)
		if again := s.tell(turn, false); s.turn == "" && len(again) == 0 {
			t.Fatalf("seed %d: an ended turn is not told anew", seed)
		}
	}
}

// check says whether a stream is well formed and tells the whole turn.
func check(t *testing.T, seed uint64, turn *ahp.Turn, said []Part) {
	t.Helper()
	texts, open, step := map[string]string{}, "", false
	calls, asked := map[string]string{}, map[string]bool{}
	for i, p := range said {
		bad := func(what string) { t.Fatalf("seed %d: part %d, %+v: %s", seed, i, p, what) }
		switch p.Type {
		case PartStart:
			if i != 0 {
				bad("it begins again")
			}
		case PartStartStep:
			if step {
				bad("a step in a step")
			}
			step = true
		case PartFinishStep:
			if !step || open != "" {
				bad("no step, or a block is open")
			}
			step = false
		case PartTextStart, PartReasoningStart:
			if _, twice := texts[p.ID]; twice || open != "" || !step {
				bad("twice, or out of place")
			}
			texts[p.ID], open = "", p.ID
		case PartQuestion:
			if _, twice := asked[p.ID]; twice || p.Question == nil || p.Question.ID != p.ID {
				bad("asked twice, or it is no question")
			}
			asked[p.ID] = true
		case PartQuestionEnd:
			if !asked[p.ID] {
				bad("nobody asks that")
			}
			asked[p.ID] = false
		case PartTextDelta, PartReasoningDelta:
			if open != p.ID {
				bad("the block is not open")
			}
			texts[p.ID] += p.Text
		case PartTextEnd, PartReasoningEnd:
			if open != p.ID {
				bad("the block is not open")
			}
			open = ""
		case PartInputStart:
			if calls[p.ID] != "" || open != "" {
				bad("twice, or in a block")
			}
			calls[p.ID] = "begun"
		case PartInputEnd:
			if calls[p.ID] != "begun" {
				bad("its input is not open")
			}
			calls[p.ID] = "told"
		case PartToolCall:
			if calls[p.ToolCallID] != "told" || !json.Valid(p.Input) || p.Input[0] != '{' {
				bad("its input was not told, or is no object")
			}
			calls[p.ToolCallID] = "called"
		case PartToolResult:
			if calls[p.ToolCallID] != "called" {
				bad("it was not called")
			}
			calls[p.ToolCallID] = "over"
		case PartFinish:
			for id, waits := range asked {
				if waits {
					bad("the question " + id + " is open")
				}
			}
			if i != len(said)-1 || step || open != "" {
				bad("it is not the end")
			}
		}
	}
	for _, p := range turn.ResponseParts {
		if text, ok := texts[p.ID]; (p.Kind == ahp.PartMarkdown || p.Kind == ahp.PartReasoning) && (!ok || text != p.Content) {
			t.Fatalf("seed %d: of %q it told %q", seed, p.Content, text)
		}
		if c := p.ToolCall; c != nil && c.Over() != (calls[c.ToolCallID] == "over") {
			t.Fatalf("seed %d: the call %s is %s, and was told as %s", seed, c.ToolCallID, c.Status, calls[c.ToolCallID])
		}
	}
}

// TestSplit: long deltas are several, cut at characters; what is too much is left
// out, and says so.
func TestSplit(t *testing.T) {
	long := strings.Repeat("ü", maxDelta)
	pieces := split(Part{Type: PartTextDelta, ID: "a", Text: long})
	var b strings.Builder
	for _, p := range pieces {
		if len(p.Text) > maxDelta || p.ID != "a" || !strings.HasPrefix(p.Text, "ü") {
			t.Fatalf("a piece has %d bytes", len(p.Text))
		}
		b.WriteString(p.Text)
	}
	if len(pieces) < 2 || b.String() != long {
		t.Errorf("%d pieces are not the whole", len(pieces))
	}
	huge := mustJSON(strings.Repeat("x", maxOutput))
	if p := split(Part{Type: PartToolResult, Output: huge})[0]; len(p.Output) > 100 || !strings.Contains(string(p.Output), "omittedBytes") {
		t.Errorf("a large output is %d bytes", len(p.Output))
	}
}

// TestFinishReasons: each way in which a turn ends has its word (U52, U53).
func TestFinishReasons(t *testing.T) {
	failed := func(kind string) []ahp.ResponsePart {
		return []ahp.ResponsePart{{Kind: ahp.PartError, Error: &ahp.ErrorInfo{ErrorType: kind, Message: "why"}}}
	}
	limit := []ahp.ResponsePart{{Kind: ahp.PartSystemNotification, Note: ahp.Plain("out of tokens"), Meta: json.RawMessage(`{"tandemux/stop":"limit"}`)}}
	seven, cost := int64(7), json.RawMessage(`{"tandemux/cost":0.5}`)
	for want, turn := range map[string]*ahp.Turn{
		FinishStop:   {ID: "t", State: ahp.TurnComplete, Usage: &ahp.Usage{InputTokens: &seven, OutputTokens: &seven, Meta: cost}, Duration: &seven},
		FinishLength: {ID: "t", State: ahp.TurnComplete, ResponseParts: limit},
		FinishFilter: {ID: "t", State: ahp.TurnError, ResponseParts: failed("refusal")},
		FinishError:  {ID: "t", State: ahp.TurnError, ResponseParts: failed("agentCrashed")},
		FinishOther:  {ID: "t", State: ahp.TurnCancelled},
	} {
		s := told{}
		all := s.tell(turn, true)
		end := all[len(all)-1]
		if end.Type != PartFinish || end.FinishReason != want || end.TotalUsage == nil {
			t.Errorf("%s: %+v", want, end)
		}
		if want == FinishStop && (end.TotalUsage.TotalTokens != 14 || end.Metadata.Cost != 0.5 || end.Metadata.DurationMs != 7) {
			t.Errorf("usage: %+v %+v", end.TotalUsage, end.Metadata)
		}
		if want == FinishError && !slices.ContainsFunc(all, func(p Part) bool { return p.Type == PartError && p.Error == "why" }) {
			t.Errorf("no error is told: %+v", all)
		}
	}
}
