package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/host"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// The load tests take seconds in the suite; `make load` runs them for as long as
// TANDEMUX_SOAK says, at the size that is asked of the host.

// loadProgram writes as many numbered lines as the number it reads; loadLine is
// what it writes.
const loadProgram = `stty -echo -onlcr; echo ready; i=0
while read n; do while [ $n -gt 0 ]; do
printf '%08d \033[3%dmcolour\033[m 漢é and some words, as a build prints them\n' $i $((i % 8)); i=$((i+1)); n=$((n-1)); done; done`

func loadLine(i int) string {
	return fmt.Sprintf("%08d \x1b[3%dmcolour\x1b[m 漢é and some words, as a build prints them\n", i, i%8)
}

// stream is what one viewer has seen of one terminal.
type stream struct {
	sum   uint32
	bytes atomic.Int64
}

func (s *stream) add(text string) {
	s.sum = crc32.Update(s.sum, crc32.IEEETable, []byte(text))
	s.bytes.Add(int64(len(text)))
}

// tap is a viewer that costs little: it sums up what it gets.
type tap struct {
	t       testing.TB
	w       *fixture
	name    string
	tr      jsonrpc.Transport
	streams map[ahp.URI]*stream // fixed once it runs
	seq     int64               // the last action's
	err     error
}

func (w *fixture) tap(name string) *tap {
	w.t.Helper()
	p := &tap{t: w.t, w: w, name: name, streams: map[ahp.URI]*stream{}}
	p.dial()
	var r ahp.InitializeResult
	p.call(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: name}, &r)
	p.seq = r.ServerSeq
	return p
}

func (p *tap) dial() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	if p.tr, err = wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + p.w.sock.Path()}); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
}

// call asks before run reads; what else comes is folded.
func (p *tap) call(method string, params, result any) {
	p.t.Helper()
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err == nil {
		err = p.tr.Write(context.Background(), b)
	}
	for err == nil {
		var raw []byte
		if raw, err = p.tr.Read(context.Background()); err != nil || p.fold(raw) {
			continue
		}
		var m message
		if err = json.Unmarshal(raw, &m); err == nil && m.Error != nil {
			err = m.Error
		}
		if err == nil && m.ID != nil {
			if err = json.Unmarshal(m.Result, result); err == nil {
				return
			}
		}
	}
	p.t.Errorf("%s: %s: %v", p.name, method, err)
}

// watch subscribes; the stream begins with the snapshot's content.
func (p *tap) watch(uri ahp.URI) {
	p.t.Helper()
	var r ahp.SubscribeResult
	p.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, &r)
	s := &stream{}
	p.streams[uri] = s
	if r.Snapshot != nil {
		s.add(contentOf(p.t, *r.Snapshot))
	}
}

func contentOf(t testing.TB, s ahp.Snapshot) string {
	var state ahp.TerminalState
	if err := json.Unmarshal(s.State, &state); err != nil {
		t.Errorf("state of %s: %v", s.Resource, err)
	}
	var b strings.Builder
	for _, part := range state.Content {
		b.WriteString(part.Text())
	}
	return b.String()
}

// fold reads an action; false when raw is something else.
func (p *tap) fold(raw []byte) bool {
	channel, data, seq, _, ok := wire.ReadDataEnvelope(raw, nil)
	if !ok {
		return false
	}
	if seq <= p.seq {
		p.t.Errorf("%s: action %d after %d", p.name, seq, p.seq)
	}
	p.seq = seq
	if s := p.streams[string(channel)]; s != nil {
		s.add(string(data))
	}
	return true
}

// run reads until the connection ends.
func (p *tap) run(all *sync.WaitGroup) {
	all.Go(func() {
		for {
			raw, err := p.tr.Read(context.Background())
			if err != nil {
				p.err = err
				return
			}
			p.fold(raw)
		}
	})
}

// loadSize is how much of everything there is.
type loadSize struct {
	duration         time.Duration
	viewers, stalled int // of the one terminal
	terminals, conns int // of the many, each watched by five
	rate, rateOfMany int // lines a second, of the one terminal and of all
	queue            int // bytes
	perConn          int // terminals that a connection watches
	filled           int // lines in each of the many before it counts
}

func loadOf(t *testing.T) loadSize {
	s := loadSize{duration: time.Second, viewers: 20, stalled: 2, terminals: 20, conns: 5, perConn: 20, rate: 25000, rateOfMany: 20000, queue: 3 << 19}
	if d := soak.Time(t); d > 0 {
		s = loadSize{duration: d, viewers: 200, stalled: 20, terminals: 200, conns: 50, perConn: 20, rate: 5000, rateOfMany: 10000, filled: 30000, queue: host.DefaultLimits.QueueBytes}
	}
	return s
}

