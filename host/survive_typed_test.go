package host_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

func init() { roles["reader"] = readerRole }

// readerRole reads numbers, each ended by a comma, now and then not at all, up to
// "end", and then prints what it got.
func readerRole() {
	if tio, err := termios(0); err == nil {
		setRaw(0, tio) //nolint:errcheck // then the test fails
	}
	fmt.Println("ready")
	rnd := rand.New(rand.NewPCG(3, 3))
	in := bufio.NewReaderSize(os.Stdin, 512)
	var got []string
	for {
		word, err := in.ReadString(',')
		if err == io.EOF || strings.TrimSpace(word) == "end," {
			break
		}
		got = append(got, strings.TrimSpace(strings.TrimSuffix(word, ",")))
		if rnd.IntN(200) == 0 {
			time.Sleep(time.Duration(rnd.IntN(120)) * time.Millisecond)
		}
	}
	// Where the test can read it whatever becomes of the terminal, all of it at once.
	out := os.Args[len(os.Args)-1]
	os.WriteFile(out+".part", []byte(strings.Join(got, " ")), 0o600) //nolint:errcheck // then the test fails
	os.Rename(out+".part", out)                                      //nolint:errcheck // then the test fails
}

// answers is a Sink that keeps what became of each input.
type answers struct {
	*client.Mirror
	mu      sync.Mutex
	refused map[int64]string
	settled map[int64]bool
}

func (a *answers) Action(e ahp.Envelope) {
	if _, ok := e.Action.(ahp.TerminalInput); ok && e.Origin != nil {
		a.mu.Lock()
		a.settled[e.Origin.ClientSeq] = true
		if e.RejectionReason != "" {
			a.refused[e.Origin.ClientSeq] = e.RejectionReason
		}
		a.mu.Unlock()
	}
	a.Mirror.Action(e)
}

// TestTypedOnce: what is typed while hosts are killed, into a program that reads
// when it likes, arrives once and in order.
func TestTypedOnce(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	a := &answers{Mirror: client.NewMirror(0), refused: map[int64]string{}, settled: map[int64]bool{}}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	c, err := client.Connect(ctx, client.Options{
		ClientID: "typist", Sink: a, Reconnect: true, Away: -1,
		Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + m.socket()})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const uri = "ahp-terminal:/reader"
	out := filepath.Join(m.dir, "got")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "typist"},
		Meta: &ahp.CreateMeta{Command: []string{"env", roleEnv + "=reader", self, out}},
	}, nil)
	if err := c.Subscribe(ctx, uri); err != nil {
		t.Fatal(err)
	}
	m.until("the program is ready", func() bool {
		s, _ := a.Terminal(uri)
		return strings.Contains(text(s), "ready")
	})
	rnd := rand.New(rand.NewPCG(5, 5))
	sent := map[int]int64{} // the clientSeq of each number
	next := 0
	type words struct{ from, to int }
	kills := soak.Size(t, 3, 30)
	for range kills {
		stop := time.Now().Add(time.Duration(20+rnd.IntN(100)) * time.Millisecond)
		for time.Now().Before(stop) {
			w := words{next, next + 1 + rnd.IntN(60)}
			var b strings.Builder
			for n := w.from; n < w.to; n++ {
				fmt.Fprintf(&b, "%d:%d,", n, 999999-n) // halves of two make no number
			}
			seq, err := c.Dispatch(uri, ahp.TerminalInput{Data: b.String()})
			if err != nil {
				break
			}
			for n := w.from; n < w.to; n++ {
				sent[n] = seq
			}
			next = w.to
			time.Sleep(time.Duration(rnd.IntN(2)) * time.Millisecond)
		}
		if rnd.IntN(3) == 0 { // what is on its way to a host that ends in order
			m.cmd.Process.Signal(syscall.SIGTERM)
			m.cmd.Wait()
		}
		m.kill()
		m.revive()
		c.Retry()
		if rnd.IntN(2) == 0 {
			m.until("the client is back", func() bool {
				return c.Call(ctx, ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil) == nil
			})
		}
	}
	m.until("the end is typed", func() bool {
		_, err := c.Dispatch(uri, ahp.TerminalInput{Data: ",end,"})
		return err == nil
	})
	var got []string
	m.until("the program has ended", func() bool {
		b, err := os.ReadFile(out)
		got = strings.Fields(string(b))
		return err == nil
	})
	a.mu.Lock()
	last, missing, unsaid, partial := -1, 0, 0, 0
	seen := map[int]bool{}
	for _, w := range got {
		a, b, _ := strings.Cut(w, ":")
		n, err := strconv.Atoi(a)
		m, merr := strconv.Atoi(b)
		switch {
		case err != nil, merr != nil, n+m != 999999:
			partial++ // halves around what is lost
		case n <= last:
			t.Errorf("%d comes after %d", n, last)
		default:
			last = n
			seen[n] = true
		}
	}
	for n := range next {
		if seen[n] {
			continue
		}
		why, told := a.refused[sent[n]]
		if told && strings.Contains(why, "queue is full") {
			continue // it was not accepted
		}
		missing++
		if !told && a.settled[sent[n]] {
			unsaid++
		}
	}
	a.mu.Unlock() // which what still comes waits for
	t.Logf("%d numbers, %d lost and said, %d lost and confirmed, %d in pieces", next, missing-unsaid, unsaid, partial)
	most := 0
	if runtime.GOOS != "linux" {
		// The kernel may be in the middle of taking a write, of 4 KiB at most, whenever
		// the host dies; how much of it was taken nobody knows, so none is typed again.
		most = kills * 4096 / len("12345:987654,")
	}
	if missing > most || partial > missing {
		t.Errorf("%d of %d are lost", missing, next)
	}
	m.leaveNothing(c)
}
