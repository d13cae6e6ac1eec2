package git

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"tandemux/host/workspace/filetree"
)

// Ignored are the paths of a directory that match globs and that git ignores, without what is below others.
func (g Git) Ignored(ctx context.Context, dir string, globs []string) ([]string, error) {
	var all []string
	for _, glob := range globs {
		found, err := fs.Glob(os.DirFS(dir), glob)
		if err != nil {
			return nil, filetree.Failf(filetree.ErrInvalid, "the pattern %q: %w", filetree.Clip(glob), err)
		}
		for _, p := range found {
			if filetree.CheckPath(p) == nil && !filetree.IsGit(p) {
				all = append(all, p)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil, nil
	}
	out, err := g.From(strings.NewReader(strings.Join(all, "\x00")+"\x00")).Run(ctx, "check-ignore", "-z", "--stdin")
	if err != nil && ExitCode(err) != 1 { // 1: none of them
		return nil, err
	}
	var top []string
	for _, p := range Words(out) {
		if !slices.ContainsFunc(top, func(dir string) bool { return filetree.Under(p, dir) }) {
			top = append(top, p)
		}
	}
	return top, nil
}

// FullRef is a branch's name in full, empty for what is no branch.
func (g Git) FullRef(ctx context.Context, name string) string {
	ref, err := g.Line(ctx, "rev-parse", "--symbolic-full-name", "--verify", "-q", "--end-of-options", name)
	if err != nil || !strings.HasPrefix(ref, "refs/heads/") && !strings.HasPrefix(ref, "refs/remotes/") {
		return ""
	}
	return ref
}

// IsCommit reports whether a name, which may be a tag's, too, is a commit's.
func (g Git) IsCommit(ctx context.Context, name, commit string) bool {
	at, err := g.Line(ctx, "rev-parse", "--verify", "-q", "--end-of-options", name+"^{commit}")
	return err == nil && at == commit && !strings.HasPrefix(name, "-")
}

// ShortRef is a reference as people say it.
func ShortRef(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/remotes/")
}

// JoinInto is the tree that has head and tip; empty where tip itself can be what is next on
// head's line of first parents. Where tip has merged head it can't: the branch would go on in
// tip's line.
func (g Git) JoinInto(ctx context.Context, head, tip string) (tree string, left []Unmerged, err error) {
	if _, err := g.Run(ctx, "merge-base", "--is-ancestor", head, tip); err != nil {
		return g.Join(ctx, head, tip)
	}
	out, err := g.Run(ctx, "rev-list", "--first-parent", "--parents", head+".."+tip)
	if err != nil {
		return "", nil, err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if oldest := strings.Fields(lines[len(lines)-1]); len(oldest) > 1 && oldest[1] == head {
		return "", nil, nil
	}
	tree, err = g.Line(ctx, "rev-parse", "--verify", "-q", tip+"^{tree}")
	return tree, nil, err
}
