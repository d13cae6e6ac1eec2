package core

import (
	"strings"

	"tandemux/ahp"
)

// overhead is what an entry costs beside its text, roughly.
const overhead = 200

// weight estimates the memory of an action in bytes.
func weight(a ahp.Action) int {
	switch a := a.(type) {
	case ahp.TerminalData:
		return overhead + len(a.Data)
	case ahp.TerminalTitleChanged:
		return overhead + len(a.Title)
	case ahp.TerminalCommandExecuted:
		return overhead + len(a.CommandLine)
	case ahp.TerminalCwdChanged:
		return overhead + len(a.Cwd)
	case ahp.TerminalClaimed:
		return overhead + claimWeight(a.Claim)
	case ahp.RootTerminalsChanged:
		n := overhead
		for i := range a.Terminals {
			t := &a.Terminals[i]
			n += 2*overhead + len(t.Resource) + len(t.Title) + claimWeight(t.Claim)
		}
		return n
	case ahp.LayoutChanged:
		return overhead + len(a.Doc) + 64*len(a.Terminals)
	}
	return overhead + chatWeight(a)
}

func claimWeight(c ahp.Claim) int {
	return len(c.ClientID) + len(c.Session) + len(c.Chat) + len(c.TurnID) + len(c.ToolCallID)
}

// TurnsWeight is TurnWeight of all.
func TurnsWeight(turns []ahp.Turn) int {
	n := 0
	for _, t := range turns {
		n += TurnWeight(t)
	}
	return n
}

// TurnWeight is about the size of a turn on the wire.
func TurnWeight(t ahp.Turn) int {
	n := overhead + messageWeight(t.Message)
	for _, p := range t.ResponseParts {
		n += partWeight(p)
	}
	return n
}

func messageWeight(m ahp.Message) int {
	n := overhead + len(m.Text) + len(m.Meta)
	for _, a := range m.Attachments {
		n += overhead + len(a.Data) + len(a.ModelRepresentation) + len(a.URI) + len(a.Label)
	}
	return n
}

func partWeight(p ahp.ResponsePart) int {
	n := overhead + len(p.Content) + len(p.Raw) + len(p.Meta)
	if t := p.ToolCall; t != nil {
		n += overhead + len(t.ToolInput) + len(t.Edits) + len(t.PartialInput) + len(t.StructuredContent) + len(t.Meta) + contentWeight(t.Content)
	}
	if p.Request != nil {
		n += overhead * (1 + len(p.Request.Questions))
	}
	return n
}

func contentWeight(list []ahp.ToolContent) int {
	n := 0
	for _, c := range list {
		n += overhead + len(c.Text) + len(c.Data) + len(c.Before) + len(c.After) + len(c.Diff) + len(c.Raw)
	}
	return n
}

// chatWeight is weight for actions of sessions and chats: what is beyond the
// overhead.
func chatWeight(a ahp.Action) int {
	switch a := a.(type) {
	case ahp.ChatDelta:
		return len(a.Content)
	case ahp.ChatReasoning:
		return len(a.Content)
	case ahp.ChatResponsePart:
		return partWeight(a.Part)
	case ahp.ChatTurnStarted:
		return messageWeight(a.Message)
	case ahp.ChatPendingMessageSet:
		return messageWeight(a.Message)
	case ahp.ChatDraftChanged:
		if a.Draft != nil {
			return messageWeight(*a.Draft)
		}
	case ahp.ChatTurnsLoaded:
		return TurnsWeight(a.Turns)
	case ahp.ChatToolCallReady:
		return len(a.ToolInput) + len(a.Edits) + len(a.Meta) + overhead*len(a.Options)
	case ahp.ChatToolCallContentChanged:
		return contentWeight(a.Content) + len(a.Meta)
	case ahp.ChatToolCallComplete:
		return contentWeight(a.Result.Content) + len(a.Result.StructuredContent) + len(a.Meta)
	default:
		if !strings.HasPrefix(a.ActionType(), "chat/") && !strings.HasPrefix(a.ActionType(), "session/") {
			return 0
		}
		b, err := ahp.EncodeAction(ahp.V1, a) // rare, and small
		if err == nil {
			return len(b)
		}
	}
	return 0
}
