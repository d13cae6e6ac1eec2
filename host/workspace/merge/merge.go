package merge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// Branch is the branch that is checked out in a repository, into which work is merged.
type Branch struct {
	Name string
	Head string // its commit

	git    git.Git
	source string // the repository's name for people
	bare   bool
	work   string // the branch to merge
}

// CheckedOut returns the branch that is checked out where git runs. work is the branch to merge.
func CheckedOut(ctx context.Context, g git.Git, source string, bare bool, work string) (b Branch, err error) {
	b = Branch{git: g, source: source, bare: bare, work: work}
	switch b.Name, err = g.Line(ctx, "symbolic-ref", "-q", "--short", "HEAD"); {
	case err != nil && git.ExitCode(err) != 1:
		return b, fmt.Errorf("look for the branch that is checked out in %s: %w", source, err)
	case err != nil:
		return b, filetree.Failf(filetree.ErrUnsupported, "no branch is checked out in %s (HEAD is detached): check one out, and merge again", source)
	}
	if b.Head, err = g.Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil {
		return b, filetree.Failf(filetree.ErrUnsupported, "the branch %s of %s has no commit", b.Name, source)
	}
	if b.Name == work {
		return b, filetree.Failf(filetree.ErrUnsupported, "%s itself is checked out in %s: check out the branch to merge into", b.Name, source)
	}
	return b, nil
}

// Join returns a commit that has both the branch and tip, or Head if nothing is new. g has the
// objects, task is the task's name, and text returns the message of a merge.
func (b Branch) Join(ctx context.Context, g git.Git, tip, task string, text func() string) (string, error) {
	if _, err := g.Run(ctx, "merge-base", "--is-ancestor", tip, b.Head); err == nil {
		return b.Head, nil
	}
	tree, left, err := g.JoinInto(ctx, b.Head, tip)
	switch {
	case err != nil:
		return "", fmt.Errorf("merge %s into %s: %w", b.work, b.Name, err)
	case len(left) > 0:
		paths := git.PathsOf(left)
		return "", &Conflicts{Into: "the branch " + b.Name, Task: task, Paths: paths[:min(len(paths), filetree.MaxListed)]}
	}
	if tree == "" {
		return tip, nil
	}
	return g.Commit(ctx, tree, text(), b.Head, tip)
}

// MovedMeanwhile returns the error for a branch that somebody else has moved.
func MovedMeanwhile(err error, branch string) error {
	return git.Moved(err, filetree.Failf(filetree.ErrConflict, "the branch %s was moved meanwhile; try again", branch))
}

// Advance moves the branch and its checked-out files to a descendant of Head. git refuses that if it
// would overwrite uncommitted changes.
func (b Branch) Advance(ctx context.Context, to string) error {
	if b.bare {
		return MovedMeanwhile(b.git.MoveRef(ctx, "tandemux: merge "+b.work, "refs/heads/"+b.Name, to, b.Head), b.Name)
	}
	_, err := b.git.Whole().Run(ctx, "-c", "merge.autoStash=false", "-c", "merge.verifySignatures=false", "merge", "--ff-only", "--no-autostash", "-q", to)
	var e *git.Error
	if !errors.As(err, &e) {
		return err
	}
	var paths []string
	for line := range strings.SplitSeq(e.Said, "\n") {
		if p, ok := strings.CutPrefix(line, "\t"); ok {
			paths = append(paths, p)
		}
	}
	switch {
	case len(paths) > 0:
		return &Conflicts{Into: "the branch " + b.Name, Paths: paths, Dirty: true}
	case strings.Contains(e.Said, "MERGE_HEAD") || strings.Contains(e.Said, "have not concluded") || strings.Contains(e.Said, "unmerged"):
		return filetree.Failf(filetree.ErrConflict, "a merge is under way in %s: finish or abort it, and merge again", b.source)
	case strings.Contains(e.Said, "index.lock"):
		return filetree.Failf(filetree.ErrConflict, "git is at work in %s (its index is locked): merge again when it is done", b.source)
	}
	return fmt.Errorf("merge %s into %s: %w", b.work, b.Name, err)
}

const (
	// maxSubject bounds the first line of a message, in characters.
	maxSubject = 72
	// maxSubjects bounds the commits that a merge's message names.
	maxSubjects = 20
)

// Message returns the message of a merge: the subject, if known, and the commits of the branch.
func (b Branch) Message(ctx context.Context, g git.Git, tip, subject, body string) string {
	first := "Merge " + b.work + " into " + b.Name
	if subject != "" {
		first = "Merge " + b.work + ": " + subject
	}
	var commits strings.Builder
	out, _ := g.Run(ctx, "log", "--no-show-signature", "--no-merges", "--reverse", "--format=%s", "--max-count=1000", b.Head+".."+tip, "--") // the message can do without
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		if i == maxSubjects {
			break
		}
		if line = git.Subject(line, maxSubject); line != "" {
			commits.WriteString("* " + line + "\n")
		}
	}
	if len(lines) < 2 {
		commits.Reset() // the subject says it
	}
	return Paragraphs(git.ClipWords(first, maxSubject), commits.String(), body)
}

