package ahp

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// kind is one row of the table of actions.
type kind struct {
	name string
	by
	// fresh gives a place to decode into, and what is in it then.
	fresh func() (to any, value func() Action)
	// write writes an action, which a points to, with its type.
	write func(e *jsontext.Encoder, a Action) error
}

// row is that of the action type A.
func row[A Action](by by) kind {
	var zero A
	return kind{
		name: zero.ActionType(), by: by,
		fresh: func() (any, func() Action) {
			a := new(A)
			return a, func() Action { return *a }
		},
		write: func(e *jsontext.Encoder, a Action) error {
			return jsonv2.MarshalEncode(e, struct {
				Type    string `json:"type"`
				Members A      `json:",embed"`
			}{a.ActionType(), *any(a).(*A)})
		},
	}
}

// by says who may dispatch an action, and whether 0.5.0 does not know it.
type by struct{ client, after05 bool }

var (
	byHost, byHostLater     = by{}, by{after05: true}
	byClient, byClientLater = by{client: true}, by{client: true, after05: true}
)

// kinds is the table of actions by type.
var kinds = map[string]kind{}

var rows = [...]kind{
	row[RootAgentsChanged](byHost),
	row[RootActiveSessionsChanged](byHost),
	row[RootTerminalsChanged](byHost),
	row[RootConfigChanged](byClient),
	row[TerminalData](byHost),
	row[TerminalInput](byClient),
	row[TerminalResized](byClient),
	row[TerminalClaimed](byClient),
	row[TerminalTitleChanged](byClient),
	row[TerminalCwdChanged](byHost),
	row[TerminalExited](byHost),
	row[TerminalCleared](byClient),
	row[TerminalCommandDetectionAvailable](byHost),
	row[TerminalCommandExecuted](byHost),
	row[TerminalCommandFinished](byHost),
	row[LayoutChanged](byClient),
	row[SessionReady](byHost),
	row[SessionCreationFailed](byHost),
	row[SessionChatAdded](byHost),
	row[SessionChatRemoved](byHost),
	row[SessionChatUpdated](byHost),
	row[SessionChatsReordered](byHostLater),
	row[SessionDefaultChatChanged](byHost),
	row[SessionTitleChanged](byClient),
	row[SessionIsReadChanged](byClient),
	row[SessionIsArchivedChanged](byClient),
	row[SessionActivityChanged](byHost),
	row[SessionChangesetsChanged](byHost),
	row[SessionServerToolsChanged](byHost),
	row[SessionActiveClientSet](byClient),
	row[SessionActiveClientRemoved](byClient),
	row[SessionWorkingDirectorySet](byClientLater),
	row[SessionWorkingDirectoryRemoved](byClientLater),
	row[SessionWorkingDirectoryReplaced](byClientLater),
	row[SessionInputNeededSet](byHostLater),
	row[SessionInputNeededRemoved](byHostLater),
	row[SessionCustomizationsChanged](byHost),
	row[SessionCustomizationUpdated](byHost),
	row[SessionCustomizationRemoved](byHost),
	row[SessionCustomizationToggled](byClient),
	row[SessionMcpServerStateChanged](byHost),
	row[SessionMcpServerStartRequested](byClientLater),
	row[SessionMcpServerStopRequested](byClientLater),
	row[SessionMcpServerBackgroundRequested](byClientLater),
	row[SessionConfigChanged](byClient),
	row[SessionMetaChanged](byHost),
	row[SessionModelChanged](byClient),
	row[SessionAgentChanged](byClient),
	row[ChatTurnStarted](byClient),
	row[ChatResponsePart](byHost),
	row[ChatDelta](byHost),
	row[ChatReasoning](byHost),
	row[ChatUsage](byHost),
	row[ChatTurnComplete](byHost),
	row[ChatTurnCancelled](byClient),
	row[ChatError](byHost),
	row[ChatTurnResume](byClientLater),
	row[ChatPendingMessageSet](byClient),
	row[ChatPendingMessageRemoved](byClient),
	row[ChatQueuedMessagesReordered](byClient),
	row[ChatDraftChanged](byClient),
	row[ChatIsReadChanged](byClientLater),
	row[ChatIsArchivedChanged](byClientLater),
	row[ChatInputRequested](byHost),
	row[ChatInputAnswerChanged](byClient),
	row[ChatInputCompleted](byClient),
	row[ChatTruncated](byClient),
	row[ChatTurnsLoaded](byHostLater),
	row[ChatActivityChanged](byHost),
	row[ChatBackgroundWorkSet](byHostLater),
	row[ChatBackgroundWorkRemoved](byHostLater),
	row[ChatMovableChanged](byHostLater),
	row[ChatChangesetsChanged](byHostLater),
	row[ChatWorkingDirectorySet](byClientLater),
	row[ChatWorkingDirectoryRemoved](byClientLater),
	row[ChatToolCallStart](byHost),
	row[ChatToolCallDelta](byHost),
	row[ChatToolCallReady](byHost),
	row[ChatToolCallConfirmed](byClient),
	row[ChatToolCallContentChanged](byClient),
	row[ChatToolCallComplete](byClient),
	row[ChatToolCallResultConfirmed](byClient),
	row[ChatToolCallAuthRequired](byHostLater),
	row[ChatToolCallAuthResolved](byHostLater),
	row[AttentionChanged](byHost),
	row[TerminalSeen](byClient),
	row[AgentsRefused](byHost),
	row[HostWarned](byHost),
	row[LayoutWatched](byHost),
}

