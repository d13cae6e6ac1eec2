package commands

import (
	"sync"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/history"
	"tandemux/host/requests"
	"tandemux/host/terminals"
)

// Options are what Commands need of the host.
type Options struct {
	Core      *core.Core
	Audit     *audit.Log
	Terminals *terminals.Terminals
	History   *history.Log // nil: no commands are kept
	// KeepsHouse reports whether a connection may have any number of waits.
	KeepsHouse func(c *requests.Conn) bool
}

// Commands are what clients run and wait for.
type Commands struct {
	Options
	waits    map[*requests.Conn][]*wait // those not answered yet; guarded by core's lock
	matching sync.WaitGroup
}

// New makes Commands without waits.
func New(o Options) *Commands { return &Commands{Options: o, waits: map[*requests.Conn][]*wait{}} }

// Methods is what can be asked.
func (cs *Commands) Methods() map[string]requests.Method {
	return map[string]requests.Method{
		ahp.MethodRead:     {Do: requests.Of(cs.read), Scope: auth.ScopeRead, Reach: requests.Own, Large: true},
		ahp.MethodCommand:  {Do: requests.Of(cs.readCommand), Scope: auth.ScopeRead, Reach: requests.Own, Large: true},
		ahp.MethodCommands: {Do: requests.Of(cs.listCommands), Scope: auth.ScopeRead, Reach: requests.Own, Large: true},
		find.MethodHistory: {Do: requests.Of(cs.history), Scope: auth.ScopeAdmin, Large: true},
		find.MethodSearch:  {Do: requests.Of(cs.search), Scope: auth.ScopeRead, Reach: requests.Anywhere, Large: true}, // finds in what one may read
		ahp.MethodWait:     {Do: requests.Of(cs.wait), Scope: auth.ScopeRead, Reach: requests.Own},
		ahp.MethodMark:     {Do: requests.Of(cs.mark), Scope: auth.ScopeRead, Reach: requests.Own},
		ahp.MethodRun:      {Do: requests.Of(cs.run), Scope: auth.ScopeInput, Reach: requests.Own},
	}
}

// Wait waits until all matchers have ended. It may be called once all connections have ended.
func (cs *Commands) Wait() { cs.matching.Wait() }
