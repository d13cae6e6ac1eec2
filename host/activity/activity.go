package activity

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
)

// Interval is the least time between two changes that are told of the same kind.
const Interval = 50 * time.Millisecond

// Options are what an Activity needs of the host.
type Options struct {
	Now func() time.Time
	Log *slog.Logger
	// Tokens says what is wrong with the access tokens; it is asked without the lock.
	Tokens func() error
	// Losing says what the end of the host would lose, nil when nothing.
	Losing func(tx core.Tx) error
}

// Activity is the body of the activity channel.
// It implements core.Body.
type Activity struct {
	Options
	core  *core.Core
	ch    *core.Channel
	value ahp.ActivityState
	due   map[ahp.URI]ahp.Attention // rows that have changed
	last  time.Time
	timer *time.Timer // armed while rows are due; nil otherwise

	refusals []ahp.AgentRefusal
	refused  bool // refusals have changed

	troubles map[string]error // what the owner has to see to
	warn     *time.Timer      // armed while the warning may have changed; nil otherwise
	revived  bool             // Revived was called: what is told before that would be told in a channel that Revive replaces
	mender   mender
}

// New makes an Activity that Open makes a channel of.
func New(o Options) *Activity {
	v := &Activity{Options: o, due: map[ahp.URI]ahp.Attention{}, troubles: map[string]error{}}
	v.mender.again = map[string]func() error{}
	return v
}

func (v *Activity) Open(tx core.Tx, c *core.Core) {
	v.core, v.ch = c, tx.NewChannel(ahp.ActivityURI, v)
}

// Revive takes the channel that an earlier host left, so that clients which come back are
// told what they missed of it.
func (v *Activity) Revive(ch *core.Channel, state json.RawMessage) (core.Body, error) {
	v.ch = ch
	return v, json.Unmarshal(state, &v.value)
}

// Revived drops what is over: nobody is connected yet, and terminals may be gone. It is called
// once in each host's life, also where no earlier host left anything.
func (v *Activity) Revived(tx core.Tx) {
	v.revived = true
	for uri := range v.value.Terminals {
		if tx.Channel(uri) == nil {
			v.Forget(tx, uri)
		}
	}
	v.WarnSoon(tx)
	for uri := range v.value.Layouts {
		v.Watched(tx, uri, 0)
	}
}

func (v *Activity) Reduce(a ahp.Action) { v.value = ahp.ReduceActivity(v.value, a) }

func (v *Activity) State(core.Tx) any { return v.value }

func (v *Activity) Settle(tx core.Tx) {
	v.disarm()
	if len(v.due) == 0 && !v.refused {
		return
	}
	v.last = time.Now()
	if v.refused {
		v.refused = false
		tx.Apply(v.ch, ahp.AgentsRefused{Refusals: slices.Clone(v.refusals)}, nil)
	}
	for uri, row := range v.due {
		delete(v.due, uri)
		if tx.Channel(uri) != nil {
			tx.Apply(v.ch, ahp.AttentionChanged{Terminal: uri, Attention: &row}, nil)
		}
	}
}

// Seen notes that a person has looked at a terminal.
func (v *Activity) Seen(tx core.Tx, uri ahp.URI, by *core.By) {
	v.Settle(tx)
	tx.Apply(v.ch, ahp.TerminalSeen{Terminal: uri, At: v.Now().UnixMilli()}, by)
}

// Forget takes a removed terminal's row out.
func (v *Activity) Forget(tx core.Tx, uri ahp.URI) {
	delete(v.due, uri)
	if _, ok := v.value.Terminals[uri]; ok {
		tx.Apply(v.ch, ahp.AttentionChanged{Terminal: uri}, nil)
	}
}

// Watched says how many clients show a layout.
func (v *Activity) Watched(tx core.Tx, layout ahp.URI, clients int) {
	if v.value.Layouts[layout] != clients {
		tx.Apply(v.ch, ahp.LayoutWatched{Layout: layout, Clients: clients}, nil)
	}
}

// Refuse tells what an agent was not allowed. The same again only counts, so that an
// agent that tries in a loop costs no more than one that tried once.
func (v *Activity) Refuse(tx core.Tx, r ahp.AgentRefusal) {
	r.At, r.Count = v.Now().UnixMilli(), 1
	r.Agent, r.What, r.Why = inLine(r.Agent), inLine(r.What), inLine(r.Why)
	r.Session, r.Terminal = params.Clip(r.Session), params.Clip(r.Terminal)
	i := slices.IndexFunc(v.refusals, func(o ahp.AgentRefusal) bool {
		return o.Agent == r.Agent && o.Session == r.Session && o.What == r.What && o.Why == r.Why
	})
	if i >= 0 {
		r.Count += v.refusals[i].Count
		v.refusals = slices.Delete(v.refusals, i, i+1)
	}
	v.refusals = append(v.refusals, r)
	if n := len(v.refusals); n > ahp.MaxRefusals {
		v.refusals = slices.Delete(v.refusals, 0, n-ahp.MaxRefusals)
	}
	v.refused = true
	v.sendSoon(tx)
}

// inLine is a text that fits into a line of an interface.
func inLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(params.ClipTo(s, ahp.MaxNote), ""))
	return strings.TrimSpace(s)
}

// sendSoon sends what is due, now or when the interval is over.
func (v *Activity) sendSoon(tx core.Tx) {
	if v.timer != nil {
		return
	}
	if wait := Interval - time.Since(v.last); wait > 0 {
		v.timer = time.AfterFunc(wait, func() { v.core.Do(v.Settle) })
		return
	}
	v.Settle(tx)
}

func (v *Activity) Stop(tx core.Tx) {
	if v.disarm(); v.warn != nil {
		v.warn.Stop()
		v.warn = nil
	}
}

func (v *Activity) disarm() {
	if v.timer != nil {
		v.timer.Stop()
		v.timer = nil
	}
}
