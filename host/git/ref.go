package git

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"tandemux/host/workspace/filetree"
)

// MoveRef moves a reference from one commit to another, or removes it, for no other. A lock
// that was there before the machine started is nobody's, and goes.
func (g Git) MoveRef(ctx context.Context, message, ref, to, from string) error {
	args := []string{"update-ref", "-m", message, ref, to, from}
	if to == "" {
		args = []string{"update-ref", "-d", ref, from}
	}
	_, err := g.Run(ctx, args...)
	lock := lockOf(err, ref)
	if lock != "" && stale(lock) && os.Remove(lock) == nil {
		_, err = g.Run(ctx, args...)
		lock = lockOf(err, ref)
	}
	if lock != "" {
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

// stale reports whether a file is older than every process: from a minute before the
// machine started, as clocks are set.
func stale(file string) bool {
	info, err := os.Lstat(file)
	began := booted()
	return err == nil && info.Mode().IsRegular() && !began.IsZero() && info.ModTime().Before(began.Add(-time.Minute))
}
