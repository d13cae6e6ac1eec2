package host

import (
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
)

// agents is what the host has of agents. Guarded by h.mu but for what is
// immutable.
type agents struct {
	ctx    context.Context // ends with the host; immutable
	cancel context.CancelFunc
	// work is all that is done for agents beside the sequencer.
	work sync.WaitGroup

	providers []agent.Provider // immutable
	// options are what the agents of a provider offered last, by provider.
	options map[string][]ahp.AgentOption
	// supply, turnEnded and chatEnded connect terminals and files to sessions: what
	// an agent gets, and that a tool call (or with call "" a turn) or a chat has
	// ended. They are called with h.mu held, and are nil where there are none.
	supply    func(tx Tx, c *chat, spec *agent.Spec)
	turnEnded func(tx Tx, c *chat, turn, call string)
	chatEnded func(tx Tx, c *chat)
}

// initAgents takes the providers of the configuration. Nothing runs yet.
func (h *Host) initAgents(providers []agent.Provider) {
	h.agents.ctx, h.agents.cancel = context.WithCancel(context.Background())
	h.agents.options = map[string][]ahp.AgentOption{}
	h.agents.providers = providers
	h.agents.supply, h.agents.turnEnded, h.agents.chatEnded = h.supplyAgent, h.callEnded, h.chatEnded
}

// stopAgents ends what agents do. The caller has set h.closing; h.agents.work is
// waited for without it.
func (tx Tx) stopAgents() {
	tx.agents.cancel()
	for _, s := range tx.sessions {
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
func (tx Tx) closeAgent(a agent.Session) {
	h := tx.Host
	h.agents.work.Add(1)
	go func() {
		defer h.agents.work.Done()
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
func (tx Tx) provider(id string) (agent.Provider, error) {
	if id == "" && len(tx.agents.providers) > 0 {
		return tx.agents.providers[0], nil
	}
	i := slices.IndexFunc(tx.agents.providers, func(p agent.Provider) bool { return p.Info().ID == id })
	switch {
	case len(tx.agents.providers) == 0:
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "this host has no agent provider: configure one, see `tandemux agents`")
	case i < 0:
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "this host has no agent %q: `tandemux agents` lists those that it has", clip(id))
	}
	return tx.agents.providers[i], nil
}

// refreshAgents tells the root's subscribers what is known of the agents.
func (tx Tx) refreshAgents() {
	list := make([]ahp.AgentInfo, 0, len(tx.agents.providers))
	for _, p := range tx.agents.providers {
		info := p.Info()
		a := ahp.AgentInfo{
			Provider: info.ID, DisplayName: info.Name, Description: info.Description, Models: []map[string]any{},
			Capabilities: json.RawMessage(`{"multipleChats":{}}`),
		}
		if info.Fork {
			a.Capabilities = json.RawMessage(`{"multipleChats":{"fork":true,"sideChat":true}}`)
		}
		for _, m := range info.Models[:min(len(info.Models), maxChoices)] {
			a.Models = append(a.Models, map[string]any{"id": m.ID, "provider": info.ID, "name": orElse(m.Name, m.ID)})
		}
		list = append(list, a)
	}
	if !reflect.DeepEqual(list, tx.root.value.Agents) && len(list)+len(tx.root.value.Agents) > 0 {
		tx.apply(tx, tx.root.ch, ahp.RootAgentsChanged{Agents: list}, nil)
	}
}

// newID makes an id that is unique in this host and any other.
func newID(kind string) string { return kind + "-" + strings.ToLower(rand.Text()) }

// Bounds of what agents and clients say in sessions; sizes in bytes.
const (
	maxMessage       = 1 << 20   // an action of a client, or a message
	maxToolText      = 256 << 10 // one text of a tool's input or result
	maxErrorText     = 4 << 10
	maxSessionMeta   = 64 << 10
	maxNamed         = 80 // a title made of a message, an activity
	maxContents      = 64 // of a tool call
	maxLocations     = 32
	maxTurnParts     = 5000
	maxPlan          = 100
	maxOptions       = 32
	maxChoices       = 200
	maxCommands      = 200
	maxAuthMethods   = 16
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
