package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandemux/host/workspace/filetree"
)

// Unmerged is what one side of a conflict has of a path: stage 1 is what both began with,
// 2 the task's, 3 the base's.
type Unmerged struct {
	Entry Entry  `json:"entry"`
	Stage int    `json:"stage"`
	Path  string `json:"path"`
}

// PathsOf are the paths of conflicts, each once, sorted.
func PathsOf(all []Unmerged) []string {
	var paths []string
	for _, u := range all {
		paths = append(paths, u.Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Count says how many commits a range has, such as "main..side".
func (g Git) Count(ctx context.Context, commits string) (int, error) {
	out, err := g.Line(ctx, "rev-list", "--count", commits, "--")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// Join merges two commits into a tree. Where they don't join, that has git's markers.
func (g Git) Join(ctx context.Context, ours, theirs string) (tree string, left []Unmerged, err error) {
	out, err := g.Run(ctx, "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs)
	words := Words(out)
	if err != nil && ExitCode(err) != 1 {
		return "", nil, err
	}
	if len(words) == 0 {
		return "", nil, errors.Join(err, errors.New("git gave no tree"))
	}
	for _, line := range words[1:] { // MODE ID STAGE\tPATH
		head, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if len(f) != 3 {
			return "", nil, fmt.Errorf("git's answer is not what it should be: %q", filetree.Clip(line))
		}
		stage, err := strconv.Atoi(f[2])
		if err != nil || stage < 1 || stage > 3 {
			return "", nil, fmt.Errorf("git's answer is not what it should be: %q", filetree.Clip(line))
		}
		left = append(left, Unmerged{Entry{Mode: f[0], ID: f[1]}, stage, path})
	}
	return words[0], left, nil
}

// maxReplayed bounds the commits that a rebase takes over.
const maxReplayed = 1000

// Replay makes the commits that tip has and base has not anew, on top of base.
func (g Git) Replay(ctx context.Context, base, tip string) (top string, left []Unmerged, err error) {
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
		return "", nil, filetree.Failf(filetree.ErrUnsupported, "the branch has merges, or more than %d commits: it can't be put on top of another", maxReplayed)
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
		tree, left, err := g.Join(ctx, sides[1], sides[2])
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
