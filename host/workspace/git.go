package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"tandemux/host/workspace/filetree"
)

// git runs git's own binary. What runs programs by configuration is turned off; what
// the user's configuration says of contents (filters, line ends) is honoured, as by
// any checkout of his.
type git struct {
	store *Store
	dir   string   // the directory it runs in
	env   []string // besides the cleared environment
	in    io.Reader
	out   io.Writer // nil: the answer is returned
}

// gitOff is configuration that no file overrides.
var gitOff = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.editor=false", "core.quotePath=false",
	"core.splitIndex=false", "core.untrackedCache=false", "diff.external=", "diff.submodule=short",
	"submodule.recurse=false", "gc.auto=0", "maintenance.auto=false", "protocol.ext.allow=never", "advice.detachedHead=false",
	"core.alternateRefsCommand=false", "log.showSignature=false", "commit.gpgSign=false", "fetch.writeCommitGraph=false",
	"checkout.thresholdForParallelism=200", checkoutWorkers, "checkout.guess=false", "core.logAllRefUpdates=true", "diff.noprefix=false", "diff.mnemonicPrefix=false",
}

// checkoutWorkers: three write 10,000 files in half the time of one on two processors,
// and more on these are no faster.
var checkoutWorkers = "checkout.workers=" + strconv.Itoa(min(max(runtime.NumCPU(), 3), 8))

// maxGitError bounds what is quoted of git's complaints, maxGitOut an answer in memory.
const (
	maxGitError = 2000
	maxGitOut   = 256 << 20
)

// gitError is a failed git: its exit code and what it said.
type gitError struct {
	args []string
	code int // -1: it did not run or was killed
	said string
	err  error
}

func (e *gitError) Error() string {
	said := strings.TrimSpace(e.said)
	if said == "" {
		said = e.err.Error()
	}
	return "git " + e.args[0] + ": " + said
}

func (e *gitError) Unwrap() error { return e.err }

func (s *Store) gitPath() (string, error) {
	if s.options.Git != "" {
		return s.options.Git, nil
	}
	path, err := exec.LookPath("git")
	if err != nil {
		return "", filetree.Failf(filetree.ErrUnsupported, "git is not installed: worktrees need it (copy:DIR does not), and comparing and merging files")
	}
	return path, nil
}

// git runs in a directory.
func (s *Store) git(dir string) git { return git{store: s, dir: dir} }

// with adds variables to the environment.
func (g git) with(env ...string) git {
	g.env = append(g.env[:len(g.env):len(g.env)], env...)
	return g
}

// from gives it something to read.
func (g git) from(in io.Reader) git {
	g.in = in
	return g
}

// into sends its output elsewhere.
func (g git) into(out io.Writer) git {
	g.out = out
	return g
}

// gitEnviron is the environment of this process without what git reads.
func gitEnviron() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "LC_") || name == "LANGUAGE" || name == "EDITOR" || name == "PAGER" || name == "SSH_ASKPASS" {
			continue
		}
		env = append(env, v)
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_PAGER=cat", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=file:https:http:ssh", "GIT_ASKPASS=false")
}

// run runs git and gives what it printed.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	path, err := g.store.gitPath()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = g.dir
	cmd.Env = append(gitEnviron(), g.env...)
	cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(gitOff)))
	for i, c := range gitOff {
		key, value, _ := strings.Cut(c, "=")
		n := strconv.Itoa(i)
		cmd.Env = append(cmd.Env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	// Its children (filters, checkout's workers) end with it, and it with us: what a
	// new host unmakes must not grow meanwhile.
	cmd.SysProcAttr = dyingWithUs()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdin = g.in
	said := &clipped{most: maxGitError}
	cmd.Stderr = said
	answer := &clipped{most: maxGitOut}
	cmd.Stdout = g.out
	if g.out == nil {
		cmd.Stdout = answer
	}
	err = cmd.Run()
	switch {
	case err == nil && answer.cut:
		return "", filetree.Failf(filetree.ErrTooLarge, "git %s says more than %d bytes", args[0], maxGitOut)
	case err == nil:
		return answer.buf.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	e := &gitError{args: args, code: -1, said: said.buf.String(), err: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.code = exit.ExitCode()
	}
	if strings.Contains(e.said, "No space left on device") {
		return "", filetree.Wrap(e, filetree.ErrFull, "there is no space left; free some and try again")
	}
	return answer.buf.String(), e
}

// line runs git for one line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// exitCode gives the exit code of git, or -1 where it is none.
func exitCode(err error) int {
	var e *gitError
	if errors.As(err, &e) {
		return e.code
	}
	return -1
}

// clipped keeps the first bytes of what is written.
type clipped struct {
	buf  bytes.Buffer
	most int
	cut  bool
}

func (c *clipped) Write(b []byte) (int, error) {
	room := c.most - c.buf.Len()
	if room < len(b) {
		c.cut = true
	}
	c.buf.Write(b[:max(0, min(len(b), room))])
	return len(b), nil
}