// Paragraphs joins parts with empty lines between.
func Paragraphs(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}

// Conflicts is the error of a merge that changed nothing.
type Conflicts struct {
	Into  string   `json:"into"`
	Paths []string `json:"paths"` // at most 1000
	Dirty bool     `json:"dirty"` // the user's uncommitted changes are in the way

	Task   string `json:"-"` // the task's name
	Update bool   `json:"-"` // an update of the task from Into
	Open   bool   `json:"-"` // an update has left them in the files
	Shared bool   `json:"-"` // Into is a filesystem; other changes were merged
}

func (c *Conflicts) Error() string {
	most := 5
	if c.Update {
		most = 50
	}
	list := filetree.Listed(c.Paths, most)
	switch {
	case c.Dirty:
		return fmt.Sprintf("merging into %s would overwrite uncommitted changes in %s: commit or stash them, and merge again; nothing was changed", c.Into, list)
	case c.Open:
		return fmt.Sprintf("conflicts with %s are not resolved in %s: have the task resolve and commit them, or give them up with `tandemux ws update %s --abort`; nothing was changed", c.Into, list, c.Task)
	case c.Shared:
		return fmt.Sprintf("both the task and %s changed %s, which stay as they are on both sides: `tandemux ws resolve %s --keep task`, or filesystem, says whose counts", c.Into, list, c.Task)
	case c.Update:
		return fmt.Sprintf("both the task and %s changed %s; nothing was changed: --ask has the agent resolve that, --leave leaves the conflicts in its files", c.Into, list)
	case c.Task != "":
		return fmt.Sprintf("both the task and %s changed %s; nothing was changed: `tandemux ws update %s --ask` has the agent resolve that, or merge by hand", c.Into, list, c.Task)
	}
	return fmt.Sprintf("both the task and %s changed %s: have the task take those changes over, or merge by hand; nothing was changed", c.Into, list)
}

// Is reports that it is an ErrConflict.
func (c *Conflicts) Is(target error) bool { return target == filetree.ErrConflict } //nolint:errorlint // that is what Is is for

// StatusCode returns the HTTP status of the error.
func (c *Conflicts) StatusCode() int { return http.StatusConflict }

// Pair is a path that has changed. Old or Now may be nil.
type Pair struct {
	Path     string
	Old, Now *filetree.Entry
}

// Bringable returns what to change in a directory whose files are still what the work began with. If
// one is not, the error is Conflicts. git's own files are not changed (left): the user's git would run
// what an agent writes there.
func Bringable(source string, home *filetree.Folder, pairs []Pair) (changes []filetree.Change, left []string, err error) {
	conflicts := &Conflicts{Into: "the directory " + source}
	for _, p := range pairs {
		if filetree.IsGit(p.Path) {
			if len(left) < filetree.MaxListed {
				left = append(left, p.Path)
			}
			continue
		}
		there, err := Look(home, p.Path)
		switch {
		case err != nil:
			return nil, left, err
		case filetree.Equal(there, p.Now):
			continue
		case !filetree.Equal(there, p.Old):
			conflicts.Paths = append(conflicts.Paths, p.Path)
			continue
		}
		changes = append(changes, filetree.Change{Path: p.Path, To: p.Now, Was: there})
	}
	if len(conflicts.Paths) > 0 {
		conflicts.Paths = conflicts.Paths[:min(len(conflicts.Paths), filetree.MaxListed)]
		return nil, left, conflicts
	}
	return changes, left, nil
}

// Look returns the entry at a path of a directory, or nil.
func Look(top *filetree.Folder, path string) (*filetree.Entry, error) {
	e, err := filetree.Standing(top, path)
	if e == nil || err != nil {
		return nil, err
	}
	at := filetree.Source{Top: top}
	switch {
	case e.Mode.IsDir():
		e.Modified = 0
	case e.IsLink():
		target, err := at.Target(e)
		if err != nil {
			return nil, err
		}
		e.Link(target)
	case e.Mode.IsRegular():
		f, now, err := at.Open(e)
		if err != nil {
			return nil, fmt.Errorf("look at %q: %w", filetree.Clip(path), err)
		}
		defer f.Close()
		e.Stamp = now
		if e.Sum, e.Size, err = filetree.SumFile(f); err != nil {
			return nil, err
		}
	}
	return e, nil
}
