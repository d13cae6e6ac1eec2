package ahp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is one action type: its name, who may dispatch it, and how it is decoded and encoded.
type Kind struct {
	name string
	By
	// fresh returns a pointer to decode into, and a function that returns the decoded action.
	fresh func() (to any, value func() Action)
	// write encodes the action that a points to, with its type member.
	write func(e *jsontext.Encoder, a Action) error
}

// Row returns the Kind of the action type A.
func Row[A Action](by By) Kind {
	var zero A
	return Kind{
		name: zero.ActionType(), By: by,
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

// By says who may dispatch an action, and whether 0.5.0 does not know it.
type By struct{ client, after05 bool }

// The values of By.
var (
	ByHost, ByHostLater     = By{}, By{after05: true}
	ByClient, ByClientLater = By{client: true}, By{client: true, after05: true}
)

// kinds has all action types by name.
var kinds = map[string]Kind{}

var rows = [...]Kind{
	Row[RootAgentsChanged](ByHost),
	Row[RootActiveSessionsChanged](ByHost),
	Row[RootTerminalsChanged](ByHost),
	Row[RootConfigChanged](ByClient),
	Row[TerminalData](ByHost),
	Row[TerminalInput](ByClient),
	Row[TerminalResized](ByClient),
	Row[TerminalClaimed](ByClient),
	Row[TerminalTitleChanged](ByClient),
	Row[TerminalCwdChanged](ByHost),
	Row[TerminalExited](ByHost),
	Row[TerminalCleared](ByClient),
	Row[TerminalCommandDetectionAvailable](ByHost),
	Row[TerminalCommandExecuted](ByHost),
	Row[TerminalCommandFinished](ByHost),
	Row[LayoutChanged](ByClient),
	Row[SessionReady](ByHost),
	Row[SessionCreationFailed](ByHost),
	Row[SessionChatAdded](ByHost),
	Row[SessionChatRemoved](ByHost),
	Row[SessionChatUpdated](ByHost),
	Row[SessionChatsReordered](ByHostLater),
	Row[SessionDefaultChatChanged](ByHost),
	Row[SessionTitleChanged](ByClient),
	Row[SessionIsReadChanged](ByClient),
	Row[SessionIsArchivedChanged](ByClient),
	Row[SessionActivityChanged](ByHost),
	Row[SessionChangesetsChanged](ByHost),
	Row[SessionServerToolsChanged](ByHost),
	Row[SessionActiveClientSet](ByClient),
	Row[SessionActiveClientRemoved](ByClient),
	Row[SessionWorkingDirectorySet](ByClientLater),
	Row[SessionWorkingDirectoryRemoved](ByClientLater),
	Row[SessionWorkingDirectoryReplaced](ByClientLater),
	Row[SessionInputNeededSet](ByHostLater),
	Row[SessionInputNeededRemoved](ByHostLater),
	Row[SessionCustomizationsChanged](ByHost),
	Row[SessionCustomizationUpdated](ByHost),
	Row[SessionCustomizationRemoved](ByHost),
	Row[SessionCustomizationToggled](ByClient),
	Row[SessionMcpServerStateChanged](ByHost),
	Row[SessionMcpServerStartRequested](ByClientLater),
	Row[SessionMcpServerStopRequested](ByClientLater),
	Row[SessionMcpServerBackgroundRequested](ByClientLater),
	Row[SessionConfigChanged](ByClient),
	Row[SessionMetaChanged](ByHost),
	Row[SessionModelChanged](ByClient),
	Row[SessionAgentChanged](ByClient),
	Row[ChatTurnStarted](ByClient),
	Row[ChatResponsePart](ByHost),
	Row[ChatDelta](ByHost),
	Row[ChatReasoning](ByHost),
	Row[ChatUsage](ByHost),
	Row[ChatTurnComplete](ByHost),
	Row[ChatTurnCancelled](ByClient),
	Row[ChatError](ByHost),
	Row[ChatTurnResume](ByClientLater),
	Row[ChatPendingMessageSet](ByClient),
	Row[ChatPendingMessageRemoved](ByClient),
	Row[ChatQueuedMessagesReordered](ByClient),
	Row[ChatDraftChanged](ByClientLater),
	Row[ChatIsReadChanged](ByClientLater),
	Row[ChatIsArchivedChanged](ByClientLater),
	Row[ChatInputRequested](ByHost),
	Row[ChatInputAnswerChanged](ByClient),
	Row[ChatInputCompleted](ByClient),
	Row[ChatTruncated](ByClient),
	Row[ChatTurnsLoaded](ByHostLater),
	Row[ChatActivityChanged](ByHostLater),
	Row[ChatBackgroundWorkSet](ByHostLater),
	Row[ChatBackgroundWorkRemoved](ByHostLater),
	Row[ChatMovableChanged](ByHostLater),
	Row[ChatChangesetsChanged](ByHostLater),
	Row[ChatWorkingDirectorySet](ByClientLater),
	Row[ChatWorkingDirectoryRemoved](ByClientLater),
	Row[ChatToolCallStart](ByHost),
	Row[ChatToolCallDelta](ByHost),
	Row[ChatToolCallReady](ByHost),
	Row[ChatToolCallConfirmed](ByClient),
	Row[ChatToolCallContentChanged](ByClient),
	Row[ChatToolCallProgress](ByClientLater),
	Row[ChatToolCallComplete](ByClient),
	Row[ChatToolCallResultConfirmed](ByClient),
	Row[ChatToolCallAuthRequired](ByHostLater),
	Row[ChatToolCallAuthResolved](ByHostLater),
	Row[AttentionChanged](ByHost),
	Row[TerminalSeen](ByClient),
	Row[AgentsRefused](ByHost),
	Row[HostWarned](ByHost),
	Row[LayoutWatched](ByHost),
	Row[TerminalEchoChanged](ByHostLater),
}

// Register adds action types of a package below this one. Such a package calls it in its init, so a
// program knows the actions of the packages that it imports.
func Register(all ...Kind) {
	for _, k := range all {
		kinds[k.name] = k
	}
}

// ActionTypes returns the names of all known action types, sorted.
func ActionTypes() []string { return slices.Sorted(maps.Keys(kinds)) }

// ClientDispatchable reports whether an action type is known, and whether clients may dispatch it
// (AHP, Root Channel and Terminal Channel).
func ClientDispatchable(actionType string) (known, ok bool) {
	k, known := kinds[actionType]
	return known, k.client
}

// Speaks reports whether a peer of profile p may be sent the action: its version of the protocol
// has it, or this package does not know it.
func Speaks(p Profile, actionType string) bool { return p != V05 || !kinds[actionType].after05 }

// EmptyAction returns the zero value of an action type, or an Unknown of an unknown type.
func EmptyAction(actionType string) Action {
	if k, known := kinds[actionType]; known {
		_, value := k.fresh()
		return value()
	}
	return Unknown{Type: actionType}
}

// DecodeAction reads an action of any profile. One of an unknown type becomes an Unknown that keeps
// the JSON; unknown members are dropped. The result shares no memory with raw.
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

// EncodeAction returns the action's JSON object for a peer of profile p, with the type member. An
// Unknown is written verbatim. a must be an action type of this package or a registered one, by
// value.
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
	switch v := a.(type) { // the encoder passes pointers where it can address the value
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
