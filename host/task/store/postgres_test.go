package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/pgtest"
)

var onPostgres = backends[1]

// TestSchemasAgree: both have the same columns, besides what is about the database itself.
func TestSchemasAgree(t *testing.T) {
	t.Parallel()
	columns := func(s *Store, query string) string {
		t.Helper()
		found, err := all[string](context.Background(), s.reading(), query)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(found, "\n")
	}
	lite := columns(open(t, t.TempDir()), `select m.name || '.' || c.name || case c."notnull" + c.pk when 0 then ' null' else '' end from sqlite_schema m, pragma_table_info(m.name) c
		where m.type = 'table' and m.name not like 'sqlite_%' and m.name <> 'about' order by 1`)
	server := columns(onPostgres.open(t, t.TempDir()), `select table_name || '.' || column_name || case is_nullable when 'YES' then ' null' else '' end collate "C" from information_schema.columns
		where table_schema = current_schema() and table_name <> 'about' order by 1`)
	if lite != server {
		t.Errorf("SQLite has\n%s\nPostgreSQL\n%s", lite, server)
	}
	if len(lite) < 1000 {
		t.Errorf("only these are compared:\n%s", lite)
	}
}

func TestNewerPostgresIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := onPostgres.open(t, dir)
	if _, err := s.w.Exec("update about set schema = ?", len(postgresMigrations())+1); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, err := Open(context.Background(), Options{Dir: dir, URL: onPostgres.url(t, dir)}); err == nil || !strings.Contains(err.Error(), "newer tandemux") {
		t.Errorf("a newer one: %v, %v", s, err)
	}
}

// TestServerGoes has writers go on while the server is killed, stopped and started: each
// call that fails says so, none waits without end, and what was acknowledged is there,
// numbered without gaps.
func TestServerGoes(t *testing.T) {
	server := pgtest.Start(t)
	dir := t.TempDir()
	s := onPostgres.open(t, dir)
	ctx := t.Context()
	task := begin(t, s, deploy(t, s, deployment("a", "main", "a")), "t")
	done := make(chan struct{})
	var writers sync.WaitGroup
	var acked sync.Map // numbers that AppendStream gave
	var good, bad atomic.Int64
	for range 4 {
		writers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				n, err := s.AppendStream(ctx, task.ID, []StreamEvent{{Type: "x", Data: json.RawMessage(`1`)}})
				switch {
				case err == nil:
					if _, twice := acked.LoadOrStore(n, true); twice {
						t.Errorf("the number %d was given twice", n)
					}
					good.Add(1)
				case !errors.Is(err, Away) || !strings.Contains(err.Error(), "can't be reached"):
					t.Errorf("while the server was away: %v", err)
					return
				default:
					bad.Add(1)
					time.Sleep(5 * time.Millisecond) // as a runner would, and longer
				}
			}
		})
	}
	end := sync.OnceFunc(func() { close(done); writers.Wait() })
	defer end()
	more := func(n *atomic.Int64) {
		t.Helper()
		from := n.Load()
		for until := time.Now().Add(time.Minute); n.Load() < from+20; time.Sleep(5 * time.Millisecond) {
			if t.Failed() || time.Now().After(until) {
				t.Fatal("nothing more came of it")
			}
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGINT} {
		more(&good)
		server.Down(t, sig)
		more(&bad)
		if _, err := s.Tasks.Get(ctx, task.ID); !errors.Is(err, Away) {
			t.Errorf("reading while it is away: %v", err)
		}
		server.Up(t)
		more(&good)
	}
	end()
	var events []int64
	var err error = Away
	for until := time.Now().Add(time.Minute); errors.Is(err, Away) && time.Now().Before(until); time.Sleep(50 * time.Millisecond) { // who reads tries to connect once a second
		events, err = all[int64](ctx, s.reading(), "select seq from stream where task = ? order by seq", task.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, seq := range events {
		if seq != int64(i+1) {
			t.Fatalf("the event %d has the number %d", i+1, seq)
		}
	}
	acked.Range(func(n, _ any) bool {
		if n.(int64) > int64(len(events)) {
			t.Errorf("%d was acknowledged and is gone: there are %d", n, len(events))
		}
		return true
	})
	if s.StreamEnd(task.ID) != int64(len(events)) {
		t.Errorf("the stream is said to end at %d, and ends at %d", s.StreamEnd(task.ID), len(events))
	}
	t.Logf("%d were written, %d refused, %d are there", good.Load(), bad.Load(), len(events))
}

// proxy stands between a store and the server. Once told so it loses the answer to a
// commit, with the connection; the server goes on with its side of that.
type proxy struct {
	net.Listener
	lose atomic.Bool
}

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l}
	var open sync.WaitGroup
	var mu sync.Mutex
	var ends []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range ends {
			c.Close()
		}
		mu.Unlock()
		open.Wait()
	})
	open.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			mu.Lock()
			ends = append(ends, near, far)
			mu.Unlock()
			var lost atomic.Bool
			open.Go(func() {
				defer near.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := far.Read(b)
					if lost.Load() { // the answer: it was done
						return
					}
					if _, werr := near.Write(b[:n]); err != nil || werr != nil {
						return
					}
				}
			})
			open.Go(func() {
				b := make([]byte, 64<<10)
				for {
					n, err := near.Read(b)
					if n > 0 && bytes.Contains(b[:n], []byte("commit\x00")) && p.lose.CompareAndSwap(true, false) {
						lost.Store(true)
						far.Write(b[:n])
						return
					}
					if _, werr := far.Write(b[:n]); err != nil || werr != nil {
						far.Close()
						return
					}
				}
			})
		}
	})
	return p
}

