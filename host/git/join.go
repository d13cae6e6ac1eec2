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
