package host

import (
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/core"
)

// reviveActivity makes the activity channel that an earlier host left, so that
// clients which come back are told what they missed of it.
func reviveActivity(h *Host, ch *core.Channel, state json.RawMessage) (core.Body, error) {
	a := &activity{h: h, ch: ch, due: map[*term]struct{}{}}
	if err := json.Unmarshal(state, &a.value); err != nil {
		return nil, err
	}
	h.activity = a
	return a, nil
}

// revived implements revived: the terminals have their rows again, and nobody is
// connected yet.
func (v *activity) revived(tx core.Tx) {
	for uri, row := range v.value.Terminals {
		if t, ok := termAt(tx, uri); ok {
			t.attention.row = row
		} else {
			tx.Apply(v.ch, ahp.AttentionChanged{Terminal: uri}, nil)
		}
	}
	v.warnSoon(tx)
	for uri := range v.value.Layouts {
		tx.Apply(v.ch, ahp.LayoutWatched{Layout: uri}, nil)
	}
}
