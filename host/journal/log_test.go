package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// model is what a journal should hold: all batches appended, and which of them
// the checkpoints include.
type model struct {
	t       *testing.T
	rnd     *rand.Rand
	mem     []byte
	log     *Log
	landing *Landing
	all     []Record // ever appended
	ends    []int    // lengths of all after each batch
	making  *Checkpoint
	written int // parts added
}

func newModel(t *testing.T, seed uint64, o Options) *model {
	m := &model{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), mem: make([]byte, o.Size())}
	var err error
	if m.log, m.landing, err = Create(m.mem, o); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *model) record() Record {
	data := make([]byte, m.rnd.IntN(200))
	for i := range data {
		data[i] = byte(m.rnd.Uint32())
	}
	types := []string{"terminal/data", "x", strings.Repeat("y", maxType)}
	return Record{Type: types[m.rnd.IntN(3)], Version: byte(m.rnd.Uint32()), Seq: m.rnd.Int64(), Data: data}
}

// append adds a batch; when there is no room, a checkpoint and again.
func (m *model) append() {
	batch := make([]Record, 1+m.rnd.IntN(4))
	for i := range batch {
		batch[i] = m.record()
	}
	err := m.log.Append(batch...)
	if errors.Is(err, ErrFull) {
		if m.making != nil {
			m.making.Abort()
			m.making = nil
		}
		m.begin(true)
		m.commit()
		err = m.log.Append(batch...)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.all = append(m.all, batch...)
	m.ends = append(m.ends, len(m.all))
}

// begin starts a checkpoint whose state is the number of records it includes.
func (m *model) begin(whole bool) {
	var err error
	if m.making, err = m.log.Begin(whole); err != nil {
		m.t.Fatal(err)
	}
	m.written = 0
	state := binary.LittleEndian.AppendUint64(nil, uint64(len(m.all)))
	for range 3 {
		if err := m.making.Add(Record{Type: "state", Data: state}); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *model) commit() {
	if err := m.making.Commit(); err != nil && !errors.Is(err, ErrFull) {
		m.t.Fatal(err)
	}
	m.making = nil
}

func (m *model) step() {
	switch n := m.rnd.IntN(20); {
	case n < 14:
		m.append()
	case m.making == nil:
		m.begin(n < 17)
	case n == 14:
		m.making.Abort()
		m.making = nil
	default:
		m.commit()
	}
}

// included is how many records a state includes, -1 for a state that is none.
func included(state []Record) int {
	if len(state) == 0 {
		return 0
	}
	n := -1
	for i, r := range state {
		if r.Type != "state" || len(r.Data) != 8 || len(state) != 3 {
			return -1
		}
		v := int(binary.LittleEndian.Uint64(r.Data))
		if i > 0 && v != n {
			return -1
		}
		n = v
	}
	return n
}

func same(a, b []Record) bool {
	return slices.EqualFunc(a, b, func(x, y Record) bool {
		return x.Type == y.Type && x.Version == y.Version && x.Seq == y.Seq && bytes.Equal(x.Data, y.Data)
	})
}

// check says what is wrong with what was recovered, if it should be a prefix
// of all that was appended; end is how much it has.
func (m *model) check(r Recovered) (end int, err error) {
	n := included(r.State)
	end = n + len(r.Records)
	switch {
	case n < 0:
		return 0, fmt.Errorf("the state is none: %v", r.State)
	case end > len(m.all):
		return end, fmt.Errorf("%d+%d records of %d", n, len(r.Records), len(m.all))
	case !same(r.Records, m.all[n:end]):
		return end, fmt.Errorf("records %d to %d differ", n, end)
	case len(r.Records) > 0 && !slices.Contains(m.ends, end):
		return end, fmt.Errorf("record %d is inside a batch", end)
	case len(r.Earlier) > n || !same(r.Earlier, m.all[n-len(r.Earlier):n]):
		return end, fmt.Errorf("the %d earlier records differ", len(r.Earlier))
	}
	return end, nil
}

// Whenever a host dies, everything that was appended is recovered, in order,
// and the next host goes on behind it.
func TestRecover(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		m := newModel(t, seed, Options{Name: "ahp-terminal:/a", Area: 16 << 10})
		for range 400 {
			m.step()
			dead := bytes.Clone(m.mem)
			l, _, r, err := Open(dead)
			if err != nil {
				t.Fatal(err)
			}
			if end, err := m.check(r); err != nil || end != len(m.all) || r.Damage != nil || r.Name != "ahp-terminal:/a" {
				t.Fatalf("seed %d: %d of %d, %v, damage %v", seed, end, len(m.all), err, r.Damage)
			}
			if m.rnd.IntN(30) == 0 { // it did die
				m.mem, m.log, m.making = dead, l, nil
			}
		}
	}
}

// A checkpoint that is not whole leaves the history to the one before.
func TestHasty(t *testing.T) {
	t.Parallel()
	m := newModel(t, 7, Options{Area: 64 << 10})
	for i, whole := range []bool{true, false, true} {
		for range 3 {
			m.append()
		}
		m.begin(whole)
		if i == 1 {
			m.append() // while it is made
		}
		m.commit()
		m.append()
		_, _, r, err := Open(bytes.Clone(m.mem))
		if err != nil || !r.Whole {
			t.Fatal(r.Whole, err)
		}
		if end, err := m.check(r); err != nil || end != len(m.all) {
			t.Errorf("%d: %d of %d, %v", i, end, len(m.all), err)
		}
		// The bare one, made second, is passed over.
		if n := included(r.State); n != m.ends[[]int{2, 2, 11}[i]] {
			t.Errorf("checkpoint %d: starts from record %d, batches end at %v", i, n, m.ends)
		}
	}
}

// Damage costs what lies behind it in its area, and no more; it makes nothing
// up.
func TestDamage(t *testing.T) {
	t.Parallel()
	const journals = 500
	intact, none := 0, 0
	for seed := range uint64(journals) {
		m := newModel(t, seed, Options{Area: 8 << 10})
		for range 20 + m.rnd.IntN(60) {
			m.step()
		}
		mem := bytes.Clone(m.mem)
		switch m.rnd.IntN(3) {
		case 0: // some bytes
			for range 1 + m.rnd.IntN(3) {
				mem[m.rnd.IntN(len(mem))] ^= byte(1 + m.rnd.IntN(255))
			}
		case 1: // a stretch of them
			from := m.rnd.IntN(len(mem))
			clear(mem[from:min(len(mem), from+m.rnd.IntN(3000))])
		case 2: // the rest
			clear(mem[m.rnd.IntN(len(mem)):])
		}
		l, _, r, err := Open(mem)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			none++
			continue
		}
		end, cerr := m.check(r)
		if cerr != nil {
			t.Fatalf("seed %d: %v", seed, cerr)
		}
		if end == len(m.all) {
			intact++
		}
		// It is repeatable, and the host can go on.
		_, _, again, err := Open(bytes.Clone(mem))
		if n, cerr := m.check(again); err != nil || cerr != nil || n != end {
			t.Fatalf("seed %d: the second time %d, not %d: %v, %v", seed, n, end, err, cerr)
		}
		if r.Damage != nil {
			if err := l.Append(Record{Type: "early"}); !errors.Is(err, ErrFull) {
				t.Fatalf("seed %d: appended behind damage: %v", seed, err)
			}
		}
		c, err := l.Begin(true)
		if err != nil {
			t.Fatal(err)
		}
		// It dies again before it has its checkpoint.
		_, _, again, err = Open(bytes.Clone(mem))
		if n, cerr := m.check(again); r.Damage != nil && (err != nil || cerr != nil || again.Dropped == 0 || n > end) {
			t.Fatalf("seed %d: during the checkpoint %d, not %d, %d dropped: %v, %v", seed, n, end, again.Dropped, err, cerr)
		}
		c.Add(Record{Type: "new"})
		if err := errors.Join(c.Commit(), l.Append(Record{Type: "newer"})); err != nil {
			t.Fatal(err)
		}
		_, _, r, err = Open(mem)
		if err != nil || len(r.State) != 1 || len(r.Records) != 1 || r.Records[0].Type != "newer" {
			t.Fatalf("seed %d: after a new checkpoint: %+v, %v", seed, r, err)
		}
	}
	t.Logf("%d journals: %d had all, %d nothing", journals, intact, none)
	if intact == 0 || intact == journals {
		t.Error("the damage is none")
	}
}

