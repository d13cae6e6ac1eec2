package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandemux/host/workspace/filetree"
)

// MoveRef moves a reference from one commit to another, or removes it, for no other.
func (g Git) MoveRef(ctx context.Context, message, ref, to, from string) error {
	args := []string{"update-ref", "-m", message, ref, to, from}
	if to == "" {
		args = []string{"update-ref", "-d", ref, from}
	}
	_, err := g.Run(ctx, args...)
	if lock := lockOf(err, ref); lock != "" {
		return filetree.Failf(filetree.ErrConflict, "git is at work on %s, or was killed there: if no git runs, remove %s, and try again", strings.TrimPrefix(ref, "refs/heads/"), lock)
	}
	return err
}

// Moved is why MoveRef failed: otherwise, where it was not at from, and else its own error.
func Moved(err, otherwise error) error {
	if said, is := errors.AsType[*Error](err); is && notThere().MatchString(said.Said) {
		return otherwise
	}
	return err
}

// notThere is what git says of a reference that is not at from.
var notThere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`but expected|unable to resolve reference|reference already exists`)
})

var locked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Unable to create '([^'\n]+\.lock)': File exists`) })

// lockOf is the lock that kept a reference from being moved, or "".
func lockOf(err error, ref string) string {
	said, is := errors.AsType[*Error](err)
	if !is {
		return ""
	}
	m := locked().FindStringSubmatch(said.Said)
	if m == nil || !strings.HasSuffix(m[1], "/"+ref+".lock") && !strings.HasSuffix(m[1], "/packed-refs.lock") {
		return ""
	}
	return m[1]
}

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
