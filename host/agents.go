package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
)

// sessions are the sessions and the agents that the host has. Guarded by the
// sequencing lock but for what is immutable.
type sessions struct {
	h      *Host
	list   []*session
	ctx    context.Context // ends with the host; immutable
	cancel context.CancelFunc
	// work is all that is done for agents beside the sequencer.
	work sync.WaitGroup

	providers []agent.Provider // immutable
	// options are what the agents of a provider offered last, by provider.
	options map[string][]ahp.AgentOption
	// supply, turnEnded and chatEnded connect terminals and files to sessions: what
	// an agent gets, and that a tool call (or with call "" a turn) or a chat has
	// ended. They are called with the lock held, and are nil where there are none.
	supply    func(tx core.Tx, c *chat, spec *agent.Spec)
	turnEnded func(tx core.Tx, c *chat, turn, call string)
	chatEnded func(tx core.Tx, c *chat)
}

// initAgents takes the providers of the configuration. Nothing runs yet.
func (ss *sessions) initAgents(h *Host, providers []agent.Provider) {
	ss.h = h
	ss.ctx, ss.cancel = context.WithCancel(context.Background())
	ss.options = map[string][]ahp.AgentOption{}
	ss.providers = providers
	ss.supply, ss.turnEnded, ss.chatEnded = supplyAgent, callEnded, chatEnded
}

// stopAgents ends what agents do. The caller has set tx.Closing(); h.sessions.work is
// waited for without it.
func (ss *sessions) stopAgents(tx core.Tx) {
	ss.cancel()
	for _, s := range ss.list {
		for _, timer := range s.absent {
			timer.Stop()
		}
		for _, c := range s.chats {
			if r := c.now; r != nil {
				r.stopWatch()
			}
			c.forsake(tx)
		}
	}
}

// closeAgent ends an agent's session beside the sequencer, and gives up when that
// takes too long.
func (ss *sessions) closeAgent(tx core.Tx, a agent.Session) {
	h := ss.h
	h.sessions.work.Add(1)
	go func() {
		defer h.sessions.work.Done()
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			defer func() {
				if r := recover(); r != nil {
					h.log.Error("close an agent's session", "panic", r)
				}
			}()
			if err := a.Close(); err != nil {
				h.log.Warn("close an agent's session", "err", err)
			}
		}()
		select {
		case <-closed:
		case <-time.After(h.limits.AgentGrace):
			h.log.Error("an agent's session did not close in time")
		}
	}()
}

// provider finds one; "" is the first.
func (ss *sessions) provider(tx core.Tx, id string) (agent.Provider, error) {
	if id == "" && len(ss.providers) > 0 {
		return ss.providers[0], nil
	}
	i := slices.IndexFunc(ss.providers, func(p agent.Provider) bool { return p.Info().ID == id })
	switch {
	case len(ss.providers) == 0:
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "this host has no agent provider: configure one, see `tandemux agents`")
	case i < 0:
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "this host has no agent %q: `tandemux agents` lists those that it has", params.Clip(id))
	}
	return ss.providers[i], nil
}

// refreshAgents tells the root's subscribers what is known of the agents.
func (ss *sessions) refreshAgents(tx core.Tx) {
	list := make([]ahp.AgentInfo, 0, len(ss.providers))
	for _, p := range ss.providers {
		info := p.Info()
		a := ahp.AgentInfo{
			Provider: info.ID, DisplayName: info.Name, Description: info.Description, Models: []map[string]any{},
			Capabilities: json.RawMessage(`{"multipleChats":{}}`),
		}
		if info.Fork {
			a.Capabilities = json.RawMessage(`{"multipleChats":{"fork":true,"sideChat":true}}`)
		}
		for _, m := range info.Models[:min(len(info.Models), words.MaxChoices)] {
			a.Models = append(a.Models, map[string]any{"id": m.ID, "provider": info.ID, "name": cmp.Or(m.Name, m.ID)})
		}
		list = append(list, a)
	}
	if !reflect.DeepEqual(list, ss.h.root.value.Agents) && len(list)+len(ss.h.root.value.Agents) > 0 {
		tx.Apply(ss.h.root.ch, ahp.RootAgentsChanged{Agents: list}, nil)
	}
}

// newID makes an id that is unique in this host and any other.
func newID(kind string) string { return kind + "-" + strings.ToLower(rand.Text()) }

// Bounds of what agents and clients say in sessions; sizes in bytes.
const (
	maxMessage       = 1 << 20 // an action of a client, or a message
	maxSessionMeta   = 64 << 10
	maxNamed         = 80 // a title made of a message, an activity
	maxTurnParts     = 5000
	maxPlan          = 100
	maxOptions       = 32
	maxCommands      = 200
	maxQueued        = 100
	maxAttachments   = 64
	maxOpenAsks      = 16
	maxClientTools   = 200
	maxActiveClients = 32
	maxChats         = 50 // of a session
	maxRoots         = 16
	maxPage          = 200 // sessions in one answer
	maxDirectory     = 5000
	maxCompletions   = 50
)
