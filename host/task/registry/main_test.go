package registry

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.InMemory(m) }

// fixture is a registry with its store, whose clock and configuration a test sets.
type fixture struct {
	*Registry
	t          testing.TB
	dir        string
	mu         sync.Mutex // Protects now.
	now        time.Time
	env        map[string]string
	configured map[string]Definition
}

var (
	operator = access.TheOperator()
	ctx      = context.Background()
)

func newWorld(t testing.TB) *fixture {
	w := &fixture{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC), env: map[string]string{}, configured: map[string]Definition{}}
	w.open()
	t.Cleanup(func() { w.store.Close() })
	return w
}

func (w *fixture) open() {
	w.t.Helper()
	clock := func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now = w.now.Add(time.Millisecond)
		return w.now
	}
	s, err := store.Open(ctx, store.Options{Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Registry, err = New(ctx, s, Options{
		Dir: w.dir, Now: clock, Getenv: func(name string) string { return w.env[name] },
		Configured: func(name string) (Definition, error) {
			d, ok := w.configured[name]
			if !ok {
				return d, fmt.Errorf("there is no agent %q", name)
			}
			return d, nil
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// again opens the store anew, as the next host does.
func (w *fixture) again() {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

// acp is a definition that can run.
func acp(name string) Definition {
	return Definition{Name: name, Command: []string{"sh", "-c", "exit"}}
}

func (w *fixture) deploy(def Definition, branch string) store.Deployed {
	w.t.Helper()
	got, err := w.Deploy(ctx, operator, Deploy{Definition: &def, Branch: branch})
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *fixture) task(d store.Deployed, name string) store.Task {
	w.t.Helper()
	t, err := w.store.Tasks.Create(ctx, store.Task{Name: name, Status: store.Creating, AgentID: d.Agent.ID, VersionID: d.Version.ID, BranchID: d.Branch.ID, Creator: "operator"})
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *fixture) project(name string) store.Project {
	w.t.Helper()
	p, err := w.CreateProject(ctx, operator, ProjectChange{Name: &name})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// key makes a key and gives its principal.
func (w *fixture) key(name string, scopes ...string) (access.Principal, MadeKey) {
	w.t.Helper()
	var parsed []access.Scope
	for _, s := range scopes {
		p, err := access.ParseScope(s)
		if err != nil {
			w.t.Fatal(err)
		}
		parsed = append(parsed, p)
	}
	k, err := w.CreateKey(ctx, operator, NewKey{Name: name, Scopes: parsed})
	if err != nil {
		w.t.Fatal(err)
	}
	id, ok := w.Authenticate(k.Secret)
	if !ok {
		w.t.Fatal("a new key authenticates nobody")
	}
	who, _, ok := w.Principal(id)
	if !ok {
		w.t.Fatal("a new key is nobody's")
	}
	return who, k
}

// archive is a tar archive of headers and contents.
func archive(t testing.TB, entries ...tar.Header) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		body := ""
		if h.Typeflag == tar.TypeReg {
			body, h.Uname = h.Uname, "" // the contents, for short
			h.Size = int64(len(body))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func file(name, text string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Uname: text, Mode: 0o644}
}

func program(name, text string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Uname: text, Mode: 0o755}
}

func link(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
}

// write makes files below a directory.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
