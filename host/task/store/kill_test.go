package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/host/task/access"
	"tandemux/internal/soak"
)

// writerEnv makes the test binary write to the store of a directory until it is
// killed. It prints a line for each thing that the store says is done.
// The writer's directory, and its PostgreSQL database where it has one.
const (
	writerEnv    = "TANDEMUX_TEST_STORE_WRITER"
	writerURLEnv = "TANDEMUX_TEST_STORE_URL"
)

// writeUntilKilled does a bit of everything at once.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir, URL: os.Getenv(writerURLEnv)})
	if err != nil {
		fmt.Println("failed open", err)
		os.Exit(1)
	}
	if s.Notice() != "" {
		fmt.Println("failed notice", s.Notice())
	}
	var mu sync.Mutex
	ack := func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(words...)
	}
	agent, err := s.Agents.Find(ctx, "killed")
	d := deployment("killed", "main", "0")
	if d.New = errors.Is(err, NotFound); d.New {
		got, err := s.Deploy(ctx, d)
		if err != nil {
			fmt.Println("failed deploy", err)
			os.Exit(1)
		}
		agent = got.Agent
	}
	d.New = false
	branch, err := s.BranchNamed(ctx, agent.ID, "main")
	if err != nil {
		fmt.Println("failed branch", err)
		os.Exit(1)
	}
	for w := range 3 {
		go func() {
			t, err := s.Tasks.Find(ctx, "writer-"+strconv.Itoa(w))
			if err != nil {
				t, err = s.Tasks.Create(ctx, Task{Name: "writer-" + strconv.Itoa(w), Status: Creating, AgentID: agent.ID, VersionID: branch.ActiveID, BranchID: branch.ID, Creator: "operator"})
			}
			st, serr := s.State(ctx, t.ID, agent.ID)
			if serr != nil {
				st, serr = s.States.Create(ctx, State{TaskID: t.ID, AgentID: agent.ID, State: json.RawMessage(`{"n":0}`)})
			}
			if err != nil || serr != nil {
				ack("failed begin", err, serr)
				return
			}
			for n := 1; ; n++ {
				last, err := s.AppendStream(ctx, t.ID, []StreamEvent{{Type: "a", Data: json.RawMessage(`{"x":1}`)}, {Type: "b", Data: json.RawMessage(`{"x":2}`)}})
				if err == nil {
					ack("stream", t.ID, last)
				} else {
					ack("failed stream", err)
				}
				if e, err := s.AddEvent(ctx, Event{TaskID: t.ID, Content: []Part{TextPart("do it")}}); err == nil {
					if _, err := s.EndEvent(ctx, TurnEnd{Event: e.ID, Status: EventDone}); err == nil {
						ack("event", e.ID)
					}
				}
				if st, err := s.MergeState(ctx, st.ID, json.RawMessage(fmt.Sprintf(`{"n":%d,"twice":%d}`, n, 2*n))); err == nil {
					ack("state", st.ID, n)
				}
			}
		}()
	}
	for n := 0; ; n++ {
		d.Hash = strconv.Itoa(n)
		if got, err := s.Deploy(ctx, d); err == nil {
			ack("version", got.Version.Number)
		} else {
			ack("failed deploy", err)
		}
		k, err := s.CreateKey(ctx, APIKey{Name: NewID("k")[2:], Hash: []byte(NewID("h"))})
		if err != nil {
			ack("failed key", err)
			continue
		}
		if _, err := s.Keys.Edit(ctx, k.ID, func(k *APIKey) error { k.Revoked, k.Scopes = time.Now(), []access.Scope{}; return nil }); err == nil {
			ack("revoked", k.ID)
		}
		if n%5 == 4 {
			if _, err := s.Rollback(ctx, branch.ID, "", "operator", ""); err != nil {
				ack("failed rollback", err)
			}
		}
	}
}

// acks is what a writer said was done before it was killed.
type acks struct {
	streams, states map[string]int64
	events, revoked []string
	version         int
	failed          []string
}

func (a *acks) read(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		w := strings.Fields(lines.Text())
		number := func(i int) int64 { n, _ := strconv.ParseInt(w[i], 10, 64); return n }
		switch {
		case len(w) > 0 && w[0] == "failed":
			a.failed = append(a.failed, lines.Text())
		case len(w) == 3 && w[0] == "stream":
			a.streams[w[1]] = number(2)
		case len(w) == 3 && w[0] == "state":
			a.states[w[1]] = number(2)
		case len(w) == 2 && w[0] == "event":
			a.events = append(a.events, w[1])
		case len(w) == 2 && w[0] == "revoked":
			a.revoked = append(a.revoked, w[1])
		case len(w) == 2 && w[0] == "version":
			a.version = int(number(1))
		}
	}
}

