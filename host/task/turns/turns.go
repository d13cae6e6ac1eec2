package turns

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent/commandline"
	"tandemux/host/task/budget"
	"tandemux/host/task/store"
	"tandemux/internal/plaintext"
)

// The types of errors of turns that the service ends, and ErrorRestarted, that of turns whose host
// died.
const (
	ErrorRestarted = "hostRestarted"
	ErrorStart     = "agentStart"
	ErrorLost      = "turnLost"
	ErrorDisk      = "diskFull"
	// ErrorConflict is the type for a turn whose changes could not all be copied back.
	ErrorConflict = "fileConflict"
	// ErrorBudget is the type for a turn that was stopped because its task reached a limit.
	ErrorBudget = "budgetUsed"
)

// Prompt returns an event's content as a prompt. Data becomes JSON in a code block.
func Prompt(parts []store.Part) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if p.Type == "data" {
			fmt.Fprintf(&b, "```json\n%s\n```", p.Data)
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Failed returns a copy of turn that ends with an error.
func Failed(turn *ahp.Turn, kind, why string) *ahp.Turn {
	failed := *turn
	failed.State = ahp.TurnError
	failed.ResponseParts = append(slices.Clone(turn.ResponseParts), ahp.ResponsePart{Kind: ahp.PartError, Error: &ahp.ErrorInfo{ErrorType: kind, Message: why}})
	return &failed
}

// outcomes maps types of errors to outcomes; of other types the outcome is OutcomeFailed.
var outcomes = map[string]store.Outcome{
	ErrorRestarted: store.OutcomeInterrupted, ErrorLost: store.OutcomeInterrupted, ErrorDisk: store.OutcomeDisk, ErrorConflict: store.OutcomeConflict,
	ErrorBudget: store.OutcomeBudget,
}

// Ending returns how the event of a turn has ended, and why.
func Ending(turn *ahp.Turn) (store.EventStatus, store.Outcome, string) {
	switch turn.State {
	case ahp.TurnComplete:
		return store.EventDone, store.OutcomeDone, ""
	case ahp.TurnCancelled:
		return store.EventDiscarded, store.OutcomeCancelled, "cancelled"
	}
	for _, p := range slices.Backward(turn.ResponseParts) {
		if p.Kind == ahp.PartError && p.Error != nil {
			return store.EventFailed, cmp.Or(outcomes[p.Error.ErrorType], store.OutcomeFailed), Clip(p.Error.Message, 4<<10)
		}
	}
	return store.EventFailed, store.OutcomeFailed, "the turn failed"
}

// Used returns what a turn of a session has used. ok is false for a command of a person's, in which
// the agent takes no part.
func Used(session ahp.URI, turn *ahp.Turn) (s budget.Seen, ok bool) {
	s = budget.Seen{Turn: turn.ID, Session: session, Began: turn.StartedAt != "" || turn.Usage != nil, Ended: turn.State != ""}
	if turn.Duration != nil {
		s.Took = time.Duration(*turn.Duration) * time.Millisecond
	}
	if u := turn.Usage; u != nil {
		for _, n := range []*int64{u.InputTokens, u.OutputTokens} {
			if n != nil {
				s.Tokens = new(*n + value(s.Tokens))
			}
		}
		var more struct {
			Cost     *float64 `json:"tandemux/cost"`
			Currency string   `json:"tandemux/currency"`
		}
		if json.Unmarshal(u.Meta, &more) == nil {
			s.Cost, s.Currency = more.Cost, more.Currency
		}
	}
	return s, commandline.Of(turn.Message) == ""
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Messages returns what a turn said as messages (U10, U55).
func Messages(turn *ahp.Turn) []store.Message {
	var all []store.Message
	room := store.MaxContent
	var content []store.Part
	flush := func() {
		if len(content) > 0 {
			all = append(all, store.Message{Author: "agent", Content: content})
		}
		content, room = nil, store.MaxContent
	}
	for _, p := range turn.ResponseParts {
		if p.Kind != ahp.PartMarkdown || p.Content == "" {
			continue
		}
		for text := p.Content; text != ""; {
			piece := Clip(text, store.MaxContent)
			if len(piece) > room {
				flush()
			}
			content, room, text = append(content, store.TextPart(piece)), room-len(piece), text[len(piece):]
		}
	}
	flush()
	return all
}

// Clip returns the beginning of s, at most most bytes, cut between characters.
func Clip(s string, most int) string { return plaintext.Clip(s, most, "") }
