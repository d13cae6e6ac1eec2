package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/sessions"
)

// method is a row of the table of requests.
type method struct {
	do    func(ctx context.Context, c *conn, params json.RawMessage) (any, error)
	early bool   // allowed before the handshake
	opens bool   // is a handshake: allowed only before one
	large bool   // answers with much: waits for room first
	scope string // needed in any case; "" when do decides
}

// methods is everything that can be asked. Unknown ones are -32601.
var methods map[string]method

func init() {
	methods = map[string]method{
		ahp.MethodInitialize: {do: initialize, early: true, opens: true, large: true},
		ahp.MethodReconnect:  {do: reconnect, early: true, opens: true, large: true},
		ahp.MethodPing:       {do: ping, early: true},
		ahp.MethodSubscribe:  {do: subscribe, large: true},

		ahp.MethodCreateTerminal:  {do: createTerminal},
		ahp.MethodDisposeTerminal: {do: disposeTerminal},

		ahp.MethodListSessions:     {do: ofSessions((*sessions.Sessions).ListSessions)},
		"resolveSessionConfig":     {do: ofSessions((*sessions.Sessions).ResolveConfig)},
		"sessionConfigCompletions": {do: ofSessions((*sessions.Sessions).ConfigCompletions)},
		ahp.MethodCreateSession:    {do: ofSessions((*sessions.Sessions).CreateSession)},
		ahp.MethodDisposeSession:   {do: ofSessions((*sessions.Sessions).DisposeSession)},
		ahp.MethodCreateChat:       {do: ofSessions((*sessions.Sessions).CreateChat)},
		ahp.MethodDisposeChat:      {do: ofSessions((*sessions.Sessions).DisposeChat)},
		ahp.MethodFetchTurns:       {do: ofSessions((*sessions.Sessions).FetchTurns), scope: auth.ScopeRead, large: true},
		ahp.MethodCompletions:      {do: completions, scope: auth.ScopeRead},
		"authenticate":             {do: ofSessions((*sessions.Sessions).Authenticate)},

		"resourceList":    {do: resourceList, large: true},
		"resourceRead":    {do: resourceRead, large: true},
		"resourceResolve": {do: resourceResolve},
		"resourceRequest": {do: resourceRequest},

		ahp.MethodRead:        {do: read, scope: auth.ScopeRead, large: true},
		ahp.MethodCommand:     {do: readCommand, scope: auth.ScopeRead, large: true},
		ahp.MethodCommands:    {do: listCommands, scope: auth.ScopeRead, large: true},
		ahp.MethodWait:        {do: waitFor, scope: auth.ScopeRead},
		ahp.MethodMark:        {do: mark, scope: auth.ScopeRead},
		ahp.MethodRun:         {do: run, scope: auth.ScopeInput},
		ahp.MethodFeed:        {do: feed, scope: auth.ScopeRead}, // only what it was given to feed
		ahp.MethodAgent:       {do: findAgent},
		ahp.MethodLogin:       {do: login},
		ahp.MethodClientTools: {do: ofSessions((*sessions.Sessions).OfferTools), scope: auth.ScopeRead},
		ahp.MethodCallTool:    {do: ofSessions((*sessions.Sessions).CallTool), scope: auth.ScopeRead},
		ahp.MethodPromote:     {do: promote, scope: auth.ScopeClaim},
		ahp.MethodAsk:         {do: askFor, scope: auth.ScopeClaim},
		ahp.MethodAnswer:      {do: answerAsk, scope: auth.ScopeClaim},
		ahp.MethodStop:        {do: stop},
		ahp.MethodYield:       {do: yield},
		ahp.MethodHost:        {do: describeHost, scope: auth.ScopeRead},
		ahp.MethodProfile:     {do: profile, large: true},
		ahp.MethodTokenNew:    {do: tokenNew, scope: auth.ScopeAdmin},
		ahp.MethodTokenList:   {do: tokenList, scope: auth.ScopeAdmin},
		ahp.MethodTokenRevoke: {do: tokenRevoke, scope: auth.ScopeAdmin},
	}
	for _, name := range readOnlyFiles {
		methods[name] = method{do: refuseWrite(name)}
	}
}

// ofSessions is a request that sessions answer.
func ofSessions(do func(ss *sessions.Sessions, ctx context.Context, c *sessions.Caller, raw json.RawMessage) (any, error)) func(context.Context, *conn, json.RawMessage) (any, error) {
	return func(ctx context.Context, c *conn, raw json.RawMessage) (any, error) {
		return do(c.h.sessions, ctx, &sessions.Caller{Link: c.Link, Aside: c.aside}, raw)
	}
}

// readOnlyFiles are the requests that would change files, or watch them: all are
// refused (docs/protocol.md, What is served).
var readOnlyFiles = []string{
	"resourceWrite", "resourceCopy", "resourceDelete", "resourceMove", "resourceMkdir", "createResourceWatch",
}

// notifications are never answered; unknown ones are ignored.
var notifications = map[string]func(c *conn, params json.RawMessage){
	ahp.MethodUnsubscribe:    unsubscribe,
	ahp.MethodDispatchAction: dispatchAction,
	ahp.MethodColors:         setColors,
}

func ping(context.Context, *conn, json.RawMessage) (any, error) { return nil, nil }