// A host that dies before the store that commits leaves no half batch, and no
// alarm.
func TestTornBatch(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Options{Area: page})
	first := Record{Type: "first", Data: []byte("x")}
	if err := m.log.Append(first); err != nil {
		t.Fatal(err)
	}
	at := m.log.at
	if err := m.log.Append(Record{Type: "second"}, Record{Type: "third"}); err != nil {
		t.Fatal(err)
	}
	store(m.log.areas[0].mem[at:], 0)
	l, _, r, err := Open(m.mem)
	if err != nil || r.Damage != nil || !same(r.Records, []Record{first}) {
		t.Fatalf("%+v, %v", r, err)
	}
	// The next host writes over it.
	if err := l.Append(Record{Type: "fourth"}); err != nil {
		t.Fatal(err)
	}
	if _, _, r, _ = Open(m.mem); r.Damage != nil || len(r.Records) != 2 || r.Records[1].Type != "fourth" {
		t.Errorf("%+v", r)
	}
}

// A batch that did not fit is in the state of the next checkpoint alone: neither the checkpoint
// before, nor its log, is continued behind it.
func TestHole(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		m := newModel(t, 1, Options{Area: page})
		m.begin(true)
		m.commit()
		m.append()
		if err := m.log.Append(Record{Type: "x", Data: make([]byte, page)}); !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		m.all = append(m.all, Record{Type: "x"}) // is in the state
		m.begin(whole)
		m.commit()
		m.append()
		_, _, r, err := Open(m.mem)
		if err != nil {
			t.Fatal(err)
		}
		if n := included(r.State); n != len(m.all)-len(r.Records) || r.Whole != whole || len(r.Earlier) > 0 {
			t.Errorf("whole %v: a state of %d with %d records behind it and %d before, of %d", whole, n, len(r.Records), len(r.Earlier), len(m.all))
		}
	}
}

