package host

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/keeper"
)

// TestOrigins holds the ranges against a plain set.
func TestOrigins(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var o origins
		want := map[int64]bool{}
		for range 1 + rnd.IntN(150) {
			seq := 1 + rnd.Int64N(120)
			o.add(seq)
			want[seq] = true
		}
		var got []int64
		o.each(1000, func(seq int64) { got = append(got, seq) })
		for i, r := range o.Ranges {
			if r[0] > r[1] || i > 0 && r[0] <= o.Ranges[i-1][1]+1 {
				t.Fatalf("seed %d: ranges %v", seed, o.Ranges)
			}
		}
		if len(o.Ranges) < maxRanges && len(got) != len(want) || slices.ContainsFunc(got, func(s int64) bool { return !want[s] }) {
			t.Fatalf("seed %d: %v of %v", seed, got, want)
		}
		var last []int64
		o.each(7, func(seq int64) { last = append(last, seq) })
		if !slices.Equal(last, got[max(0, len(got)-7):]) {
			t.Fatalf("seed %d: the last of %v are %v", seed, got, last)
		}
	}
}

// TestScatteredOrigins: many gaps take bounded memory, and none that was accepted
// is forgotten.
func TestScatteredOrigins(t *testing.T) {
	t.Parallel()
	var a accepted
	for seq := int64(1); seq < 1000; seq += 2 {
		a.note("c", 5, seq, seq)
	}
	o := a["c"]
	if len(o.Ranges) > maxRanges || o.Ranges[0][0] != 1 || o.Ranges[len(o.Ranges)-1] != [2]int64{999, 999} {
		t.Errorf("%d ranges: %v", len(o.Ranges), o.Ranges)
	}
	a.note("c", 6, 1, 1001) // a new window
	if o := a["c"]; len(o.Ranges) != 1 || o.Since != 6 {
		t.Errorf("%+v", o)
	}
	for i := range 500 {
		a.note(string(rune('a'+i)), 0, 1, int64(i))
	}
	if len(a) > maxOrigins {
		t.Errorf("%d clients", len(a))
	}
}

