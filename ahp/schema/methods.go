package schema

import (
	"encoding/json"
	"reflect"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/changeset"
	"tandemux/ahp/clienttool"
	"tandemux/ahp/find"
	"tandemux/ahp/palette"
	"tandemux/ahp/resource"
	"tandemux/ahp/wire"
)

// method is a request, or a notification if it has no result.
type method struct {
	name           string
	params, result reflect.Type
}

func request[P, R any](name string) method { return method{name, typeOf[P](), typeOf[R]()} }
func notification[P any](name string) method {
	return method{name, typeOf[P](), nil}
}

// Types that package ahp does not have.
type (
	// nothing is a null result.
	nothing struct{}
	// onChannel are params that have only the channel.
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
		Expires  float64 `json:"expiresIn,omitempty"`
	}
	AuthRequiredParams struct {
		Channel  ahp.URI         `json:"channel"`
		Resource json.RawMessage `json:"resource"` // the resource's metadata; in 0.5 its name
		Reason   string          `json:"reason,omitempty"`
	}
	Empty struct{}
)

// methods are all requests and notifications, in both directions.
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
	notification[AuthRequiredParams](ahp.NoteAuthRequired),

	request[resource.Params, resource.ListResult](resource.MethodList),
	request[resource.ReadParams, resource.ReadResult](resource.MethodRead),
	request[resource.ResolveParams, resource.ResolveResult](resource.MethodResolve),
	request[resource.RequestParams, Empty](resource.MethodRequest),
	request[resource.WriteParams, Empty](resource.MethodWrite),
	request[resource.Params, Empty](resource.MethodMkdir),
	request[resource.DeleteParams, Empty](resource.MethodDelete),
	request[resource.TransferParams, Empty](resource.MethodMove),
	request[resource.TransferParams, Empty](resource.MethodCopy),
	request[resource.WatchParams, resource.WatchResult](resource.MethodWatch),

	request[changeset.InvokeParams, changeset.InvokeResult](changeset.MethodInvoke),

	request[ahp.ReadParams, ahp.ReadResult](ahp.MethodRead),
	request[onChannel, nothing](ahp.MethodStop),
	request[onChannel, nothing](ahp.MethodYield),
	request[onChannel, ahp.HostResult](ahp.MethodHost),
	request[ahp.CommandParams, ahp.CommandResult](ahp.MethodCommand),
	request[ahp.CommandsParams, ahp.CommandsResult](ahp.MethodCommands),
	request[find.HistoryParams, find.HistoryResult](find.MethodHistory),
	request[find.SearchParams, find.SearchResult](find.MethodSearch),
	request[ahp.WaitParams, ahp.WaitResult](ahp.MethodWait),
	request[ahp.MarkParams, ahp.Mark](ahp.MethodMark),
	request[onChannel, nothing](ahp.MethodSkim),
	notification[ahp.Skimmed](ahp.NoteSkimmed),
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
	request[ahp.ShowParams, ahp.ShowResult](ahp.MethodShow),
	request[palette.Params, palette.Result](palette.Method),
	request[onChannel, palette.Interface](palette.MethodInterface),
	request[onChannel, palette.Clients](palette.MethodClients),
	request[palette.Params, palette.Result](palette.MethodOrder),
	request[ahp.AnswerParams, nothing](ahp.MethodAnswer),
	request[clienttool.ListParams, clienttool.ListResult](clienttool.MethodList),
	request[clienttool.CallParams, ahp.ToolResult](clienttool.MethodCall),
	notification[ahp.ColorsParams](ahp.MethodColors),
	notification[find.CancelParams](find.MethodCancel),
	notification[onChannel](wire.MethodUnquoted),
}

// states has the types of channels' states, by kind of channel.
var states = map[string]reflect.Type{
	"root":     typeOf[ahp.RootState](),
	"terminal": typeOf[ahp.TerminalState](),
	"session":  typeOf[ahp.SessionState](),
	"chat":     typeOf[ahp.ChatState](),
	"layout":   typeOf[ahp.LayoutState](),
	"activity": typeOf[ahp.ActivityState](),

	"changeset":     typeOf[changeset.State](),
	"resourceWatch": typeOf[resource.WatchState](),
	"annotations":   typeOf[annotation.State](),
}