// A full journal says so, takes nothing more, and recovers with the next
// checkpoint.
func TestFull(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Options{Area: page})
	l := m.log
	r := Record{Type: "x", Data: make([]byte, 1000)}
	n := 0
	var err error
	for ; err == nil; n++ {
		err = l.Append(r)
	}
	if !errors.Is(err, ErrFull) || n != 4 || l.Room() != 0 || !l.Due() || l.Dropped() != 1 {
		t.Fatalf("after %d: %v, room %d, dropped %d", n, err, l.Room(), l.Dropped())
	}
	if err := l.Append(Record{Type: "small"}); !errors.Is(err, ErrFull) {
		t.Errorf("a record behind a hole: %v", err)
	}
	if _, _, got, err := Open(bytes.Clone(m.mem)); err != nil || len(got.Records) != 3 || got.Dropped != 2 {
		t.Errorf("%d records, %d dropped, %v", len(got.Records), got.Dropped, err)
	}
	// One that was begun before the hole does not cover it.
	c, err := l.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	l.Append(r)
	if err := c.Commit(); !errors.Is(err, ErrFull) {
		t.Errorf("Commit = %v", err)
	}
	// One that is too large changes nothing.
	c, _ = l.Begin(true)
	for range 5 {
		err = c.Add(r)
	}
	if cerr := c.Commit(); !errors.Is(err, ErrFull) || !errors.Is(cerr, ErrFull) {
		t.Errorf("%v, %v", err, cerr)
	}
	c, _ = l.Begin(true)
	if _, err := l.Begin(true); err == nil {
		t.Error("two checkpoints at a time")
	}
	c.Add(Record{Type: "state"})
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(r); err != nil || l.Dropped() != 0 {
		t.Errorf("%v, dropped %d", err, l.Dropped())
	}
}

