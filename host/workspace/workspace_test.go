package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopy(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	src := t.TempDir()
	grow(t, seeded(t, 1), src, 300)
	write(t, src, map[string]string{"big": strings.Repeat("0123456789abcdef", 100_000), "empty/": ""})
	w := create(t, s, "t1", Spec{Kind: Copy, Dir: src})
	if a, b := lines(t, src), lines(t, w.Dir()); a != b {
		t.Fatalf("copy differs:\n%s\n---\n%s", a, b)
	}
	ctx := context.Background()
	if got := must(w.SyncUp(ctx, Neither))(t); got.Count != 0 {
		t.Fatalf("sync of an unchanged copy: %+v", got)
	}
	shake(t, seeded(t, 2), w.Dir(), 60)
	up := must(w.SyncUp(ctx, Neither))(t)
	if up.Count == 0 || len(up.Conflicts) > 0 {
		t.Fatalf("sync up: %+v", up)
	}
	out := filepath.Join(t.TempDir(), "out")
	tree := must(s.Tree("t1"))(t)
	must(pull(tree.WriteArchive, out, false))(t)
	if a, b := lines(t, w.Dir()), lines(t, out); a != b {
		t.Fatalf("stored differs:\n%s\n---\n%s", a, b)
	}
}

func TestWorktree(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n", "run.sh!": "#!/bin/sh\n", "link -> a.txt": ""})
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "fix"})
	if got := run(t, repo, "git", "branch", "--list", "tandemux/*"); !strings.Contains(got, "tandemux/fix") {
		t.Fatalf("branches: %q", got)
	}
	if err := os.WriteFile(filepath.Join(w.Dir(), "a.txt"), []byte("one\nmore\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, w.Dir(), map[string]string{"new.txt": "new\n"})
	ctx := context.Background()
	var text strings.Builder
	d := must(w.Diff(ctx, DiffOptions{Text: &text}))(t)
	if len(d.Files) != 2 || d.Added != 2 || d.Deleted != 0 || !strings.Contains(text.String(), "+more") {
		t.Fatalf("diff %+v\n%s", d, text.String())
	}
	m := must(w.Merge(ctx, MergeOptions{}))(t)
	if m.Into != "main" || len(m.Files) != 2 {
		t.Fatalf("merge %+v", m)
	}
	if got := must(os.ReadFile(filepath.Join(repo, "a.txt")))(t); string(got) != "one\nmore\n" {
		t.Fatalf("merged %q", got)
	}
	if got := run(t, repo, "git", "status", "--porcelain"); got != "" {
		t.Fatalf("status after merge: %q", got)
	}
	if d := must(w.Diff(ctx, DiffOptions{}))(t); len(d.Files) != 0 {
		t.Fatalf("diff after merge %+v", d)
	}
	mounts := must(w.Mounts(ctx))(t)
	t.Log(mounts)
	kept := must(w.Delete(ctx, false))(t).Branch
	if kept != "" {
		t.Fatalf("kept %q", kept)
	}
	if got := run(t, repo, "git", "worktree", "list"); strings.Count(got, "\n") != 1 {
		t.Fatalf("worktrees: %s", got)
	}
}
