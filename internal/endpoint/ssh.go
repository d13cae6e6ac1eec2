package endpoint

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"tandemux/internal/local"
)

// sshEnv holds the words that replace "ssh", split at blanks.
const sshEnv = "TANDEMUX_SSH"

// The first line of `tandemux bridge`, after which its output is the host's. What
// the far side's shell says before it is passed over.
const (
	bridgeGreeting = "tandemux-bridge"
	bridgeVersion  = 1
	maxPreamble    = 64 << 10
)

// farCommand runs on the far machine, in whatever shell the user has there. A
// shell that is not interactive may not have the user's own directories in its
// PATH.
const farCommand = `exec sh -c 'c=$(PATH="$PATH:$HOME/.local/bin:$HOME/bin:$HOME/go/bin:/usr/local/bin"; command -v tandemux) || exit 127; exec "$c" bridge'`

// machine is a host that is reached by ssh.
type machine struct {
	user, name, port string
}

func parseMachine(u *url.URL) (*machine, error) {
	m := &machine{name: u.Hostname(), port: u.Port()}
	if u.User != nil {
		m.user = u.User.Username()
		if _, has := u.User.Password(); has {
			return nil, errors.New("a password on the command line can be read by others; ssh asks for it")
		}
	}
	// ssh would take what begins with a dash for an option.
	odd := func(s string) bool {
		return strings.HasPrefix(s, "-") || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' })
	}
	if m.name == "" || odd(m.name) || odd(m.user) || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("write the machine as ssh://[USER@]MACHINE[:PORT]")
	}
	return m, nil
}

func (m *machine) String() string {
	s := m.name
	if m.user != "" {
		s = m.user + "@" + s
	}
	if m.port != "" {
		s += ":" + m.port
	}
	return s
}

// Run runs a script in sh over there, with what it reads and the person at hand for
// what ssh asks, and gives what it prints. The script has no single quotes.
func (m *machine) Run(ctx context.Context, script string, in io.Reader) (string, error) {
	words := m.words(false, "exec sh -c '"+script+"'")
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out, said tail
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = in, &out, &said, time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("ssh %s: %s", m, cmp.Or(said.last(), err.Error()))
	}
	return string(out.text), nil
}

// words are the command line of ssh for a command over there. quiet asks nothing:
// somebody else has the terminal.
func (m *machine) words(quiet bool, command string) []string {
	words := strings.Fields(os.Getenv(sshEnv))
	if len(words) == 0 {
		words = []string{"ssh"}
	}
	words = append(words, "-T", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3")
	if quiet {
		words = append(words, "-o", "BatchMode=yes")
	}
	if m.port != "" {
		words = append(words, "-p", m.port)
	}
	if m.user != "" {
		words = append(words, "-l", m.user)
	}
	return append(words, "--", m.name, command)
}

// dialer gives a function that dials; after the first time it is quiet, since then the
// interface has the terminal.
func (m *machine) dialer(quiet bool) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		now := quiet
		quiet = true
		return m.dial(ctx, now)
	}
}

// dial starts ssh and waits for the far side's greeting.
func (m *machine) dial(ctx context.Context, quiet bool) (net.Conn, error) {
	words := m.words(quiet, farCommand)
	cmd := exec.Command(words[0], words[1:]...)
	if quiet {
		// Away from the terminal, and from the signals of its keys.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	p := &sshPipe{cmd: cmd, exited: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, sshError{fmt.Errorf("run ssh: %w", err)}
	}
	stop := context.AfterFunc(ctx, func() { p.Close() })
	err := p.greet()
	if err == nil && stop() {
		return p, nil
	}
	stop()
	p.Close()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("ssh %s: %w", m, ctx.Err())
	}
	<-p.exited
	return nil, sshError{m.failure(err, p)}
}

// sshError is an error that says all there is to say.
type sshError struct{ error }

func (e sshError) Unwrap() error { return e.error }