// gauge samples the process's memory.
type gauge struct {
	t       *testing.T
	began   time.Time
	samples []uint64 // MiB resident
}

func (g *gauge) sample(note string) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	rss := resident()
	g.samples = append(g.samples, rss)
	g.t.Logf("%6.0fs: %4d MiB resident, %4d MiB of heap in use, %d goroutines%s",
		time.Since(g.began).Seconds(), rss, m.HeapInuse>>20, runtime.NumGoroutine(), note)
}

// resident is this process's resident memory in MiB, 0 where /proc is not there.
func resident() uint64 {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64)
	return pages * uint64(os.Getpagesize()) >> 20
}

// flat checks that the last third needs hardly more memory than the one before.
// What seconds show is the collector's rhythm.
func (g *gauge) flat() {
	n := len(g.samples) / 3
	if n < 3 || time.Since(g.began) < time.Minute {
		return
	}
	before, after := slices.Max(g.samples[n:2*n]), slices.Max(g.samples[2*n:])
	if after > before+before/5+32 {
		g.t.Errorf("memory grew from %d to %d MiB: %v", before, after, g.samples)
	}
}

// TestLoadViewers: one terminal, many viewers, a tenth of which stop reading
// again and again. Those are closed and come back to what the others see; the
// others get every byte, and memory does not grow (docs/contributing/decisions.md §33).
func TestLoadViewers(t *testing.T) { // alone: it looks at memory
	soak.Long(t, "a load")
	size := loadOf(t)
	w := start(t, func(c *host.Config) {
		c.Limits.QueueBytes, c.Limits.ReplyBytes, c.Limits.StallTime = size.queue, size.queue/3, patience
	})
	const uri = "ahp-terminal:/t"
	holder := w.connect("holder")
	holder.initialize()
	holder.create(uri, "sh", "-c", loadProgram)
	holder.output(uri, "ready")
	var reading sync.WaitGroup
	var healthy []*tap
	for i := range size.viewers - size.stalled {
		v := w.tap(fmt.Sprint("viewer-", i))
		v.watch(uri)
		v.run(&reading)
		healthy = append(healthy, v)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var lagging sync.WaitGroup
	var closes atomic.Int64
	back := make([]*tap, size.stalled)
	for i := range size.stalled {
		lagging.Go(func() { back[i] = w.lag(ctx, fmt.Sprint("stalled-", i), uri, &closes) })
	}
	d := &driver{t: t, uri: uri, holder: holder, batch: size.rate / 20, asked: map[string]time.Time{}}
	go func() { // The holder reads, too, and sets the pace.
		for raw := range holder.in {
			d.echoed(raw)
		}
	}()
	slowest := func() int64 {
		least := healthy[0].streams[uri].bytes.Load()
		for _, v := range healthy {
			least = min(least, v.streams[uri].bytes.Load())
		}
		return least
	}
	g := &gauge{t: t, began: time.Now()}
	// A slow machine gets the time it needs to fill a queue.
	enough := func() bool { return closes.Load() > 0 }
	d.run(size.duration, slowest, enough, func() { g.sample(fmt.Sprintf(", %d closed", closes.Load())) })
	stop()
	lagging.Wait()
	for _, v := range healthy {
		if s := v.streams[uri]; s.bytes.Load() != d.bytes || s.sum != d.sum {
			t.Errorf("%s has %d bytes with the sum %08x, %v; want %d with %08x", v.name, s.bytes.Load(), s.sum, v.err, d.bytes, d.sum)
		}
		v.tr.Close(1000, "")
	}
	reading.Wait()
	w.sameScreen(uri, back)
	g.flat()
	if closes.Load() == 0 {
		t.Error("no stalled viewer was closed")
	}
	t.Logf("%d lines, %.1f MiB, sum %08x, to %d viewers byte for byte: %.2f MiB/s of output, %.0f MiB/s sent; stalled viewers closed %d times; input echoed after %s",
		d.lines, mib(d.bytes), d.sum, len(healthy), mib(d.bytes)/d.took.Seconds(), mib(d.bytes)*float64(size.viewers)/d.took.Seconds(), closes.Load(), d.delays())
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// driver makes one terminal write, at a pace, but never further ahead of its
// slowest viewer than window.
type driver struct {
	t      *testing.T
	uri    ahp.URI
	holder *peer
	batch  int // lines

	lines int
	seq   int64
	bytes int64 // that were asked for
	sum   uint32
	took  time.Duration

	mu    sync.Mutex
	asked map[string]time.Time // by clientSeq; nil when nobody wants to know
	late  []time.Duration      // echoes
}

// echoed notes how long the host took over an action.
func (d *driver) echoed(raw []byte) {
	_, after, ok := strings.Cut(string(raw[max(0, len(raw)-40):]), `"clientSeq":`)
	if !ok {
		return
	}
	seq := strings.TrimRight(after, "}")
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, ok := d.asked[seq]; ok {
		d.late = append(d.late, time.Since(at))
		delete(d.asked, seq)
	}
}

const loadWindow = 1 << 20

func (d *driver) expect(text string) {
	d.sum = crc32.Update(d.sum, crc32.IEEETable, []byte(text))
	d.bytes += int64(len(text))
}

// run lasts for duration, and longer, up to a bound, while it is not enough.
func (d *driver) run(duration time.Duration, slowest func() int64, enough func() bool, sample func()) {
	d.expect("ready\n")
	began := time.Now()
	every := max(duration/30, 100*time.Millisecond)
	next := began.Add(every)
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for time.Since(began) < duration || !enough() && time.Since(began) < 2*patience {
		<-pace.C
		d.ask()
		asked := time.Now()
		for d.bytes-slowest() > loadWindow {
			if time.Since(asked) > patience {
				d.t.Fatalf("the slowest viewer has %d of %d bytes", slowest(), d.bytes)
			}
			time.Sleep(time.Millisecond)
		}
		if time.Now().After(next) {
			sample()
			next = next.Add(every)
		}
	}
	until(d.t, "every viewer has everything", func() bool { return slowest() >= d.bytes })
	d.took = time.Since(began)
}

func (d *driver) ask() {
	d.seq++
	if d.asked != nil {
		d.mu.Lock()
		d.asked[strconv.FormatInt(d.seq, 10)] = time.Now()
		d.mu.Unlock()
	}
	d.holder.dispatch(d.uri, d.seq, ahp.TerminalInput{Data: strconv.Itoa(d.batch) + "\n"})
	for range d.batch {
		d.expect(loadLine(d.lines))
		d.lines++
	}
}

func (d *driver) delays() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.late) == 0 {
		return "?"
	}
	slices.Sort(d.late)
	at := func(q float64) time.Duration {
		return d.late[int(q*float64(len(d.late)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%v (median), %v (p99), %v (most)", at(.5), at(.99), at(1))
}

// lag is a viewer that reads nothing until it is closed, and comes back, until
// ctx ends; then it comes back once more.
func (w *fixture) lag(ctx context.Context, name string, uri ahp.URI, closes *atomic.Int64) *tap {
	p := w.tap(name)
	p.watch(uri)
	for ctx.Err() == nil {
		// Either the queue is full, or the socket has taken nothing for half a
		// minute, whichever comes first.
		before, began := closedFor(w, name), time.Now()
		for ctx.Err() == nil && closedFor(w, name) == before && time.Since(began) < 35*time.Second {
			time.Sleep(20 * time.Millisecond)
		}
		closed, limit := closedFor(w, name) > before, 5*time.Second
		if closed { // The host says so: what is left to read comes to an end.
			closes.Add(1)
			limit = patience
		}
		draining, cancel := context.WithTimeout(ctx, limit)
		for { // What the sockets hold, up to the end.
			raw, err := p.tr.Read(draining)
			if err != nil {
				break
			}
			p.fold(raw)
		}
		if !closed && draining.Err() == nil {
			closes.Add(1)
		}
		cancel()
		p.tr.Close(1000, "")
		if !p.reconnect(uri) {
			break
		}
	}
	return p
}

// closedFor counts how often the host has dropped a client, by its log.
func closedFor(w *fixture, name string) int {
	return w.log.count("client=" + name + " reason=\"viewer too slow")
}

func (p *tap) reconnect(uri ahp.URI) bool {
	p.dial()
	var r ahp.ReconnectResult
	p.call(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: p.name, LastSeenServerSeq: p.seq, Subscriptions: []ahp.URI{uri}}, &r)
	for _, e := range r.Actions {
		if e.ServerSeq <= p.seq {
			p.t.Errorf("%s: replayed %d after %d", p.name, e.ServerSeq, p.seq)
		}
		p.seq = e.ServerSeq
	}
	if r.Type == ahp.ReconnectReplay && len(r.Missing) == 0 {
		return true
	}
	if len(r.Snapshots) != 1 {
		p.t.Errorf("%s: reconnect gave %s with %d snapshots, missing %v", p.name, r.Type, len(r.Snapshots), r.Missing)
		return false
	}
	p.seq = r.Snapshots[0].FromSeq
	return true
}

// sameScreen: what those who came back are given is what the host has.
func (w *fixture) sameScreen(uri ahp.URI, taps []*tap) {
	reader := w.connect("reader")
	reader.initialize()
	var want ahp.ReadResult
	reader.must(ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadScreen}, &want)
	for _, p := range taps {
		p.tr.Close(1000, "")
		p.dial()
		var r ahp.ReconnectResult
		p.call(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: p.name, LastSeenServerSeq: 1, Subscriptions: []ahp.URI{uri}}, &r)
		p.tr.Close(1000, "")
		if len(r.Snapshots) != 1 {
			w.t.Errorf("%s: %d snapshots", p.name, len(r.Snapshots))
			continue
		}
		e, err := engine.New("", emulator.Options{Cols: want.Cols, Rows: want.Rows})
		if err != nil {
			w.t.Fatal(err)
		}
		e.Write([]byte(contentOf(w.t, r.Snapshots[0])))
		if got := emulator.ScreenText(e); trimmed(got) != trimmed(want.Text) {
			w.t.Errorf("%s sees\n%s\nthe host\n%s", p.name, got, want.Text)
		}
	}
}

// TestLoadTerminals: many terminals that all write, each watched by five: every
// viewer gets every byte of each, and memory does not grow.
func TestLoadTerminals(t *testing.T) { // alone: it looks at memory
	soak.Long(t, "a load")
	size := loadOf(t)
	w := start(t, func(c *host.Config) { c.Limits.StallTime = patience })
	holder := w.connect("holder")
	holder.initialize()
	uris := make([]ahp.URI, size.terminals)
	drivers := make([]*driver, size.terminals)
	for i := range uris {
		uris[i] = fmt.Sprint("ahp-terminal:/", i)
		holder.create(uris[i], "sh", "-c", loadProgram)
		drivers[i] = &driver{t: t, uri: uris[i], holder: holder}
		drivers[i].expect("ready\n")
	}
	for _, u := range uris {
		holder.output(u, "ready")
		holder.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodUnsubscribe, "params": ahp.UnsubscribeParams{Channel: u}})
	}
	var reading sync.WaitGroup
	var taps []*tap
	for i := range size.conns {
		v := w.tap(fmt.Sprint("viewer-", i))
		for k := range size.perConn {
			v.watch(uris[(i*size.perConn+k)%len(uris)])
		}
		v.run(&reading)
		taps = append(taps, v)
	}
	go func() {
		for range holder.in {
		}
	}()
	missing := func() (n int) {
		for _, v := range taps {
			for u, s := range v.streams {
				if s.bytes.Load() < drivers[slices.Index(uris, u)].bytes {
					n++
				}
			}
		}
		return n
	}
	seq := int64(0)
	ask := func(d *driver, lines int) {
		d.seq, d.batch = seq, lines // they share the holder's numbers
		d.ask()
		seq = d.seq
	}
	// First all that is kept of a terminal is filled, so that memory is flat from
	// then on.
	for _, d := range drivers {
		if size.filled > 0 {
			ask(d, size.filled)
			until(t, "every viewer has everything", func() bool { return missing() == 0 })
		}
	}
	// All terminals are asked once a second, spread over it.
	lines := max(1, size.rateOfMany/size.terminals)
	g := &gauge{t: t, began: time.Now()}
	every := max(size.duration/30, 100*time.Millisecond)
	next := g.began.Add(every)
	pace := time.NewTicker(time.Second / time.Duration(size.terminals))
	defer pace.Stop()
	for i := 0; time.Since(g.began) < size.duration; i++ {
		<-pace.C
		ask(drivers[i%len(drivers)], lines)
		if time.Now().After(next) {
			g.sample("")
			next = next.Add(every)
		}
	}
	total := int64(0)
	until(t, "every viewer has everything", func() bool { return missing() == 0 })
	took := time.Since(g.began)
	for _, v := range taps {
		v.tr.Close(1000, "")
	}
	reading.Wait()
	watched := map[ahp.URI]int{}
	for _, v := range taps {
		for u, s := range v.streams {
			d := drivers[slices.Index(uris, u)]
			if s.bytes.Load() != d.bytes || s.sum != d.sum {
				t.Errorf("%s has %d bytes of %s with the sum %08x; want %d with %08x", v.name, s.bytes.Load(), u, s.sum, d.bytes, d.sum)
			}
			var ce *jsonrpc.CloseError
			if errors.As(v.err, &ce) && ce.Code != 1000 {
				t.Errorf("%s was closed: %v", v.name, ce)
			}
			watched[u]++
			total += s.bytes.Load()
		}
	}
	for _, u := range uris {
		if watched[u] != 5 {
			t.Errorf("%s has %d viewers", u, watched[u])
		}
	}
	g.flat()
	t.Logf("%d terminals × 5 viewers, byte for byte: %.1f MiB received, %.1f MiB/s", len(uris), mib(total), mib(total)/took.Seconds())
}
