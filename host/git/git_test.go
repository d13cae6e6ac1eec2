package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// victimEnv has the test binary hold a reference's lock in a repository, and wait to be
// killed.
const victimEnv = "TANDEMUX_GIT_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimEnv); dir != "" {
		hold(context.Background(), dir) //nolint:errcheck // it is killed
		return
	}
	os.Exit(m.Run())
}

// hold locks a branch until its context ends.
func hold(ctx context.Context, dir string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()
	if _, err = w.WriteString("start\nupdate refs/heads/main HEAD HEAD\nprepare\n"); err != nil {
		return err
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		return err
	}
	defer said.Close()
	_, err = Git{Dir: dir}.From(r).Into(said).Run(ctx, "update-ref", "--stdin")
	return err
}

func repository(t *testing.T) (dir, tip, lock string) {
	t.Helper()
	g := Git{Dir: t.TempDir()}
	if !g.There() {
		t.Skip("git is not installed")
	}
	ctx := t.Context()
	_, err := g.Run(ctx, "init", "-q", "-b", "main")
	tree := ""
	if err == nil {
		tree, err = g.From(strings.NewReader("")).Line(ctx, "mktree")
	}
	if err == nil {
		tip, err = g.Commit(ctx, tree, "one")
	}
	if err == nil {
		err = g.MoveRef(ctx, "begin", "refs/heads/main", tip, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return g.Dir, tip, filepath.Join(g.Dir, ".git", "refs", "heads", "main.lock")
}

func becomes(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain until " + what)
		}
	}
}

func there(path string) bool { _, err := os.Lstat(path); return err == nil }

// TestKilledLeavesNoLock: a git that is ended in the midst of moving a branch, by its
// context or as its host is killed, leaves no lock.
func TestKilledLeavesNoLock(t *testing.T) {
	t.Parallel()
	dir, _, lock := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hold(ctx, dir) }()
	// Until git knows of the lock that it has just made, it would leave it.
	locked := func() bool {
		said, _ := os.ReadFile(filepath.Join(dir, "said"))
		return there(lock) && strings.Contains(string(said), "prepare: ok")
	}
	becomes(t, "the branch is locked", locked)
	cancel()
	if err := <-done; err == nil || there(lock) {
		t.Errorf("cancelled: %v, the lock is there: %v", err, there(lock))
	}
	if err := os.Remove(filepath.Join(dir, "said")); err != nil {
		t.Fatal(err)
	}
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimEnv+"="+dir)
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	becomes(t, "the branch is locked", locked)
	victim.Process.Kill()
	victim.Wait() //nolint:errcheck // killed
	becomes(t, "the lock is gone", func() bool { return !there(lock) })
}

// TestLock: a lock that somebody has is named, and stays; a reference that is elsewhere is told
// from that.
func TestLock(t *testing.T) {
	t.Parallel()
	dir, tip, lock := repository(t)
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g := Git{Dir: dir}
	err := g.MoveRef(t.Context(), "m", "refs/heads/main", tip, tip)
	if err == nil || !strings.Contains(err.Error(), lock) || !there(lock) {
		t.Errorf("with a lock: %v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := g.MoveRef(t.Context(), "m", "refs/heads/main", tip, tip); err != nil {
		t.Errorf("without: %v", err)
	}
	for _, other := range []string{strings.Repeat("1", len(tip)), strings.Repeat("0", len(tip))} {
		if err := g.MoveRef(t.Context(), "m", "refs/heads/main", tip, other); Moved(err, syscall.EAGAIN) != syscall.EAGAIN {
			t.Errorf("moved from %s: %v", other, err)
		}
	}
}
