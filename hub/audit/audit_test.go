package audit

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/server"
)

func hub(t *testing.T) (*server.Bus, *Log) {
	t.Helper()
	b, err := server.Start(t.Context(), server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	l, err := Open(t.Context(), b.JS, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return b, l
}

func (l *Log) all(t *testing.T) (told []string) {
	t.Helper()
	if err := l.Read(t.Context(), time.Time{}, false, func(r Record) error {
		told = append(told, fmt.Sprint(r.Host, " ", r.Person, r.Who, " ", r.What, " ", r.On, " ", r.Outcome))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return told
}

// TestHost: what a host notes is told in its order and once, through rotations and restarts of
// who tells it; what it says is cleaned, and it speaks for itself alone.
func TestHost(t *testing.T) {
	b, l := hub(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	write := func(line string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(line + "\n")
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	line := func(n int) string {
		return fmt.Sprintf(`{"time":"2026-01-02T03:04:05Z","level":"INFO","msg":"claim","principal":"token:a","person":"ann %d ","channel":"ahp-terminal:/x"}`, n)
	}
	want := []string{}
	expect := func(n int) {
		t.Helper()
		want = append(want, fmt.Sprintf("build ann %d token:a claim ahp-terminal:/x done", n))
	}
	begin := func() (stop func()) {
		c, err := b.Invite("build", 0, Grant("build"))
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect("nats://"+b.Addr(), nats.UserCredentialBytes([]byte(c.Text)), nats.CustomInboxPrefix(server.InboxOf("build")))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{hostSubject + "other", subject} {
			if m, err := nc.Request(other, []byte(line(99)), 300*time.Millisecond); err == nil {
				t.Errorf("it may speak on %s: %s", other, m.Data)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- (&Host{Name: "build", NATS: nc, Path: path, Place: filepath.Join(dir, "place"), Log: slog.New(slog.DiscardHandler)}).Run(ctx)
		}()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			nc.Close()
		}
	}
	await := func() {
		t.Helper()
		for until := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			got := l.all(t)
			if strings.Join(got, "\n") == strings.Join(want, "\n") {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("told is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	write(line(0)) // before it joined
	stop := begin()
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "place")); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("it does not begin")
		}
	}
	n := 1
	add := func() { write(line(n)); expect(n); n++ }
	add()
	add()
	await()
	add()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add()
	await()
	stop()
	add() // nobody tells it
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add()
	defer begin()()
	await()
	write("no JSON")
	write(`{"level":"WARN","msg":"login","principal":"x\u001b[2J","refused":"` + strings.Repeat("y", 3000) + `"}`)
	want = append(want, "build x\uFFFD[2J login  refused")
	write(`{"msg":"` + strings.Repeat("z", 2*maxLine) + `"}`)
	add()
	await()
}

// TestNote: what comes from outside is cut and cleaned, and a time is asked for by its beginning.
func TestNote(t *testing.T) {
	_, l := hub(t)
	at := time.Now().Add(-time.Hour)
	l.now = func() time.Time { return at }
	l.Note(Record{Who: "ann\n\x1b[31m", What: strings.Repeat("a", 10_000), Outcome: "done"})
	var got []Record
	since := time.Now()
	for _, from := range []time.Time{{}, since.Add(time.Minute)} {
		if err := l.Read(t.Context(), from, false, func(r Record) error { got = append(got, r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 || got[0].Who != "ann\uFFFD\uFFFD[31m" || len(got[0].What) > maxText+3 || got[0].Seq != 1 {
		t.Errorf("it is %+v", got)
	}
}

// TestReadLeavesNothing: reading takes none of the consumers that the server allows.
func TestReadLeavesNothing(t *testing.T) {
	_, l := hub(t)
	l.Note(Record{What: "x"})
	s, err := l.js.Stream(t.Context(), Stream)
	if err != nil {
		t.Fatal(err)
	}
	l.all(t)
	if err := l.Read(t.Context(), time.Now().Add(time.Hour), false, func(Record) error { return nil }); err != nil { // nothing is there
		t.Fatal(err)
	}
	if info, err := s.Info(t.Context()); err != nil || info.State.Consumers != 0 {
		t.Errorf("left: %+v, %v", info, err)
	}
}

func FuzzHostLine(f *testing.F) {
	f.Add([]byte(`{"time":"2026-01-02T03:04:05Z","level":"INFO","msg":"claim","principal":"operator","channel":"ahp-terminal:/x"}`))
	f.Add([]byte(`{"msg":1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := read(hostSubject+"build", line)
		if ok && (r.Host != "build" || len(r.Who) > maxText+3 || strings.ContainsAny(r.What, "\x1b\n")) {
			t.Errorf("%q is %+v", line, r)
		}
	})
}
