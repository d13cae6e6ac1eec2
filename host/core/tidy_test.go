package core

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
)

// packed is a terminal's body with a state that is packed.
type packed struct {
	state []byte
	share func(saved []byte)
	pack  chan struct{} // nil, or told once a pass
}

func (*packed) Reduce(ahp.Action)      {}
func (*packed) State(Tx) any           { return ahp.TerminalState{} }
func (*packed) Settle(Tx)              {}
func (*packed) Process() (string, int) { return "p", 1 << 20 }
func (*packed) Shape() any             { return ahp.TerminalState{} }
func (*packed) Captured(Tx)            {}
func (p *packed) Share(saved []byte)   { p.share(saved) }

func (p *packed) Pack() bool {
	if p.pack != nil {
		close(p.pack)
	}
	return false
}

func (p *packed) Capture(Tx, bool, *[]byte) (pending []Change, marks, records []journal.Record) {
	return nil, nil, []journal.Record{{Type: "state", Data: p.state}}
}

// TestQuietIsShared: a channel that has become quiet shares its journal's memory, until that
// goes.
func TestQuietIsShared(t *testing.T) {
	now := time.Unix(0, 0)
	shelf := &journal.Shelf{Dir: t.TempDir(), Now: time.Now}
	shelf.Close() // It makes no spares.
	j, _, err := shelf.Get()
	if err != nil {
		t.Fatal(err)
	}
	shared, given := 0, 0
	b := &packed{state: bytes.Repeat([]byte("state "), 5000)}
	b.share = func(saved []byte) {
		if saved == nil {
			given++
		} else if bytes.Contains(saved, b.state) {
			shared++
		}
	}
	c := &Core{o: Options{
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, LosingChanged: func(Tx) {}, Journals: shelf,
	}, channels: map[ahp.URI]*Channel{}}
	ch := &Channel{URI: "ahp-terminal:/quiet", Body: b, Journal: j}
	c.Do(func(tx Tx) {
		if _, ok := tx.checkpoint(ch, true); !ok || shared > 0 {
			t.Errorf("%d shared while it is busy; %v", shared, ok)
		}
		now = now.Add(time.Hour)
		if tx.tidy(ch, j); shared != 1 || given > 0 {
			t.Errorf("quiet: %d shared, %d given back", shared, given)
		}
		if j.Close(); given != 1 {
			t.Errorf("given back %d times when the journal goes", given)
		}
	})
}

// TestLeftIsPacked: what an earlier host left is packed, although nothing is printed since.
func TestLeftIsPacked(t *testing.T) {
	m, err := journal.NewMemory(t.TempDir(), journal.Options{Name: "left", Area: 1 << 20})
	if err != nil || m.File == nil {
		t.Fatal(m, err)
	}
	if err := m.Log.Append(journal.Record{Type: "state", Data: make([]byte, 300<<10)}); err != nil {
		t.Fatal(err)
	}
	f := m.File
	m.File = nil
	m.Close()
	j, _, err := journal.Adopt("left", f)
	if err != nil {
		t.Fatal(err)
	}
	b := &packed{share: func([]byte) {}, pack: make(chan struct{})}
	c := &Core{o: Options{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, LosingChanged: func(Tx) {},
	}, channels: map[ahp.URI]*Channel{}}
	ch := &Channel{URI: "ahp-terminal:/left", Body: b}
	c.Do(func(tx Tx) { tx.Resume(ch, j, &record.Contents{}) })
	<-b.pack
	c.Do(func(Tx) { ch.Journal.Close() })
}
