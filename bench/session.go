package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/internal/pty"
)

// prompt is the shell's, and nothing else prints it.
const prompt = "♯"

var (
	errTimeout = errors.New("what was waited for did not come")
	errEnded   = errors.New("the program has ended")
)

// session is a program on a pty, with a home of its own.
type session struct {
	home string
	id   string
	cmd  *exec.Cmd
	pty  *os.File
	buf  []byte
	n    int // bytes that came
	born time.Time
	// perKey is what a key cost, as keysInto has found.
	perKey string
}

// open starts a multiplexer and waits for the shell's prompt.
func (b *bench) open(k kind) (*session, error) {
	s, err := newSession(b.dir)
	if err != nil {
		return nil, err
	}
	if err = s.start(k.argv...); err == nil {
		err = s.wait(prompt, 20*time.Second)
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("start %s: %w", k.name, err)
	}
	s.drain(300 * time.Millisecond)
	return s, nil
}

func newSession(dir string) (*session, error) {
	home, err := os.MkdirTemp(dir, "h")
	if err != nil {
		return nil, err
	}
	s := &session{home: home, id: filepath.Base(dir) + "/" + filepath.Base(home) + "/", buf: make([]byte, 64<<10)}
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		return nil, err
	}
	for _, rc := range []string{".bashrc", ".bash_profile"} { // tmux starts login shells
		if err := os.WriteFile(filepath.Join(home, rc), []byte("PS1='"+prompt+" '\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *session) environ() []string {
	run := filepath.Join(s.home, "run")
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8",
		"LC_ALL=C.UTF-8", "SHELL=/bin/bash", "XDG_RUNTIME_DIR=" + run, "TMUX_TMPDIR=" + run,
		"XDG_STATE_HOME=" + s.home + "/state", "XDG_CONFIG_HOME=" + s.home + "/config", mark + s.id,
	}
}

// starting is held while a program starts, and for good once all are to end.
var starting sync.Mutex

// start runs a program on the pty.
func (s *session) start(argv ...string) error {
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Env, s.cmd.Dir = s.environ(), s.home
	s.born = time.Now()
	starting.Lock()
	f, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 120})
	starting.Unlock()
	s.pty = f
	return err
}

// command runs a command of tandemux's beside the session and gives its output.
func (s *session) command(argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = s.environ(), s.home
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	starting.Lock()
	err := cmd.Start()
	starting.Unlock()
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// read gives what came within the time, nothing at its end.
func (s *session) read(limit time.Duration) ([]byte, error) {
	fds := []unix.PollFd{{Fd: int32(s.pty.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, max(int(limit.Milliseconds()), 0))
	if n == 0 || errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	n, err = unix.Read(int(fds[0].Fd), s.buf)
	if n <= 0 || err != nil {
		return nil, errEnded
	}
	s.n += n
	s.answer(s.buf[:n])
	return s.buf[:n], nil
}

// answers are what any terminal says at once; who asks would wait otherwise.
var answers = []struct{ ask, say string }{
	{"\x1b[c", "\x1b[?62;22c"},
	{"\x1b[0c", "\x1b[?62;22c"},
	{"\x1b[>c", "\x1b[>0;276;0c"},
	{"\x1b[>0c", "\x1b[>0;276;0c"},
	{"\x1b[6n", "\x1b[1;1R"},
	{"\x1b[?u", "\x1b[?0u"},
	{"\x1b[?2026$p", "\x1b[?2026;2$y"},
	{"\x1b]10;?", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"},
	{"\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\"},
}

func (s *session) answer(p []byte) {
	for rest := p; ; {
		i := bytes.IndexByte(rest, 0x1b)
		if i < 0 {
			return
		}
		rest = rest[i:]
		for _, a := range answers {
			if bytes.HasPrefix(rest, []byte(a.ask)) {
				s.send(a.say)
			}
		}
		rest = rest[1:]
	}
}

func (s *session) send(text string) { s.pty.WriteString(text) } //nolint:errcheck // the wait that follows fails

// wait reads until all of the texts have come.
func (s *session) wait(text string, limit time.Duration) error { return s.waitCount(text, 1, limit) }

// waitCount reads until a text has come so many times.
func (s *session) waitCount(text string, count int, limit time.Duration) error {
	var tail []byte
	for end := time.Now().Add(limit); time.Now().Before(end); {
		p, err := s.read(time.Until(end))
		if err != nil {
			return err
		}
		tail = append(tail, p...)
		for i := bytes.Index(tail, []byte(text)); i >= 0; i = bytes.Index(tail, []byte(text)) {
			if count--; count == 0 {
				return nil
			}
			tail = tail[i+len(text):]
		}
		tail = tail[max(0, len(tail)-len(text)+1):]
	}
	return fmt.Errorf("%q: %w", text, errTimeout)
}

// drain reads until nothing comes for a while.
func (s *session) drain(quiet time.Duration) {
	for {
		if p, err := s.read(quiet); len(p) == 0 || err != nil {
			return
		}
	}
}

// drainFor reads for so long, whatever comes, and gives the number of bytes.
func (s *session) drainFor(d time.Duration) int {
	before := s.n
	for end := time.Now().Add(d); time.Now().Before(end); {
		if _, err := s.read(time.Until(end)); err != nil {
			break
		}
	}
	return s.n - before
}

// close ends all that the session started.
func (s *session) close() {
	end(s.id)
	if s.pty != nil {
		s.pty.Close()
		s.cmd.Wait() //nolint:errcheck // it was killed
	}
}
