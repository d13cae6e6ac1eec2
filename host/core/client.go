package core

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/auth"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
)

// Client is what the host remembers of a clientId beyond its connections. The lock guards
// it.
type Client struct {
	ID      string
	Owner   string // the principal's id; never changes
	Version string // negotiated by initialize; reconnect carries none
	Profile ahp.Profile
	Guest   *auth.Principal // of the last initialize, if it is an agent's or drives a session
	Since   int64           // sequence number at the last initialize: identifies the window
	Title   string          // what its program calls itself, cleaned for display
	Seen    time.Time
	Colors  emulator.Colors // of its screen, zero until it reports them

	window *window // of dispatches since the last initialize
	links  map[*Link]struct{}
	number int64 // the id of its latest link; ids count from 1
}

// Here reports whether the client is connected.
func (cl *Client) Here() bool { return len(cl.links) > 0 }

// Links are the client's connections.
func (cl *Client) Links() iter.Seq[*Link] { return maps.Keys(cl.links) }

// Watches reports whether one of the client's connections is subscribed.
func (cl *Client) Watches(uri ahp.URI) bool {
	for l := range cl.links {
		if l.Watches(uri) {
			return true
		}
	}
	return false
}

// Client returns the client of an id, nil if it is not known.
func (tx Tx) Client(id string) *Client { return tx.c.clients[id] }

// Clients returns all clients, in no order.
func (tx Tx) Clients() iter.Seq[*Client] { return maps.Values(tx.c.clients) }

// AddClient makes the record of a clientId, and replaces an earlier one.
func (tx Tx) AddClient(id, owner string) *Client {
	if len(tx.c.clients) >= tx.c.o.Clients {
		// Forget the clients that were gone longest, a quarter of the limit.
		var gone []*Client
		for _, cl := range tx.c.clients {
			if !cl.Here() {
				gone = append(gone, cl)
			}
		}
		slices.SortFunc(gone, func(a, b *Client) int { return a.Seen.Compare(b.Seen) })
		for _, cl := range gone[:min(len(gone), max(1, tx.c.o.Clients/4))] {
			delete(tx.c.clients, cl.ID)
		}
	}
	cl := &Client{ID: id, Owner: owner, Seen: tx.c.o.Now(), window: newWindow(), links: map[*Link]struct{}{}}
	tx.c.clients[id] = cl
	return cl
}

// Initialized starts a new numbering of the client's dispatches, as initialize does, and
// journals the client.
func (tx Tx) Initialized(cl *Client, version string, p ahp.Profile) {
	cl.Version, cl.Profile, cl.window, cl.Since = version, p, newWindow(), tx.NextSeq()
	tx.NoteClient(cl)
}

// clientRecord is what the journal says of a client that may come back.
type clientRecord struct {
	ID        string           `json:"id"`
	Principal string           `json:"principal"`
	Version   string           `json:"version"`
	Since     int64            `json:"since"`
	Colors    *emulator.Colors `json:"colors,omitempty"`
}

// maxKnown bounds the clients in the journal.
const maxKnown = 1000

// NoteClient journals a client that has initialized or whose record has changed.
func (tx Tx) NoteClient(cl *Client) {
	if r, err := record.JSON(record.TypeClient, tx.c.seq.last, cl.record()); err == nil {
		tx.ApplyAll(tx.Channel(ahp.RootURI), nil, []journal.Record{r})
	}
}

func (cl *Client) record() clientRecord {
	r := clientRecord{ID: cl.ID, Principal: cl.Owner, Version: cl.Version, Since: cl.Since}
	if cl.Colors != (emulator.Colors{}) {
		r.Colors = &cl.Colors
	}
	return r
}

// clientRecords are the clients that may come back: the connected ones, then those that
// were connected last.
func (tx Tx) clientRecords() []clientRecord {
	all := slices.SortedFunc(maps.Values(tx.c.clients), func(a, b *Client) int {
		if here := a.Here(); here != b.Here() {
			return map[bool]int{true: -1, false: 1}[here]
		}
		return b.Seen.Compare(a.Seen)
	})
	list := make([]clientRecord, 0, min(len(all), maxKnown))
	for _, cl := range all[:min(len(all), maxKnown)] {
		list = append(list, cl.record())
	}
	return list
}

// knowClient takes a client that an earlier host journalled.
func (tx Tx) knowClient(raw json.RawMessage) error {
	var r clientRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	p, ok := ahp.ProfileOf(r.Version)
	if !ok || auth.CheckClientID(r.ID) != nil || r.Principal == "" {
		return nil
	}
	cl := tx.AddClient(r.ID, r.Principal)
	cl.Version, cl.Profile, cl.Since = r.Version, p, r.Since
	if r.Colors != nil {
		cl.Colors = *r.Colors
	}
	return nil
}
