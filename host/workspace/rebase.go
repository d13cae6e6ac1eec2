package workspace

import (
	"context"
	"fmt"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// maxReplayed bounds the commits that a rebase takes over.
const maxReplayed = 1000

// replay makes the commits that tip has and base has not anew, on top of base.
func replay(ctx context.Context, g git.Git, base, tip string) (top string, left []unmerged, err error) {
	out, err := g.Run(ctx, "rev-list", "--reverse", "--topo-order", "--parents", base+".."+tip, "--")
	if err != nil {
		return "", nil, err
	}
	plain := g
	if _, err := g.Run(ctx, "var", "GIT_COMMITTER_IDENT"); err != nil {
		g = g.With("GIT_COMMITTER_NAME=tandemux", "GIT_COMMITTER_EMAIL=tandemux@localhost")
	}
	all := strings.Fields(strings.ReplaceAll(out, "\n", " "))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(all) != 2*len(lines) || len(lines) > maxReplayed {
		return "", nil, filetree.Failf(filetree.ErrUnsupported, "the task's branch has merges, or more than %d commits: update it without --rebase", maxReplayed)
	}
	top = base
	for i := 0; i < len(all); i += 2 {
		next, of := all[i], all[i+1]
		// The merge of two commits whose only common ancestor has the tree that this one
		// changed.
		var sides [3]string
		if sides[0], err = plain.Commit(ctx, of+"^{tree}", "-"); err == nil {
			sides[1], err = plain.Commit(ctx, top+"^{tree}", "-", sides[0])
		}
		if err == nil {
			sides[2], err = plain.Commit(ctx, next+"^{tree}", "-", sides[0])
		}
		if err != nil {
			return "", nil, err
		}
		tree, left, err := join(ctx, g, sides[1], sides[2])
		if err != nil || len(left) > 0 {
			return "", left, err
		}
		about, err := g.Run(ctx, "log", "-1", "--no-show-signature", "--date=raw", "--format=%an%x00%ae%x00%ad%x00%B", next)
		if err != nil {
			return "", nil, err
		}
		f := strings.SplitN(about, "\x00", 4)
		if len(f) != 4 {
			return "", nil, fmt.Errorf("git's answer is not what it should be: %q", filetree.Clip(about))
		}
		if top, err = g.With("GIT_AUTHOR_NAME="+f[0], "GIT_AUTHOR_EMAIL="+f[1], "GIT_AUTHOR_DATE="+f[2]).Commit(ctx, tree, f[3], top); err != nil {
			return "", nil, err
		}
	}
	return top, nil, nil
}
