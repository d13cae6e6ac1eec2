package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/host/listen"
	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/internal/soak"
)

// TestLoadTasks: fifty tasks with fifty readers of their streams each; memory does not
// grow with what was streamed, nor with readers that take nothing. It reports figures.
func TestLoadTasks(t *testing.T) {
	soak.Only(t, "it measures")
	const tasks, readers, rounds, lines = 50, 50, 6, 100
	w := start(t)
	w.agent("chatty", chatty(lines))
	ids := make([]string, tasks)
	for n := range ids {
		ids[n] = w.create("chatty", map[string]any{"name": fmt.Sprintf("t%d", n)}).ID
	}
	for _, id := range ids {
		w.becomes(id, store.Idle)
	}
	t.Logf("%d tasks: %s", tasks, memory())
	var finished, events atomic.Int64
	var all sync.WaitGroup
	var conns []net.Conn
	for _, id := range ids {
		for n := range readers {
			c, err := net.Dial("unix", filepath.Join(w.dir, "run", listen.SocketName))
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
			fmt.Fprintf(c, "GET %s/tasks/%s/stream?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n", api.Prefix, id)
			in := bufio.NewReaderSize(c, 8<<10)
			if status, err := in.ReadString('\n'); err != nil || !strings.Contains(status, " 200 ") {
				t.Fatalf("reader %d: %q %v", len(conns), status, err)
			}
			if n == 0 {
				continue // it takes nothing
			}
			all.Go(func() {
				for {
					line, err := in.ReadSlice('\n')
					if bytes.HasPrefix(line, []byte("data: ")) {
						events.Add(1)
						if bytes.HasPrefix(line, []byte(`data: {"type":"finish","`)) {
							finished.Add(1)
						}
					}
					if err != nil && err != bufio.ErrBufferFull {
						return
					}
				}
			})
		}
	}
	t.Logf("%d readers: %s", len(conns), memory())
	for round := range rounds {
		began := time.Now()
		before := events.Load()
		for _, id := range ids {
			w.send(id, "go")
		}
		want := int64((round + 1) * tasks * (readers - 1))
		for seen, since := int64(-1), time.Now(); finished.Load() < want; time.Sleep(20 * time.Millisecond) {
			if now := events.Load(); now != seen {
				seen, since = now, time.Now()
			}
			if time.Since(since) > patience {
				t.Fatalf("round %d: %d of %d readers saw the end, and nothing comes", round, finished.Load(), want)
			}
		}
		took := time.Since(began)
		t.Logf("round %d: %d events in %v (%.0f/s): %s", round, events.Load()-before, took.Round(time.Millisecond), float64(events.Load()-before)/took.Seconds(), memory())
	}
	for _, c := range conns {
		c.Close()
	}
	all.Wait()
}

// memory is what the process holds: the host, and the readers beside it.
func memory() string {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("heap %d MiB, stacks %d MiB, %d goroutines", m.HeapAlloc>>20, m.StackInuse>>20, runtime.NumGoroutine())
}
