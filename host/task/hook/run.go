package hook

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandemux/host/agent"
	"tandemux/internal/procgroup"
)

const (
	// maxLine bounds a line, maxSaid all that a call says, in bytes.
	maxLine = 1 << 20
	maxSaid = 64 << 20
	// Grace is how long a program may take to end after SIGTERM.
	Grace = 3 * time.Second
	// lastWords is how long output is read after the program has ended: another
	// process may hold the pipe open.
	lastWords = 500 * time.Millisecond
)

// Call is a program to be run.
type Call struct {
	// Name is the hook's, for errors: "on_event".
	Name   string
	Launch agent.Launch
	Input  []byte // on its stdin
	// Line gets each word to the task, Stderr each line of stderr.
	Line   func(Line)
	Stderr func(string)
	// Timeout is how long it may run.
	Timeout time.Duration
	// Watched says that something else ends the program when this process dies.
	Watched bool
}

// Run runs a program to its end. The error says how it failed, for people.
func Run(ctx context.Context, c Call) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%s took longer than %v and was ended", c.Name, c.Timeout))
	defer cancel()
	r := &run{c: c, say: make(chan func(), 64)}
	if err := r.start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- r.cmd.Wait() }()
	err := r.listen(ctx, ended)
	switch {
	case r.failed != "":
		return errors.New(r.failed)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.tooMuch:
		return fmt.Errorf("%s said more than %d bytes, or a line of more than %d, and was ended", c.Name, maxSaid, maxLine)
	case err != nil:
		return fmt.Errorf("%s failed (%s)%s", c.Name, how(err), r.lastLine())
	}
	return nil
}

// how is how a process ended, in words.
func how(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return "signal " + s.Signal().String()
		}
		return fmt.Sprintf("exit code %d", exit.ExitCode())
	}
	return err.Error()
}

// run is a program that runs.
type run struct {
	c   Call
	cmd *exec.Cmd
	out [2]*os.File // read ends of stdout and stderr
	say chan func() // what readers want to be called, in order

	// Of the goroutine that listens.
	failed  string
	last    string // of stderr
	tooMuch bool
}

func (r *run) start() error {
	l := r.c.Launch
	path := l.Argv[0]
	if !strings.Contains(path, "/") {
		path = lookUp(path, l.Env)
	}
	var ends [4]*os.File
	for i := 0; i < len(ends); i += 2 {
		var err error
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			return fmt.Errorf("start %s: %w", r.c.Name, err)
		}
	}
	r.cmd = &exec.Cmd{
		Path: path, Args: l.Argv, Env: l.Env, Dir: l.Dir, Stdin: bytes.NewReader(r.c.Input), Stdout: ends[1], Stderr: ends[3],
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, WaitDelay: lastWords,
	}
	err := r.cmd.Start()
	ends[1].Close()
	ends[3].Close()
	if err != nil {
		ends[0].Close()
		ends[2].Close()
		return fmt.Errorf("start %s: %s: %w", r.c.Name, l.Argv[0], err)
	}
	r.out = [2]*os.File{ends[0], ends[2]}
	return nil
}

// lookUp finds a program in the PATH of its environment.
func lookUp(name string, env []string) string {
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 && filepath.IsAbs(file) {
			return file
		}
	}
	return name // starting it says that it is not there
}

// listen calls what the program says until it has ended, or has to.
func (r *run) listen(ctx context.Context, ended <-chan error) error {
	var watch *procgroup.Watcher
	if !r.c.Watched {
		watch, _ = procgroup.Watch(r.cmd.Process.Pid) //nolint:errcheck // then a dying host leaves it
	}
	defer watch.Release()
	var readers sync.WaitGroup
	readers.Add(2)
	go func() { defer readers.Done(); r.lines(r.out[0], r.line) }()
	go func() { defer readers.Done(); r.lines(r.out[1], r.stderr) }()
	silent := make(chan struct{})
	go func() { readers.Wait(); close(silent) }()
	err := r.until(ctx, ended)
	r.endGroup()
	closing := time.AfterFunc(lastWords, func() { r.out[0].Close(); r.out[1].Close() })
	defer closing.Stop()
	for {
		select {
		case f := <-r.say:
			f()
			continue
		case <-silent:
		}
		select { // what was said last
		case f := <-r.say:
			f()
			continue
		default:
		}
		r.out[0].Close()
		r.out[1].Close()
		return err
	}
}

// until calls what the program says until it has ended; when it must end it is
// told, and made to.
func (r *run) until(ctx context.Context, ended <-chan error) error {
	for !r.tooMuch {
		select {
		case f := <-r.say:
			f()
			continue
		case err := <-ended:
			return err
		case <-ctx.Done():
		}
		break
	}
	syscall.Kill(-r.cmd.Process.Pid, syscall.SIGTERM)
	timer := time.NewTimer(Grace)
	defer timer.Stop()
	for {
		select {
		case f := <-r.say:
			f()
		case err := <-ended:
			return err
		case <-timer.C:
			syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // not reaped yet: the group is its own
			return <-r.drained(ended)
		}
	}
}

// drained goes on calling what is said while the process ends.
func (r *run) drained(ended <-chan error) <-chan error {
	for {
		select {
		case f := <-r.say:
			f()
		case err := <-ended:
			got := make(chan error, 1)
			got <- err
			return got
		}
	}
}

// endGroup ends what the program has left behind.
func (r *run) endGroup() { syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) } //nolint:errcheck // nothing is left, mostly

// lines hands lines on until the end, or too much.
func (r *run) lines(from io.Reader, each func([]byte)) {
	in := bufio.NewReaderSize(from, 64<<10)
	said := 0
	for {
		text, err := readLine(in)
		said += len(text)
		if len(text) > maxLine || said > maxSaid {
			r.say <- func() { r.tooMuch = true }
			io.Copy(io.Discard, in) //nolint:errcheck // until it is closed
			return
		}
		if text = bytes.TrimRight(text, "\r\n"); len(text) > 0 {
			line := bytes.Clone(text)
			r.say <- func() { each(line) }
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line, or as much of it as shows that it is too long.
func readLine(in *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		piece, err := in.ReadSlice('\n')
		all = append(all, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(all) > maxLine {
			return all, err
		}
	}
}

func (r *run) line(text []byte) {
	l := parse(text)
	if l.Type == Failure {
		r.failed = l.Text
		if r.failed == "" {
			r.failed = r.c.Name + " failed"
		}
	}
	r.c.Line(l)
}

func (r *run) stderr(text []byte) {
	r.last = string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	r.c.Stderr(r.last)
}

// lastLine is the end of stderr, for an error.
func (r *run) lastLine() string {
	text := strings.TrimSpace(r.last)
	if text == "" {
		return ""
	}
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return ": " + text
}