// logOf makes a journal in memory with a checkpoint and a log of a channel.
func logOf(t testing.TB) (mem []byte, uri ahp.URI) {
	o := journal.Options{Name: "x", Area: 64 << 10, Slots: 1}
	mem = make([]byte, o.Size())
	l, _, err := journal.Create(mem, o)
	if err != nil {
		t.Fatal(err)
	}
	uri = "x-tandemux-layout:/main"
	add := func(records ...journal.Record) {
		if err := l.Append(records...); err != nil {
			t.Fatal(err)
		}
	}
	f := frame{env: ahp.Envelope{
		Channel: uri, ServerSeq: 11, Origin: &ahp.Origin{ClientID: "c", ClientSeq: 3},
		Action: ahp.LayoutChanged{Rev: 1, Doc: json.RawMessage(`{"a":1}`), Terminals: []ahp.URI{}},
	}}
	action, err := actionRecord(&f)
	if err != nil {
		t.Fatal(err)
	}
	add(action)
	first, err := newRecord(recChannel, 11, head{Channel: uri, Last: 11, Made: 2, Origins: map[string]origins{"c": {Since: 1, Ranges: [][2]int64{{1, 3}}}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []journal.Record{first, {Type: recState, Version: 1, Data: []byte(`{"rev":1,"doc":{"a":1},"terminals":[]}`)}, {Type: "future", Version: 9, Data: []byte("?")}} {
		if err := c.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	data, _ := actionRecord(&frame{env: ahp.Envelope{Channel: uri, ServerSeq: 12, Action: ahp.TerminalData{Data: "out"}}})
	in := appendInput(nil, typedInput{origin: ahp.Origin{ClientID: "c", ClientSeq: 4}, size: 2, end: 9, data: "ls"})
	add(data, journal.Record{Type: recInput, Version: 1, Seq: 12, Data: in})
	add(journal.Record{Type: "future", Version: 1, Data: []byte("?")})
	return mem, uri
}

// TestMemory: what is written is read again; what is of a newer version is left.
func TestMemory(t *testing.T) {
	t.Parallel()
	mem, uri := logOf(t)
	_, _, r, err := journal.Open(mem)
	if err != nil {
		t.Fatal(err)
	}
	m := readMemory(r)
	if m.Channel != uri || m.damage != nil || m.newest != 12 || len(m.log) != 3 || m.lastLogged() != 12 {
		t.Fatalf("%+v", m)
	}
	es, floor := m.replay()
	if len(es) != 2 || floor != 10 || es[0].ServerSeq != 11 || es[0].Origin == nil || es[1].Action != (ahp.TerminalData{Data: "out"}) {
		t.Errorf("floor %d: %+v", floor, es)
	}
	waiting, doubtful := m.typed(8, 7, "") // one byte of it was begun
	if len(waiting) != 1 || waiting[0].data != "s" || len(doubtful) != 1 {
		t.Errorf("%+v %+v", waiting, doubtful)
	}
	if waiting, doubtful = m.typed(9, 9, ""); waiting != nil || doubtful != nil {
		t.Errorf("%+v %+v", waiting, doubtful)
	}
	if waiting, doubtful = m.typed(7, 7, ""); len(waiting) != 1 || waiting[0].data != "ls" || doubtful != nil {
		t.Errorf("%+v %+v", waiting, doubtful)
	}
}

// TestQueueRecords: inputs survive their encoding.
func TestQueueRecords(t *testing.T) {
	t.Parallel()
	want := []typedInput{{origin: ahp.Origin{ClientID: "a", ClientSeq: 9}}, {origin: ahp.Origin{ClientID: "b", ClientSeq: -1}, size: 3, end: 1 << 40, data: "xyz"}}
	var data []byte
	for _, in := range want {
		one := appendInput(nil, in)
		data = append(append(data, byte(len(one))), one...)
	}
	got, err := readQueue(data)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	for n := 1; n < len(data); n++ {
		if got, err := readQueue(data[:n]); err == nil && len(got) == len(want) {
			t.Errorf("%d bytes give all", n)
		}
	}
}

// TestDivide: of two journals of a channel the newer counts, a terminal's goes with
// its child, and what is nobody's is discarded.
func TestDivide(t *testing.T) {
	t.Parallel()
	f := func(name string, m memory) *found { return &found{wal: &wal{name: name}, memory: &m} }
	state := json.RawMessage("{}")
	root := f("1 ahp-root://", memory{head: head{Channel: ahp.RootURI, Made: 9}, state: state})
	small := f("2 a", memory{head: head{Channel: "a", Made: 1}, state: state})
	large := f("3 a", memory{head: head{Channel: "a", Made: 2}, state: state})
	lives := f("p1 t", memory{head: head{Channel: "t", Process: "p1"}, state: state})
	orphan := f("p2 t", memory{head: head{Channel: "t", Process: "p2"}, state: state})
	unborn := f("p3 t", memory{})
	removed := f("4 b", memory{head: head{Channel: "b"}, state: state, removed: true})
	spare := f("5 spare", memory{})
	spare.spare = true
	e := divide([]*found{large, small, orphan, lives, unborn, removed, spare, root}, childrenOf("p1", "p9"))
	if !slices.Equal(e.channels, []*found{root, large}) || len(e.terms) != 1 || e.terms["p1"] != lives || !slices.Equal(e.spares, []*found{spare}) {
		t.Errorf("%+v", e)
	}
	if !slices.Equal(e.stale, []*found{small, orphan, unborn, removed}) {
		t.Errorf("stale %v", e.stale)
	}
}

// TestDivideOutgrown: of a terminal's journals, in whatever order they come, the newest
// with a checkpoint counts, the one that its pty is read into stays with it, and
// others are of no more use.
func TestDivideOutgrown(t *testing.T) {
	t.Parallel()
	state := json.RawMessage("{}")
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}, {0, 2, 3, 1}, {3, 1, 0, 2}} {
		for _, retired := range []bool{false, true} {
			all := []*found{
				{wal: &wal{name: "p1 first"}, memory: &memory{head: head{Process: "p1", Made: 1}, state: state}, lands: true},
				{wal: &wal{name: "p1 second"}, memory: &memory{head: head{Process: "p1", Made: 2}, state: state}},
				{wal: &wal{name: "p1 third"}, memory: &memory{head: head{Process: "p1", Made: 3}, state: state}},
				{wal: &wal{name: "p1 begun"}, memory: &memory{}},
			}
			if retired {
				all[0].memory = &memory{}
			}
			var files []*found
			for _, i := range order {
				files = append(files, all[i])
			}
			e := divide(files, childrenOf("p1"))
			if f := e.terms["p1"]; f != all[2] || f.wal.landing != all[0].wal || len(e.stale) != 2 || slices.Contains(e.stale, all[0]) {
				t.Errorf("%v, retired %v: %v with landing %v, stale %v", order, retired, f.wal.name, f.wal.landing, e.stale)
			}
			// Before the first larger one has a checkpoint, the first counts.
			e = divide([]*found{files[0], files[3]}, childrenOf("p1"))
			if f := e.terms["p1"]; f.lands && f.wal.landing != nil {
				t.Errorf("%v: %v has a landing twice", order, f.wal.name)
			}
		}
	}
}

func childrenOf(ids ...string) (all []keeper.Info) {
	for _, id := range ids {
		all = append(all, keeper.Info{ID: id})
	}
	return all
}

// FuzzMemory: whatever a journal's memory holds, reading it does not panic, gives
// only what its checksums vouch for or what is well-formed, and is bounded by it.
func FuzzMemory(f *testing.F) {
	mem, _ := logOf(f)
	var seed bytes.Buffer
	for _, at := range []int{0, 8, 2048, 8192, 8192 + 68<<10} {
		seed.Reset()
		seed.Write([]byte{byte(at), byte(at >> 8), byte(at >> 16)})
		seed.Write(bytes.Repeat([]byte{0xa5}, 16))
		f.Add(seed.Bytes())
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := slices.Clone(mem)
		// Three bytes of an offset, then up to sixteen to put there.
		for len(b) > 3 {
			at := (int(b[0]) | int(b[1])<<8 | int(b[2])<<16) % len(m)
			b = b[3:]
			n := copy(m[at:], b[:min(len(b), 16)])
			b = b[n:]
		}
		_, _, r, err := journal.Open(m)
		if err != nil {
			return
		}
		got := readMemory(r)
		es, floor := got.replay()
		for _, e := range es {
			if e.Action == nil || e.ServerSeq <= floor {
				t.Fatalf("%+v above %d", e, floor)
			}
		}
		got.typed(3, 2, "")
		if got.newest > maxSeq-2*seqBlock {
			t.Fatalf("the sequence is at %d", got.newest)
		}
	})
}

// FuzzRecords: records with any contents.
func FuzzRecords(f *testing.F) {
	f.Add(recInput, []byte{1, 'c', 2, 3, 4, 'x', 'y', 'z'})
	f.Add(recAction, []byte(`{"channel":"a","action":{"type":"terminal/data","data":"x"},"serverSeq":1}`))
	f.Add(recQueue, []byte{3, 0, 0, 0})
	f.Add(recChannel, []byte(`{"channel":"a","origins":{"c":{"ranges":[[3,1]]}}}`))
	f.Add(recPrivate, []byte(`{"holder":"x"}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		rec := journal.Record{Type: kind, Version: recordVersion, Seq: 5, Data: data}
		m := readMemory(journal.Recovered{State: []journal.Record{rec}, Earlier: []journal.Record{rec}, Records: []journal.Record{rec, rec}})
		m.replay()
		m.typed(1, 0, "")
		var a accepted
		for id, o := range m.Origins {
			a.set(id, o)
		}
		for _, o := range a {
			o.each(windowSize, func(int64) {})
			o.add(7)
		}
		in, err := readInput(data)
		if err == nil && !bytes.Equal(appendInput(nil, in), data) {
			again, err := readInput(appendInput(nil, in))
			if err != nil || again != in {
				t.Fatalf("%+v became %+v (%v)", in, again, err)
			}
		}
	})
}
