package schema

import (
	"encoding/json"
	"reflect"

	"tandemux/ahp"
)

// method is a request, or without a result a notification.
type method struct {
	name           string
	params, result reflect.Type
}

func request[P, R any](name string) method { return method{name, typeOf[P](), typeOf[R]()} }
func notification[P any](name string) method {
	return method{name, typeOf[P](), nil}
}

// What has no types of its own in package ahp.
type (
	// nothing is null.
	nothing struct{}
	// onChannel are the params of what is said to a channel alone.
	onChannel = ahp.SubscribeParams

	SessionAddedParams struct {
		Channel ahp.URI            `json:"channel"`
		Summary ahp.SessionSummary `json:"summary"`
	}
	SessionRemovedParams struct {
		Channel ahp.URI `json:"channel"`
		Session ahp.URI `json:"session"`
	}
	SessionSummaryChangedParams struct {
		Channel ahp.URI            `json:"channel"`
		Session ahp.URI            `json:"session"`
		Changes ahp.SessionChanges `json:"changes"`
	}
	ResolveSessionConfigParams struct {
		Channel            ahp.URI        `json:"channel,omitempty"`
		Provider           string         `json:"provider,omitempty"`
		WorkingDirectories []ahp.URI      `json:"workingDirectories,omitempty"`
		WorkingDirectory   ahp.URI        `json:"workingDirectory,omitempty"`
		Config             map[string]any `json:"config,omitempty"`
	}
	AuthenticateParams struct {
		Channel  ahp.URI `json:"channel"`
		Resource string  `json:"resource"`
		Token    string  `json:"token,omitempty"`
	}
	ResourceParams struct {
		Channel ahp.URI `json:"channel"`
		URI     ahp.URI `json:"uri"`
	}
	ResourceReadParams struct {
		ResourceParams
		Encoding string `json:"encoding,omitempty"`
	}
	ResourceReadResult struct {
		Data        string `json:"data"`
		Encoding    string `json:"encoding"`
		ContentType string `json:"contentType,omitempty"`
	}
	ResourceListResult struct {
		Entries []DirectoryEntry `json:"entries"`
	}
	DirectoryEntry struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	ResourceResolveParams struct {
		ResourceParams
		FollowSymlinks *bool `json:"followSymlinks,omitempty"`
	}
	ResourceResolveResult struct {
		URI         ahp.URI `json:"uri"`
		Type        string  `json:"type"`
		MTime       string  `json:"mtime,omitempty"`
		ETag        string  `json:"etag,omitempty"`
		Size        *int64  `json:"size,omitempty"`
		ContentType string  `json:"contentType,omitempty"`
	}
	ResourceRequestParams struct {
		ResourceParams
		Read  bool `json:"read,omitempty"`
		Write bool `json:"write,omitempty"`
	}
	Empty struct{}
)

// methods are what is asked and said, in both directions.
var methods = []method{
	request[ahp.InitializeParams, ahp.InitializeResult](ahp.MethodInitialize),
	request[ahp.ReconnectParams, ahp.ReconnectResult](ahp.MethodReconnect),
	request[onChannel, nothing](ahp.MethodPing),
	request[onChannel, ahp.SubscribeResult](ahp.MethodSubscribe),
	notification[onChannel](ahp.MethodUnsubscribe),
	notification[ahp.DispatchParams](ahp.MethodDispatchAction),
	notification[ahp.Envelope](ahp.MethodAction),

	request[ahp.CreateTerminalParams, nothing](ahp.MethodCreateTerminal),
	request[onChannel, nothing](ahp.MethodDisposeTerminal),

	request[ahp.ListSessionsParams, ahp.ListSessionsResult](ahp.MethodListSessions),
	request[ResolveSessionConfigParams, ahp.ResolveSessionConfigResult]("resolveSessionConfig"),
	request[json.RawMessage, ahp.CompletionsResult]("sessionConfigCompletions"),
	request[ahp.CreateSessionParams, nothing](ahp.MethodCreateSession),
	request[onChannel, nothing](ahp.MethodDisposeSession),
	request[ahp.CreateChatParams, nothing](ahp.MethodCreateChat),
	request[onChannel, nothing](ahp.MethodDisposeChat),
	request[ahp.FetchTurnsParams, ahp.FetchTurnsResult](ahp.MethodFetchTurns),
	request[ahp.CompletionsParams, ahp.CompletionsResult](ahp.MethodCompletions),
	request[AuthenticateParams, Empty]("authenticate"),
	notification[SessionAddedParams](ahp.NoteSessionAdded),
	notification[SessionRemovedParams](ahp.NoteSessionRemoved),
	notification[SessionSummaryChangedParams](ahp.NoteSessionSummaryChanged),
	notification[ahp.ProgressParams](ahp.NoteProgress),

	request[ResourceParams, ResourceListResult]("resourceList"),
	request[ResourceReadParams, ResourceReadResult]("resourceRead"),
	request[ResourceResolveParams, ResourceResolveResult]("resourceResolve"),
	request[ResourceRequestParams, Empty]("resourceRequest"),

	request[ahp.ReadParams, ahp.ReadResult](ahp.MethodRead),
	request[onChannel, nothing](ahp.MethodStop),
	request[onChannel, nothing](ahp.MethodYield),
	request[onChannel, ahp.HostResult](ahp.MethodHost),
	request[ahp.CommandParams, ahp.CommandResult](ahp.MethodCommand),
	request[ahp.CommandsParams, ahp.CommandsResult](ahp.MethodCommands),
	request[ahp.WaitParams, ahp.WaitResult](ahp.MethodWait),
	request[ahp.MarkParams, ahp.Mark](ahp.MethodMark),
	request[ahp.RunParams, ahp.RunResult](ahp.MethodRun),
	request[ahp.FeedParams, ahp.FeedResult](ahp.MethodFeed),
	request[ahp.ProfileParams, ahp.ProfileResult](ahp.MethodProfile),
	request[ahp.TokenNewParams, ahp.TokenNewResult](ahp.MethodTokenNew),
	request[onChannel, ahp.TokenListResult](ahp.MethodTokenList),
	request[ahp.TokenRevokeParams, nothing](ahp.MethodTokenRevoke),
	request[ahp.AgentParams, ahp.AgentResult](ahp.MethodAgent),
	request[ahp.LoginParams, ahp.LoginResult](ahp.MethodLogin),
	request[ahp.PromoteParams, ahp.Claim](ahp.MethodPromote),
	request[ahp.AskParams, ahp.AskResult](ahp.MethodAsk),
	request[ahp.AnswerParams, nothing](ahp.MethodAnswer),
	request[ahp.ClientToolsParams, ahp.ClientToolsResult](ahp.MethodClientTools),
	request[ahp.CallToolParams, ahp.ToolResult](ahp.MethodCallTool),
	notification[ahp.ColorsParams](ahp.MethodColors),
}

// states are those of channels, by what a channel is of.
var states = map[string]reflect.Type{
	"root":     typeOf[ahp.RootState](),
	"terminal": typeOf[ahp.TerminalState](),
	"session":  typeOf[ahp.SessionState](),
	"chat":     typeOf[ahp.ChatState](),
	"layout":   typeOf[ahp.LayoutState](),
	"activity": typeOf[ahp.ActivityState](),
}