// failure says why there was no greeting, from what ssh and the far side said.
func (m *machine) failure(err error, p *sshPipe) error {
	said := p.stderr.last()
	code := p.cmd.ProcessState.ExitCode()
	var other *greetingError
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("ssh %s: %w", m, err)
	case code == 127:
		return fmt.Errorf("ssh %s: there is no tandemux on that machine: put it into a directory of the PATH, or into ~/.local/bin", m)
	case strings.Contains(said, `unknown command "bridge"`):
		return fmt.Errorf("ssh %s: the tandemux on that machine is too old for this: install version %s there", m, Version)
	case code == 255:
		return fmt.Errorf("ssh %s: %s", m, cmp.Or(said, "ssh failed and did not say why"))
	}
	return fmt.Errorf("ssh %s: the far side ended: %s", m, cmp.Or(strings.TrimPrefix(said, "tandemux: "), "exit code "+strconv.Itoa(code)))
}

// greetingError is a greeting that we do not understand.
type greetingError struct{ line string }

func (e *greetingError) Error() string {
	return fmt.Sprintf("the far side says %q, and this is version %s: install the same version of tandemux on both machines", e.line, Version)
}

// sshPipe is a running ssh as a connection.
type sshPipe struct {
	net.Conn // to its stdin and from its stdout
	cmd      *exec.Cmd
	r        *bufio.Reader
	stderr   tail
	exited   chan struct{}
	once     sync.Once
}

func (p *sshPipe) start() error {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "ssh"), os.NewFile(uintptr(ends[1]), "ssh")
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	defer theirs.Close()
	p.Conn, err = net.FileConn(ours)
	ours.Close()
	if err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs, theirs, &p.stderr
	// A background process of ssh's, as ControlPersist leaves it, may keep
	// stderr open.
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		p.Conn.Close()
		return err
	}
	p.r = bufio.NewReaderSize(p.Conn, 32<<10)
	go func() {
		defer close(p.exited)
		p.cmd.Wait() //nolint:errcheck // ProcessState has it
	}()
	return nil
}

// greet reads up to the greeting.
func (p *sshPipe) greet() error {
	for left := maxPreamble; left > 0; {
		line, err := p.r.ReadSlice('\n')
		left -= len(line)
		name, rest, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if err == nil && name == bridgeGreeting {
			if number, _, _ := strings.Cut(rest, " "); number != strconv.Itoa(bridgeVersion) {
				return &greetingError{strings.TrimSpace(string(line))}
			}
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	return &greetingError{"a lot, and nothing that tandemux would"}
}

func (p *sshPipe) Read(b []byte) (int, error) { return p.r.Read(b) }

// Close ends ssh: by the end of its input and, if that does not suffice, by
// force.
func (p *sshPipe) Close() error {
	p.once.Do(func() {
		p.Conn.Close()
		go func() {
			select {
			case <-p.exited:
			case <-time.After(2 * time.Second):
				p.cmd.Process.Kill() //nolint:errcheck // gone already is fine
			}
		}()
	})
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// last is the last three lines as one, without ssh's warnings.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var kept []string
	for line := range strings.Lines(string(t.text)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "Warning:") && !strings.HasPrefix(line, "@@@") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-3):], " ")
}

// FindRuntimeDir sets XDG_RUNTIME_DIR where the login that ssh made did not, so
// that it is the same as in the user's other sessions.
func FindRuntimeDir() {
	if os.Getenv("XDG_RUNTIME_DIR") != "" {
		return
	}
	dir := "/run/user/" + strconv.Itoa(os.Getuid())
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		os.Setenv("XDG_RUNTIME_DIR", dir)
	}
}

// Bridge carries bytes between a client on in and out, and this user's host,
// starting the latter when none runs. It ends when either side does.
func Bridge(ctx context.Context, d local.Dirs, in io.Reader, out io.Writer) error {
	if err := d.Check(); err != nil {
		return err
	}
	c, err := d.Reach(ctx)
	if err != nil {
		return fmt.Errorf("connect to the host: %w", err)
	}
	defer c.Close()
	// On a line of its own, whatever was printed before us.
	if _, err := fmt.Fprintf(out, "\n%s %d %s\n", bridgeGreeting, bridgeVersion, Version); err != nil {
		return err
	}
	ended := make(chan error, 2)
	carry := func(to io.Writer, from io.Reader) {
		_, err := io.Copy(to, from)
		ended <- err
	}
	go carry(c, in)
	go carry(out, c)
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}
