package record

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"tandemux/ahp"
	"tandemux/host/journal"
)

// TestOrigins holds the ranges against a plain set.
func TestOrigins(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var o Origins
		want := map[int64]bool{}
		for range 1 + rnd.IntN(150) {
			seq := 1 + rnd.Int64N(120)
			o.add(seq)
			want[seq] = true
		}
		var got []int64
		o.Each(1000, func(seq int64) { got = append(got, seq) })
		for i, r := range o.Ranges {
			if r[0] > r[1] || i > 0 && r[0] <= o.Ranges[i-1][1]+1 {
				t.Fatalf("seed %d: ranges %v", seed, o.Ranges)
			}
		}
		if len(o.Ranges) < maxRanges && len(got) != len(want) || slices.ContainsFunc(got, func(s int64) bool { return !want[s] }) {
			t.Fatalf("seed %d: %v of %v", seed, got, want)
		}
		var last []int64
		o.Each(7, func(seq int64) { last = append(last, seq) })
		if !slices.Equal(last, got[max(0, len(got)-7):]) {
			t.Fatalf("seed %d: the last of %v are %v", seed, got, last)
		}
	}
}

// TestScatteredOrigins: many gaps take bounded memory, and none that was accepted
// is forgotten.
func TestScatteredOrigins(t *testing.T) {
	t.Parallel()
	var a Accepted
	for seq := int64(1); seq < 1000; seq += 2 {
		a.Note("c", 5, seq, seq)
	}
	o := a["c"]
	if len(o.Ranges) > maxRanges || o.Ranges[0][0] != 1 || o.Ranges[len(o.Ranges)-1] != [2]int64{999, 999} {
		t.Errorf("%d ranges: %v", len(o.Ranges), o.Ranges)
	}
	a.Note("c", 6, 1, 1001) // a new window
	if o := a["c"]; len(o.Ranges) != 1 || o.Since != 6 {
		t.Errorf("%+v", o)
	}
	for i := range 500 {
		a.Note(string(rune('a'+i)), 0, 1, int64(i))
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
	env := ahp.Envelope{
		Channel: uri, ServerSeq: 11, Origin: &ahp.Origin{ClientID: "c", ClientSeq: 3},
		Action: ahp.LayoutChanged{Rev: 1, Doc: json.RawMessage(`{"a":1}`), Terminals: []ahp.URI{}},
	}
	action, err := Action(env, func() ([]byte, error) { return ahp.Encode(ahp.V1, env) })
	if err != nil {
		t.Fatal(err)
	}
	add(action)
	first, err := JSON(TypeChannel, 11, Head{Channel: uri, Last: 11, Made: 2, Origins: map[string]Origins{"c": {Since: 1, Ranges: [][2]int64{{1, 3}}}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []journal.Record{first, {Type: TypeState, Version: 1, Data: []byte(`{"rev":1,"doc":{"a":1},"terminals":[]}`)}, {Type: "future", Version: 9, Data: []byte("?")}} {
		if err := c.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	data, _ := Action(ahp.Envelope{Channel: uri, ServerSeq: 12, Action: ahp.TerminalData{Data: "out"}}, nil)
	in := AppendInput(nil, Input{Origin: ahp.Origin{ClientID: "c", ClientSeq: 4}, Size: 2, End: 9, Data: "ls"})
	add(data, journal.Record{Type: TypeInput, Version: 1, Seq: 12, Data: in})
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
	m := Read(r)
	if m.Channel != uri || m.Damage != nil || m.Newest != 12 || len(m.Log) != 3 || m.LastLogged() != 12 {
		t.Fatalf("%+v", m)
	}
	es, floor := m.Replay()
	if len(es) != 2 || floor != 10 || es[0].ServerSeq != 11 || es[0].Origin == nil || es[1].Action != (ahp.TerminalData{Data: "out"}) {
		t.Errorf("floor %d: %+v", floor, es)
	}
	waiting, doubtful := m.Typed(8, 7, "") // one byte of it was begun
	if len(waiting) != 1 || waiting[0].Data != "s" || len(doubtful) != 1 {
		t.Errorf("%+v %+v", waiting, doubtful)
	}
	if waiting, doubtful = m.Typed(9, 9, ""); waiting != nil || doubtful != nil {
		t.Errorf("%+v %+v", waiting, doubtful)
	}
	if waiting, doubtful = m.Typed(7, 7, ""); len(waiting) != 1 || waiting[0].Data != "ls" || doubtful != nil {
		t.Errorf("%+v %+v", waiting, doubtful)
	}
}

// TestQueueRecords: inputs survive their encoding.
func TestQueueRecords(t *testing.T) {
	t.Parallel()
	want := []Input{{Origin: ahp.Origin{ClientID: "a", ClientSeq: 9}}, {Origin: ahp.Origin{ClientID: "b", ClientSeq: -1}, Size: 3, End: 1 << 40, Data: "xyz"}}
	var data []byte
	for _, in := range want {
		one := AppendInput(nil, in)
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
	f := func(name string, c Contents) *Found {
		return &Found{Journal: &journal.Journal{Name: name}, Contents: &c}
	}
	state := json.RawMessage("{}")
	root := f("1 ahp-root://", Contents{Head: Head{Channel: ahp.RootURI, Made: 9}, State: state})
	small := f("2 a", Contents{Head: Head{Channel: "a", Made: 1}, State: state})
	large := f("3 a", Contents{Head: Head{Channel: "a", Made: 2}, State: state})
	lives := f("p1 t", Contents{Head: Head{Channel: "t", Process: "p1"}, State: state})
	orphan := f("p2 t", Contents{Head: Head{Channel: "t", Process: "p2"}, State: state})
	unborn := f("p3 t", Contents{})
	removed := f("4 b", Contents{Head: Head{Channel: "b"}, State: state, Removed: true})
	spare := f("5 spare", Contents{})
	spare.Spare = true
	l := Divide([]*Found{large, small, orphan, lives, unborn, removed, spare, root}, childrenOf("p1", "p9"))
	if !slices.Equal(l.Channels, []*Found{root, large}) || len(l.Terminals) != 1 || l.Terminals["p1"] != lives || !slices.Equal(l.Spares, []*Found{spare}) {
		t.Errorf("%+v", l)
	}
	if !slices.Equal(l.Stale, []*Found{small, orphan, unborn, removed}) {
		t.Errorf("stale %v", l.Stale)
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
			all := []*Found{
				left(t, "p1 first", 1, Contents{Head: Head{Process: "p1", Made: 1}, State: state}),
				left(t, "p1 second", 0, Contents{Head: Head{Process: "p1", Made: 2}, State: state}),
				left(t, "p1 third", 0, Contents{Head: Head{Process: "p1", Made: 3}, State: state}),
				left(t, "p1 begun", 0, Contents{}),
			}
			if retired {
				all[0].Contents = &Contents{}
			}
			var files []*Found
			for _, i := range order {
				files = append(files, all[i])
			}
			l := Divide(files, childrenOf("p1"))
			f := l.Terminals["p1"]
			if f != all[2] || f.Journal.Landing() != all[0].Journal.Landing() || len(l.Stale) != 2 || slices.Contains(l.Stale, all[0]) {
				t.Errorf("%v, retired %v: %v, stale %v", order, retired, f.Journal.Name, l.Stale)
			}
			// Before the first larger one has a checkpoint, the first counts.
			first, begun := left(t, "p1 first", 1, *all[0].Contents), left(t, "p1 begun", 0, Contents{})
			pair := []*Found{first, begun}
			if order[0] > order[1] {
				slices.Reverse(pair)
			}
			own := first.Journal.Landing()
			if got := Divide(pair, childrenOf("p1")).Terminals["p1"]; !retired && got != first || got.Journal.Landing() != own {
				t.Errorf("%v, retired %v: %v counts before", order, retired, got.Journal.Name)
			}
			// They are closed together.
			if names := f.Journal.Close(); !slices.Equal(names, []string{"p1 third", "p1 first"}) {
				t.Errorf("%v, retired %v: closes %q", order, retired, names)
			}
			for _, f := range l.Stale {
				f.Journal.Close()
			}
		}
	}
}

// left makes a journal that an earlier host left.
func left(t *testing.T, name string, slots int, c Contents) *Found {
	t.Helper()
	m, err := journal.NewMemory(t.TempDir(), journal.Options{Name: name, Area: 8 << 10, Slots: slots})
	if err != nil {
		t.Fatal(err)
	}
	f := m.File
	m.File = nil
	m.Close()
	j, _, err := journal.Adopt(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return &Found{Journal: j, Contents: &c}
}

func childrenOf(ids ...string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
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
		got := Read(r)
		es, floor := got.Replay()
		for _, e := range es {
			if e.Action == nil || e.ServerSeq <= floor {
				t.Fatalf("%+v above %d", e, floor)
			}
		}
		got.Typed(3, 2, "")
		if got.Newest > Highest {
			t.Fatalf("the sequence is at %d", got.Newest)
		}
	})
}

// FuzzRecords: records with any contents.
func FuzzRecords(f *testing.F) {
	f.Add(TypeInput, []byte{1, 'c', 2, 3, 4, 'x', 'y', 'z'})
	f.Add(TypeAction, []byte(`{"channel":"a","action":{"type":"terminal/data","data":"x"},"serverSeq":1}`))
	f.Add(TypeQueue, []byte{3, 0, 0, 0})
	f.Add(TypeChannel, []byte(`{"channel":"a","origins":{"c":{"ranges":[[3,1]]}}}`))
	f.Add(TypePrivate, []byte(`{"holder":"x"}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		rec := journal.Record{Type: kind, Version: Version, Seq: 5, Data: data}
		m := Read(journal.Recovered{State: []journal.Record{rec}, Earlier: []journal.Record{rec}, Records: []journal.Record{rec, rec}})
		m.Replay()
		m.Typed(1, 0, "")
		var a Accepted
		for id, o := range m.Origins {
			a.Set(id, o)
		}
		for _, o := range a {
			o.Each(1000, func(int64) {})
			o.add(7)
		}
		in, err := readInput(data)
		if err == nil && !bytes.Equal(AppendInput(nil, in), data) {
			again, err := readInput(AppendInput(nil, in))
			if err != nil || again != in {
				t.Fatalf("%+v became %+v (%v)", in, again, err)
			}
		}
	})
}
