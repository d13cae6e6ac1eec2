package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/server"
	"tandemux/internal/soak"
)

// TestManyHosts has hosts by the hundred, a thousand in a soak, each with a connection, a
// credential and 20 terminals: it says what joining costs, how large the directory is, and
// what the beats are; then a tenth vanishes and is away, the others stay.
func TestManyHosts(t *testing.T) {
	n := soak.Size(t, 100, 1000)
	b, d := open(t)
	terms := make([]Reference, 20)
	for i := range terms {
		terms[i] = Reference{URI: fmt.Sprintf("ahp-terminal:/abcdef%02d", i), Title: "vim main.go", State: "client"}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	before := heap.HeapAlloc
	credentials := make([]server.Credential, n)
	began := time.Now()
	for i := range credentials {
		var err error
		if credentials[i], err = b.Invite(fmt.Sprint("host-", i), 0, Grant(fmt.Sprint("host-", i))); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("a credential: %v", time.Since(began)/time.Duration(n))
	conns := make([]*nats.Conn, n)
	began = time.Now()
	for i := range conns {
		name := fmt.Sprint("host-", i)
		nc := dial(t, b, name, credentials[i])
		conns[i] = nc
		a := NewAnnouncer(nc, name)
		running.Go(func() { a.Run(ctx) }) //nolint:errcheck // it gives nil
		a.Set(&Host{Name: name, Version: "1.0", System: "linux/amd64", CPUs: 8, Room: 8, Agents: []string{"claude"}, Terms: terms})
	}
	count := func() (here int) {
		for _, e := range d.Hosts() {
			if e.Present {
				here++
			}
		}
		return here
	}
	eventually(t, "all are here", func() bool { return count() == n })
	joined := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&heap)
	t.Logf("%d hosts joined in %v, %v each; memory of hub and hosts together: %d KiB each", n, joined.Round(time.Millisecond), (joined / time.Duration(n)).Round(time.Microsecond), (heap.HeapAlloc-before)>>10/uint64(n))
	var beats, bytes atomic.Int64
	sub, err := b.Subscribe(prefix+presenceBucket+".*", func(m *nats.Msg) { beats.Add(1); bytes.Add(int64(len(m.Subject) + len(m.Data))) })
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	sub.Unsubscribe() //nolint:errcheck // it is over
	t.Logf("%.0f beats a second, %.1f KiB/s of subjects", float64(beats.Load())/2, float64(bytes.Load())/2/1024)
	kv, err := b.JS.KeyValue(t.Context(), hostsBucket)
	if err != nil {
		t.Fatal(err)
	}
	status, err := kv.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	text, err := json.Marshal(d.Hosts())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the directory: %d KiB on disk, %d bytes a host; the list as JSON %d KiB, made in %v", status.Bytes()>>10, status.Bytes()/uint64(n), len(text)>>10, time.Since(began).Round(time.Microsecond))

	killed := time.Now()
	for _, nc := range conns[:n/10] {
		nc.Close()
	}
	eventually(t, "a tenth is away", func() bool { return count() == n-n/10 })
	t.Logf("a tenth vanished, and is away after %v", time.Since(killed).Round(10*time.Millisecond))
}
