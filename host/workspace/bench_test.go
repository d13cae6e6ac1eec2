package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// tenThousand makes a directory of 10,000 files in 200 directories, 40 MB, as sources
// are.
func tenThousand(b testing.TB) string {
	b.Helper()
	dir := b.TempDir()
	rng := seeded(b, 1)
	for d := range 200 {
		at := filepath.Join(dir, fmt.Sprintf("pkg%d", d%20), fmt.Sprintf("dir%d", d))
		mkdirs(b, at)
		for i := range 50 {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("file%d.go", i)), noise(rng, 200+rng.IntN(7600)), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return dir
}

// commit makes a packed repository of a directory.
func commit(b testing.TB, dir string) {
	b.Helper()
	run(b, dir, "git", "init", "-q", "-b", "main")
	run(b, dir, "git", "config", "gc.auto", "0")
	run(b, dir, "git", "add", "-A")
	run(b, dir, "git", "commit", "-q", "-m", "first")
	run(b, dir, "git", "repack", "-adq")
}

// BenchmarkCreateWorktree is creation of a workspace on a repository of 10,000 files:
// 300 ms at most.
func BenchmarkCreateWorktree(b *testing.B) {
	s := newStore(b)
	dir := tenThousand(b)
	commit(b, dir)
	n := 0
	for b.Loop() {
		n++
		w := create(b, s, fmt.Sprint("t", n), Spec{Kind: Worktree, Dir: dir})
		b.StopTimer()
		must(w.Delete(context.Background(), true))(b)
		b.StartTimer()
	}
}

// BenchmarkCreateCopy is creation by copy: 1.5 s at most.
func BenchmarkCreateCopy(b *testing.B) {
	s := newStore(b)
	dir := tenThousand(b)
	n := 0
	for b.Loop() {
		n++
		id := fmt.Sprint("t", n)
		w := create(b, s, id, Spec{Kind: Copy, Dir: dir})
		b.StopTimer()
		must(w.Delete(context.Background(), true))(b)
		if err := s.RemoveTree(id); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkSyncUnchanged is a synchronisation down and up of 10,000 files of which
// none changed: 150 ms at most.
func BenchmarkSyncUnchanged(b *testing.B) {
	s := newStore(b)
	w := create(b, s, "t", Spec{Kind: Copy, Dir: tenThousand(b)})
	ctx := context.Background()
	for b.Loop() {
		must(w.SyncDown(ctx, Neither))(b)
		if up := must(w.SyncUp(ctx, Neither))(b); up.Count != 0 {
			b.Fatalf("%+v", up)
		}
	}
}

// BenchmarkDiffWorktree compares 10,000 files of which one changed.
func BenchmarkDiffWorktree(b *testing.B) {
	s := newStore(b)
	dir := tenThousand(b)
	commit(b, dir)
	w := create(b, s, "t", Spec{Kind: Worktree, Dir: dir})
	write(b, w.Dir(), map[string]string{"pkg0/dir0/file0.go": "changed\n"})
	for b.Loop() {
		if d := must(w.Diff(context.Background(), DiffOptions{}))(b); len(d.Files) != 1 {
			b.Fatalf("%+v", d)
		}
	}
}