// TestKill kills a writer at random instants: what it was told was done is there,
// nothing is half done, and the database opens as if nothing had been.
func TestKill(t *testing.T) { onBoth(t, testKill) }

func testKill(t *testing.T, db backend) {
	rounds := soak.Size(t, soak.Short(2, 6), 500)
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(soak.Seed(t), 1))
	done := 0
	for i := 0; i < rounds || done == 0 && i < rounds+50; i++ { // a busy machine kills before anything was done
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+dir, writerURLEnv+"="+db.url(t, dir))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		a := acks{streams: map[string]int64{}, states: map[string]int64{}}
		first := make(chan struct{})
		piped, feed := io.Pipe()
		go func() {
			b := make([]byte, 1)
			if n, _ := io.ReadFull(out, b); n == 1 {
				feed.Write(b)
			}
			close(first)
			io.Copy(feed, out)
			feed.Close()
		}()
		read := make(chan struct{})
		go func() { a.read(piped); close(read) }()
		<-first
		kill := time.NewTimer(time.Duration(random.Int64N(int64(120 * time.Millisecond)))) // the instant is the point
		<-kill.C
		cmd.Process.Kill()
		<-read
		cmd.Wait()
		if len(a.failed) > 0 {
			t.Fatalf("the writer failed: %q", a.failed)
		}
		checkAfterKill(t, db, dir, a)
		done += len(a.events) + len(a.streams) + len(a.states) + len(a.revoked)
	}
	if done == 0 {
		t.Fatal("no writer was done with anything before it was killed")
	}
}

func checkAfterKill(t *testing.T, db backend, dir string, a acks) {
	t.Helper()
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir, URL: db.url(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Notice() != "" {
		t.Fatal(s.Notice())
	}
	if db.name == "sqlite" {
		var said string
		if err := s.w.QueryRow("pragma integrity_check").Scan(&said); err != nil || said != "ok" {
			t.Fatalf("integrity: %v, %s", err, said)
		}
		var broken int
		if err := s.w.QueryRow("select count(*) from pragma_foreign_key_check").Scan(&broken); err != nil || broken != 0 {
			t.Fatalf("%d references lead nowhere, %v", broken, err)
		}
	}
	for task, last := range a.streams {
		if have := s.StreamEnd(task); have < last || have%2 != 0 {
			t.Errorf("the stream of %s ends at %d; %d was acknowledged, by twos", task, have, last)
		}
		var count, top int64
		if err := s.r.QueryRow("select count(*), max(seq) from stream where task = ?", task).Scan(&count, &top); err != nil || count != top {
			t.Errorf("the stream of %s has %d events up to %d, %v", task, count, top, err)
		}
	}
	for id, n := range a.states {
		st, err := s.States.Get(ctx, id)
		var got struct{ N, Twice int64 }
		if err != nil || json.Unmarshal(st.State, &got) != nil || got.N < n || got.Twice != 2*got.N {
			t.Errorf("the state is %s, %v; %d was acknowledged", st.State, err, n)
		}
	}
	for _, id := range a.events {
		if e, err := s.Events.Get(ctx, id); err != nil || e.Status != EventDone {
			t.Errorf("the event %s is %s, %v", id, e.Status, err)
		}
	}
	for _, id := range a.revoked {
		if k, err := s.Key(ctx, id); err != nil || k.Revoked.IsZero() {
			t.Errorf("the key %s is revoked at %v, %v", id, k.Revoked, err)
		}
	}
	if a.version > 0 {
		agent, err := s.Agents.Find(ctx, "killed")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.VersionNumbered(ctx, agent.ID, a.version); err != nil {
			t.Errorf("version %d was acknowledged: %v", a.version, err)
		}
		b, err := s.BranchNamed(ctx, agent.ID, "main")
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Versions.Get(ctx, b.ActiveID)
		if err != nil || v.Status != Ready {
			t.Errorf("the active version is %s, %v", v.Status, err)
		}
		if _, err := s.Snapshot(ctx, v.SnapshotID); err != nil {
			t.Error(err)
		}
	}
}