// A host that was replaced writes nothing more.
func TestFence(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, Options{Area: page, Slots: 1})
	c, err := m.log.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Open(m.mem); err != nil {
		t.Fatal(err)
	}
	if err := m.log.Append(Record{Type: "x"}); !errors.Is(err, ErrFenced) {
		t.Errorf("Append = %v", err)
	}
	if err := c.Commit(); !errors.Is(err, ErrFenced) {
		t.Errorf("Commit = %v", err)
	}
	if _, err := m.log.Begin(true); !errors.Is(err, ErrFenced) {
		t.Errorf("Begin = %v", err)
	}
	m.landing.Begin()
	if _, err := m.landing.Read(-1); !errors.Is(err, ErrFenced) {
		t.Errorf("Read = %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	mem := make([]byte, Options{Area: page}.Size())
	l, _, err := Create(mem, Options{Area: page})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Record{{}, {Type: strings.Repeat("x", maxType+1)}} {
		if err := l.Append(Record{Type: "good"}, r); err == nil {
			t.Errorf("%q was taken", r.Type)
		}
	}
	if _, _, r, _ := Open(bytes.Clone(mem)); len(r.Records) != 0 {
		t.Error("half a batch")
	}
	for _, o := range []Options{{Name: strings.Repeat("x", maxName+1)}, {Slots: maxSlots + 1}, {Area: -1}, {Area: 1 << 20}} {
		if _, _, err := Create(mem, o); err == nil {
			t.Errorf("%d, %d, %d were taken", len(o.Name), o.Area, o.Slots)
		}
	}
	newer := bytes.Clone(mem)
	newer[8] = format + 1
	for name, mem := range map[string][]byte{"nothing": nil, "short": mem[:100], "zeros": make([]byte, 1<<16), "newer": newer, "cut": mem[:len(mem)-8]} {
		if _, _, _, err := Open(mem); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The reader takes any memory.
func FuzzOpen(f *testing.F) {
	o := Options{Name: "n", Area: page, Slots: 1}
	base := make([]byte, o.Size())
	l, _, err := Create(base, o)
	if err != nil {
		f.Fatal(err)
	}
	l.Append(Record{Type: "a", Data: make([]byte, 50)}, Record{Type: "b", Seq: 7})
	c, _ := l.Begin(false)
	c.Add(Record{Type: "state", Data: []byte("x")})
	l.Append(Record{Type: "c"})
	c.Commit()
	l.Append(Record{Type: "d", Data: make([]byte, 100)})
	areas := 2*page + slotStride
	patch := func(at int, b ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(at)), b...)
	}
	f.Add(patch(0), uint64(0))
	f.Add(patch(areasAt+16, 0xff, 0xff), uint64(9))
	f.Add(patch(areas, 0xff, 0xff, 0xff, 0x7f), uint64(9))
	f.Add(patch(areas+24, 0xff, 0xff, 0xff, 0xff), uint64(0))
	f.Add(patch(page, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0x80), uint64(3))
	f.Fuzz(func(t *testing.T, patches []byte, from uint64) {
		mem := bytes.Clone(base)
		// A patch is an offset and up to 16 bytes for it.
		for len(patches) > 4 {
			at := int(binary.LittleEndian.Uint32(patches)) % len(mem)
			n := copy(mem[at:], patches[4:min(len(patches), 20)])
			patches = patches[4+n:]
		}
		l, landing, r, err := Open(mem)
		if err != nil {
			return
		}
		data, _ := joined(landing.Resume(from))
		if len(data) > slotSize {
			t.Errorf("%d bytes from one slot", len(data))
		}
		if again, _ := joined(landing.Resume(from)); !bytes.Equal(again, data) {
			t.Error("another time another tail")
		}
		size := 0
		for _, rs := range [][]Record{r.State, r.Records, r.Earlier} {
			for _, r := range rs {
				size += r.size()
			}
		}
		if size > 2*page {
			t.Errorf("%d bytes of records from two areas of %d", size, page)
		}
		if err := l.Append(Record{Type: "x"}); err != nil && !errors.Is(err, ErrFull) {
			t.Error(err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{64, 1 << 10, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			o := Options{Area: 4 << 20}
			l, _, err := Create(make([]byte, o.Size()), o)
			if err != nil {
				b.Fatal(err)
			}
			data, taken := make([]byte, size), make([]byte, 8)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				err := l.Append(Record{Type: "terminal/data", Seq: 1, Data: data}, Record{Type: "terminal/taken", Data: taken})
				if err == nil {
					continue
				}
				c, err := l.Begin(true)
				if err == nil {
					err = c.Commit()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen reads a journal whose areas are both full.
func BenchmarkOpen(b *testing.B) {
	o := Options{Name: "n"}
	mem := make([]byte, o.Size())
	l, _, err := Create(mem, o)
	if err != nil {
		b.Fatal(err)
	}
	r := Record{Type: "terminal/data", Data: make([]byte, 4<<10)}
	fill := func() {
		for l.Room() >= r.size() {
			l.Append(r)
		}
	}
	for range 2 {
		fill()
		c, err := l.Begin(true)
		if err != nil {
			b.Fatal(err)
		}
		for range 250 {
			c.Add(r)
		}
		if err := c.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	fill()
	b.SetBytes(int64(2 * o.withDefaults().Area))
	for b.Loop() {
		if _, _, got, err := Open(mem); err != nil || got.Damage != nil || len(got.Earlier) == 0 {
			b.Fatal(got.Damage, err)
		}
	}
}