// passfile is a file with the password of the server's user.
func passfile(t *testing.T, word string) string {
	path := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(path, []byte("*:*:*:tester:"+word+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUnansweredCommit: what was done without an answer is done once. The server, which
// does not know that the connection is gone, holds its lock; that is no hindrance.
func TestUnansweredCommit(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dir := t.TempDir()
	onPostgres.url(t, dir)
	p := newProxy(t, "127.0.0.1:"+server.Port)
	name := strings.Split(strings.Split(onPostgres.url(t, dir), "search_path=")[1], "&")[0]
	s, err := Open(t.Context(), Options{Dir: dir, URL: server.Address(p.Addr().String(), name, passfile(t, pgtest.Password))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	task := begin(t, s, deploy(t, s, deployment("a", "main", "a")), "t")
	one := []StreamEvent{{Type: "x", Data: json.RawMessage(`1`)}}
	for want := int64(1); want < 10; want += 2 {
		p.lose.Store(true)
		if n, err := s.AppendStream(t.Context(), task.ID, one); !errors.Is(err, Away) {
			t.Fatalf("a commit without an answer: %d, %v", n, err)
		}
		if n, err := s.AppendStream(t.Context(), task.ID, one); err != nil || n != want+1 {
			t.Fatalf("the next is %d, %v; want %d", n, err, want+1)
		}
		p.lose.Store(true)
		if _, err := s.Projects.Create(t.Context(), Project{Name: fmt.Sprint("p", want)}); !errors.Is(err, Away) {
			t.Fatal(err)
		}
		if _, err := s.Projects.Create(t.Context(), Project{Name: fmt.Sprint("p", want)}); !errors.Is(err, Exists) {
			t.Errorf("it was made, and is told so: %v", err)
		}
	}
}

// TestOneHostWrites: a second one is refused while the first is there; and the first, once
// another has written.
func TestOneHostWrites(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	s, url := onPostgres.open(t, dir), onPostgres.url(t, dir)
	if _, err := Open(t.Context(), Options{Dir: other, URL: url}); !errors.Is(err, Busy) || !strings.Contains(err.Error(), "another host") {
		t.Errorf("a second host: %v", err)
	}
	s.w.SetMaxIdleConns(0) // the first one's connection goes
	second, err := Open(t.Context(), Options{Dir: other, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Projects.Create(t.Context(), Project{Name: "a"}); !errors.Is(err, Busy) {
		t.Errorf("the first while the second has it: %v", err)
	}
	second.Close()
	if _, err := s.Projects.Create(t.Context(), Project{Name: "a"}); !errors.Is(err, Busy) || !strings.Contains(err.Error(), "restart this host") {
		t.Errorf("the first after the second: %v", err)
	}
}

// TestPasswords: none is taken from where others could read it, and none is told.
func TestPasswords(t *testing.T) {
	server := pgtest.Start(t)
	dir := t.TempDir()
	name := strings.Split(strings.Split(onPostgres.url(t, dir), "search_path=")[1], "&")[0]
	addr := "127.0.0.1:" + server.Port
	var log bytes.Buffer
	try := func(url string) string {
		t.Helper()
		s, err := Open(t.Context(), Options{Dir: dir, URL: url, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err == nil {
			s.Close()
			return ""
		}
		return err.Error()
	}
	const wrong = "hunter2-and-more"
	open := passfile(t, pgtest.Password)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, c := range []struct{ url, want string }{
		{server.Address(addr, name, passfile(t, pgtest.Password)), ""},
		{server.Address(addr, name, passfile(t, wrong)), "password authentication failed"},
		{server.Address(addr, name, open), "others may read the password file"},
		{"postgres://tester:" + wrong + "@" + addr + "/postgres", "~/.pgpass"},
		{"postgres://tester@" + addr + "/postgres?password=" + wrong, "~/.pgpass"},
		{"postgres://tester:" + wrong + "@a b:::/postgres", "not a URL"},
		{"mysql://tester:" + wrong + "@h/x", "not a URL"},
		{server.URL("nowhere"), "create it first"},
		{"postgres://tester@127.0.0.1:1/postgres", "can't be reached"},
		{"postgres://tester@db.invalid/postgres", "can't be reached"},
	} {
		got := try(c.url)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.url, got, c.want)
		}
		said += got
	}
	t.Setenv("PGPASSWORD", wrong)
	said += try(server.Address(addr, name, passfile(t, pgtest.Password)))
	if !strings.Contains(said, "PGPASSWORD is set") {
		t.Error("a password in the environment is taken")
	}
	for _, word := range []string{wrong, pgtest.Password} {
		if strings.Contains(said+log.String(), word) {
			t.Errorf("the password is told: %s%s", said, log.String())
		}
	}
}

// TestMoved: what lies on the disk from before the records were in a database is older than
// it, also when that is the one from before.
func TestMoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	born := func(db backend) time.Time {
		s := db.open(t, dir)
		defer s.Close()
		at, err := s.Born(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	first := born(backends[0])
	if again := born(backends[0]); !again.Equal(first) {
		t.Errorf("born %v, then %v", first, again)
	}
	if _, err := os.Stat(filepath.Join(dir, placeFile)); err == nil {
		t.Error("SQLite alone is noted")
	}
	server := born(onPostgres)
	work := filepath.Join(dir, "made-meanwhile")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Second)
	if err := os.Chtimes(work, old, old); err != nil {
		t.Fatal(err)
	}
	if back := born(backends[0]); !back.After(first) || !back.After(old) || server.Before(first) {
		t.Errorf("back with SQLite it is born %v; it was %v, PostgreSQL's %v", back, first, server)
	}
}
