package host

import (
	"context"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
)

// restoreTime bounds the making of all that an earlier host left.
const restoreTime = time.Minute

// restore makes what an earlier host left: channels, clients, terminals. Nobody
// is connected yet.
func (h *Host) restore() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), restoreTime)
	defer cancel()
	left, err := h.terminals.Inherit(ctx)
	if err != nil {
		return err
	}
	tx := h.core.Lock()
	for _, f := range left.Journals {
		tx.Saw(f.Contents.Newest)
	}
	for _, f := range left.Spares {
		if !h.journals.Put(f.Journal) {
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Channels {
		if err := tx.Revive(f); err != nil {
			h.cfg.Log.Error("restore a channel", "channel", f.Contents.Channel, "err", err)
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Stale {
		h.journals.Drop(f.Journal)
	}
	tx.Unlock()
	left.Adopt(ctx)
	tx = h.core.Lock()
	left.Join(tx)
	tx.RestoreWindows()
	left.Doubt(tx)
	h.sessions.Revive(tx)
	h.terminals.SendList(tx)
	h.activity.Revived(tx)
	channels := 0
	for range tx.Channels() {
		channels++
	}
	tx.Unlock()
	if err := h.journals.Fill(); err != nil {
		h.activity.Warn("journals", err)
	}
	h.core.Locked(func(tx core.Tx) { tx.Keep(tx.Channel(ahp.RootURI)) })
	if terms := left.Start(ctx); terms+len(left.Journals) > 0 {
		h.cfg.Log.Info("took over from an earlier host", "terminals", terms, "channels", channels, "took", time.Since(began))
	}
	return nil
}