// ClientDispatchable reports whether an action type is known, and if so whether
// clients may dispatch it (AHP, Root Channel and Terminal Channel).
func ClientDispatchable(actionType string) (known, ok bool) {
	k, known := kinds[actionType]
	return known, k.client
}

// Speaks reports whether a peer of profile p may be sent an action: it was in
// its version of the protocol. Unknown types are not ours to judge.
func Speaks(p Profile, actionType string) bool { return p != V05 || !kinds[actionType].after05 }

// EmptyAction is an action of a type with nothing in it; of an unknown type it is
// an Unknown.
func EmptyAction(actionType string) Action {
	if k, known := kinds[actionType]; known {
		_, value := k.fresh()
		return value()
	}
	return Unknown{Type: actionType}
}

// DecodeAction reads an action of any profile. A type that is not known gives
// an Unknown that keeps raw; unknown members are dropped. The result shares no
// memory with raw.
func DecodeAction(raw json.RawMessage) (Action, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("decode action: %w", err)
	}
	if head.Type == "" {
		return nil, errors.New(`decode action: member "type" is missing`)
	}
	k, known := kinds[head.Type]
	if !known {
		return Unknown{Type: head.Type, Raw: append(json.RawMessage(nil), raw...)}, nil
	}
	to, value := k.fresh()
	if err := Unmarshal(raw, to); err != nil {
		return nil, fmt.Errorf("decode action %s: %w", head.Type, err)
	}
	return value(), nil
}

var readAction = jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, to *Action) error {
	text, err := d.ReadValue()
	if err == nil {
		*to, err = DecodeAction(json.RawMessage(text))
	}
	return err
})

// EncodeAction is the action's JSON object for a peer of profile p, its type
// member included. An Unknown is written verbatim. a must be one of this
// package's action types, by value.
func EncodeAction(p Profile, a Action) (json.RawMessage, error) {
	if a == nil {
		return nil, errors.New("encode action: there is none")
	}
	if u, is := a.(Unknown); is && json.Valid(u.Raw) {
		return u.Raw, nil
	}
	return Encode(p, a)
}

var writeAction = jsonv2.MarshalToFunc(func(e *jsontext.Encoder, a Action) error {
	switch v := a.(type) { // pointers, as the encoder gives what it can address
	case *Unknown:
		if len(v.Raw) > 0 {
			return e.WriteValue(jsontext.Value(v.Raw))
		}
		return jsonv2.MarshalEncode(e, map[string]string{"type": v.Type})
	case *ChatToolCallReady:
		if v.InvocationMessage == nil {
			ready := *v
			ready.InvocationMessage, a = Plain(""), &ready
		}
	case *SessionChatUpdated:
		if isAbsent(v.Changes) {
			a = &SessionChatUpdated{v.Chat, json.RawMessage("{}")}
		}
	}
	return kinds[a.ActionType()].write(e, a)
})
