package core

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
)

// A Kind makes the body of a channel that an earlier host left, from its state encoded as
// AHP 1. The caller then reduces the actions that followed.
type Kind func(ch *Channel, state json.RawMessage) (Body, error)

// kind is the Kind of that name, or without a name that of the URI's scheme. It is nil for
// a terminal, and for a kind that this version does not have.
func (tx Tx) kind(uri ahp.URI, name string) Kind {
	if name == "" {
		scheme, _, _ := strings.Cut(uri, ":")
		name = scheme + ":"
	}
	return tx.c.o.Kinds[name]
}

// Revive makes a channel other than a terminal as an earlier host left it.
func (tx Tx) Revive(f *record.Found) error {
	m := f.Contents
	kind := tx.kind(m.Channel, m.Kind)
	if kind == nil {
		return errors.New("this version has no such channels")
	}
	ch := tx.NewChannel(m.Channel, nil)
	body, err := kind(ch, m.State)
	if err == nil && m.Private != nil {
		err = tx.know(ch, body, m.Private)
	}
	if err != nil {
		delete(tx.c.channels, m.Channel)
		return err
	}
	ch.Body = body
	for _, e := range m.Log {
		switch {
		case e.Env.Action != nil:
			body.Reduce(e.Env.Action)
		case e.Type == record.TypePrivate:
			err = tx.know(ch, body, e.Data)
		case e.Type == record.TypeClient && ch.URI == ahp.RootURI:
			err = tx.knowClient(e.Data)
		}
		if err != nil {
			m.Spoil(err)
			break
		}
	}
	tx.Resume(ch, f.Journal, m)
	return nil
}

// know gives a body the private facts of an earlier host; the root's are the clients.
func (tx Tx) know(ch *Channel, b Body, raw json.RawMessage) error {
	if ch.URI == ahp.RootURI {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for _, cl := range list {
			if err := tx.knowClient(cl); err != nil {
				return err
			}
		}
		return nil
	}
	if p, ok := b.(Private); ok {
		return p.Know(raw)
	}
	return nil
}

// Resume has a channel continue with the journal of an earlier host.
func (tx Tx) Resume(ch *Channel, j *journal.Journal, m *record.Contents) {
	ch.Journal, ch.last = j, m.LastLogged()
	tx.tidyLater(ch)
	if m.Damage != nil {
		// Clients may have seen actions that are lost, so all get the state. The sequence
		// began above all numbers that they know.
		ch.log.floor = tx.c.seq.last
	} else {
		es, floor := m.Replay()
		ch.log.floor = floor
		for _, e := range es {
			tx.c.log(ch, e)
		}
	}
	for id, o := range m.Origins {
		ch.Accepted.Set(id, o)
	}
	for o := range m.Unaccepted {
		ch.Accepted.Remove(o.ClientID, o.ClientSeq)
	}
	for _, e := range m.Log {
		o := e.Env.Origin
		if e.Type == record.TypeInput {
			o = &e.Input.Origin
		}
		if o == nil || m.Unaccepted[*o] {
			continue
		}
		if cl := tx.c.clients[o.ClientID]; cl != nil && e.Seq >= cl.Since {
			ch.Accepted.Note(o.ClientID, cl.Since, o.ClientSeq, e.Seq)
		}
	}
	if m.Damage != nil {
		tx.c.o.Log.Warn("a journal was damaged", "channel", ch.URI, "err", m.Damage)
		if _, is := ch.Body.(Captured); !is {
			tx.Checkpoint(ch)
		}
	}
}

// RestoreWindows fills the clients' windows with what all channels have accepted.
func (tx Tx) RestoreWindows() {
	seqs := map[*Client][]int64{}
	for _, ch := range tx.c.channels {
		for id, o := range ch.Accepted {
			cl := tx.c.clients[id]
			if cl == nil || o.Since != cl.Since {
				continue
			}
			o.Each(windowSize, func(seq int64) { seqs[cl] = append(seqs[cl], seq) })
		}
	}
	for cl, all := range seqs {
		slices.Sort(all)
		for _, seq := range all {
			cl.window.note(seq, done{})
		}
	}
}
