package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/procgroup"
)

// Git is where and how git runs.
type Git struct {
	// Program is git's binary; empty: looked up in PATH.
	Program string
	Dir     string // it runs in

	env   []string // besides the cleared environment
	whole bool     // it ends by itself alone
	in    io.Reader
	out   io.Writer // nil: the answer is returned
}

// off is configuration that no file overrides.
var off = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.editor=false", "core.quotePath=false",
	"core.splitIndex=false", "core.untrackedCache=false", "diff.external=", "diff.submodule=short",
	"submodule.recurse=false", "gc.auto=0", "maintenance.auto=false", "protocol.ext.allow=never", "advice.detachedHead=false",
	"core.alternateRefsCommand=false", "log.showSignature=false", "commit.gpgSign=false", "fetch.writeCommitGraph=false",
	"checkout.thresholdForParallelism=200", checkoutWorkers, "checkout.guess=false", "core.logAllRefUpdates=true", "diff.noprefix=false", "diff.mnemonicPrefix=false",
}

// checkoutWorkers: three write 10,000 files in half the time of one on two processors,
// and more on these are no faster.
var checkoutWorkers = "checkout.workers=" + strconv.Itoa(min(max(runtime.NumCPU(), 3), 8))

// maxSaid bounds what is quoted of git's complaints, maxAnswer an answer in memory.
const (
	maxSaid   = 2000
	maxAnswer = 256 << 20
)

// endTime is how long git may take to end that is told to.
const endTime = 5 * time.Second

// Error is a failed git: its exit code and what it said.
type Error struct {
	Code int // -1: it did not run or was killed
	Said string
	Cut  bool // a file that it read was cut short: SIGBUS

	args []string
	err  error
}

func (e *Error) Error() string {
	said := cmp.Or(strings.TrimSpace(e.Said), e.err.Error())
	return "git " + e.args[0] + ": " + said
}

func (e *Error) Unwrap() error { return e.err }

// There reports whether git is installed.
func (g Git) There() bool {
	_, err := g.program()
	return err == nil
}

func (g Git) program() (string, error) {
	if g.Program != "" {
		return g.Program, nil
	}
	path, err := exec.LookPath("git")
	if err != nil {
		return "", filetree.Failf(filetree.ErrUnsupported, "git is not installed: worktrees need it (copy:DIR does not), and comparing and merging files")
	}
	return path, nil
}

// With adds variables to the environment.
func (g Git) With(env ...string) Git {
	g.env = append(g.env[:len(g.env):len(g.env)], env...)
	return g
}

// From gives it something to read.
func (g Git) From(in io.Reader) Git {
	g.in = in
	return g
}

// Into sends its output elsewhere.
func (g Git) Into(out io.Writer) Git {
	g.out = out
	return g
}

// Whole has it come to its end whatever becomes of its context and of us: for what would
// leave somebody's files half changed.
func (g Git) Whole() Git {
	g.whole = true
	return g
}

// environ is the environment of this process without what git reads.
func environ() []string {
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

func (g Git) Run(ctx context.Context, args ...string) (string, error) {
	path, err := g.program()
	if err != nil {
		return "", err
	}
	if g.whole {
		ctx = context.WithoutCancel(ctx)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = g.Dir
	cmd.Env = append(environ(), g.env...)
	cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(off)))
	for i, c := range off {
		key, value, _ := strings.Cut(c, "=")
		n := strconv.Itoa(i)
		cmd.Env = append(cmd.Env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	// Its children (filters, checkout's workers) end with it, and it with us: what a
	// new host unmakes must not grow meanwhile.
	cmd.SysProcAttr = procgroup.Dying() // by SIGTERM: git removes its locks
	if g.whole {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // it removes its locks
	cmd.WaitDelay = endTime
	cmd.Stdin = g.in
	said := &clipped{most: maxSaid}
	cmd.Stderr = said
	answer := &clipped{most: maxAnswer}
	cmd.Stdout = g.out
	if g.out == nil {
		cmd.Stdout = answer
	}
	err = cmd.Run()
	switch {
	case err == nil && answer.cut:
		return "", filetree.Failf(filetree.ErrTooLarge, "git %s says more than %d bytes", args[0], maxAnswer)
	case err == nil:
		return answer.buf.String(), nil
	case ctx.Err() != nil:
		if cmd.Process != nil {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // what did not follow
		}
		return "", ctx.Err()
	}
	e := &Error{args: args, Code: -1, Said: said.buf.String(), err: err}
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		e.Code = exit.ExitCode()
		if status, is := exit.Sys().(syscall.WaitStatus); is && status.Signaled() && status.Signal() == syscall.SIGBUS {
			e.Cut, e.Said = true, "a file was cut short while it was read: try again when nothing writes there"
		}
	}
	if strings.Contains(e.Said, "No space left on device") {
		return "", filetree.Failf(filetree.ErrFull, "there is no space left; free some and try again: %w", e)
	}
	return answer.buf.String(), e
}

// Line runs git for one line.
func (g Git) Line(ctx context.Context, args ...string) (string, error) {
	out, err := g.Run(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// ExitCode gives the exit code of git, or -1 where it is none.
func ExitCode(err error) int {
	if e, is := errors.AsType[*Error](err); is {
		return e.Code
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

// Commit makes a commit, in the user's name if git knows it.
func (g Git) Commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	if _, err := g.Run(ctx, "var", "GIT_COMMITTER_IDENT"); err != nil {
		g = g.With("GIT_AUTHOR_NAME=tandemux", "GIT_AUTHOR_EMAIL=tandemux@localhost", "GIT_COMMITTER_NAME=tandemux", "GIT_COMMITTER_EMAIL=tandemux@localhost")
	}
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	commit, err := g.From(strings.NewReader(strings.TrimRight(message, "\n")+"\n")).Line(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("make a commit: %w", err)
	}
	return commit, nil
}

// Words splits what git separates by NUL.
func Words(out string) []string {
	out = strings.TrimSuffix(out, "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// QuotePath is a path as GIT_ALTERNATE_OBJECT_DIRECTORIES takes it, which has
// colons between paths.
func QuotePath(path string) string {
	if !strings.ContainsAny(path, ":\"\\\n") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// Blob gives an object of at most so many bytes.
func (g Git) Blob(ctx context.Context, id string, most int) ([]byte, error) {
	size, err := g.Line(ctx, "cat-file", "-s", id)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.Atoi(size); err != nil || n > most {
		return nil, filetree.Failf(filetree.ErrTooLarge, "it has more than %d bytes, the most that is read at once", most)
	}
	out, err := g.Run(ctx, "cat-file", "blob", id)
	return []byte(out), err
}

// Subject is the first line of a text that says something, as that of a commit's message:
// without what moves a cursor or reorders text, and cut at a word.
func Subject(text string, most int) string {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			switch {
			case unicode.IsSpace(r):
				return ' '
			case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
				return -1
			}
			return r
		}, line)), " ")
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return ClipWords(line, most)
		}
	}
	return ""
}

// ClipWords cuts a line to so many characters, between words where it can.
func ClipWords(line string, most int) string {
	letters := []rune(line)
	if len(letters) <= most {
		return line
	}
	cut := string(letters[:most-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
