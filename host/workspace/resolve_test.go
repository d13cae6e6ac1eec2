package workspace

import (
	"errors"
	"slices"
	"testing"

	"tandemux/host/workspace/filetree"
)

// TestResolve: a file that both sides changed stays as it is on both, is named until it is
// decided for one side, and is that side's on both then.
func TestResolve(t *testing.T) {
	needGit(t)
	t.Parallel()
	for _, keep := range []Prefer{PreferWorkspace, PreferSource} {
		t.Run(string(keep), func(t *testing.T) {
			t.Parallel()
			s, src := newStore(t), t.TempDir()
			write(t, src, map[string]string{"a": "1", "dir/b": "1", "dir/c": "1", "d": "1"})
			tree := must(s.NewTree(background, "fs", src))(t)
			w := create(t, s, "t1", Spec{Kind: Filesystem, Filesystem: "fs", Name: "n"})
			other := create(t, s, "t2", Spec{Kind: Filesystem, Filesystem: "fs"})
			write(t, other.Dir(), map[string]string{"a": "theirs", "dir/b": "theirs", "dir/c": "theirs"})
			must(other.SyncUp(background, Neither))(t)
			write(t, w.Dir(), map[string]string{"a": "mine", "dir/b": "mine", "d": "mine"})
			want := []string{"a", "dir/b"}
			if up := must(w.SyncUp(background, Neither))(t); !slices.Equal(up.Conflicts, want) {
				t.Fatalf("conflicts %q", up.Conflicts)
			}
			for range 2 { // they are known until they are no more, by every door
				if got := must(s.Workspace("t1"))(t).Info().Conflicts; !slices.Equal(got, want) {
					t.Errorf("known are %q", got)
				}
				must(w.SyncDown(background, Neither))(t)
			}
			_, err := w.Merge(background, MergeOptions{})
			wantIs(t, err, filetree.ErrConflict, "`tandemux ws resolve n --keep task`, or filesystem, says whose counts")
			busy := errors.New("busy")
			_, err = w.Resolve(background, ResolveOptions{Keep: keep, Ready: func() error { return busy }})
			wantIs(t, err, busy, "busy")
			_, err = w.Resolve(background, ResolveOptions{Keep: keep, Paths: []string{"../x"}})
			wantIs(t, err, filetree.ErrInvalid, "")
			if got := must(w.Resolve(background, ResolveOptions{Keep: keep, Paths: []string{"dir"}}))(t); !slices.Equal(got.Conflicts, []string{"a"}) {
				t.Errorf("left are %q", got.Conflicts)
			}
			if got := must(s.Workspace("t1"))(t).Info().Conflicts; !slices.Equal(got, []string{"a"}) {
				t.Errorf("known are %q", got)
			}
			must(w.Resolve(background, ResolveOptions{Keep: keep}))(t)
			if got := must(s.Workspace("t1"))(t).Info().Conflicts; len(got) != 0 {
				t.Errorf("known are %q", got)
			}
			counts := map[Prefer]string{PreferWorkspace: "mine", PreferSource: "theirs"}[keep]
			for path, want := range map[string]string{"a": counts, "dir/b": counts, "dir/c": "theirs", "d": "mine"} {
				if got := text(t, w.Dir(), path); got != want {
					t.Errorf("%s is %q in the workspace, want %q", path, got, want)
				}
				if got := read(t, tree, path); got != want {
					t.Errorf("%s is %q in the filesystem, want %q", path, got, want)
				}
			}
			if up := must(w.SyncUp(background, Neither))(t); len(up.Conflicts) != 0 || up.Count != 0 {
				t.Errorf("afterwards: %+v", up)
			}
		})
	}
	s := newStore(t)
	w := create(t, s, "t3", Spec{Kind: None})
	_, err := w.Resolve(background, ResolveOptions{Keep: PreferSource})
	wantIs(t, err, filetree.ErrUnsupported, "synchronised with nothing")
}

// TestUpdateIsNamed: what an update left in conflict is known of the workspace.
func TestUpdateIsNamed(t *testing.T) {
	t.Parallel()
	_, w := behind(t, map[string]string{"b": "task\n"}, map[string]string{"b": "home\n"})
	must(w.Update(background, UpdateOptions{Leave: true}))(t)
	if got := must(w.store.Workspace("t1"))(t).Info().Conflicts; !slices.Equal(got, []string{"b"}) {
		t.Errorf("%q", got)
	}
	_, err := w.Resolve(background, ResolveOptions{Keep: PreferSource})
	wantIs(t, err, filetree.ErrUnsupported, "its agent resolve them")
}
