package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandemux/internal/hosttest"
)

// Password is the only user's, which is asked for on TCP.
const Password = "not-a-secret-of-anybodys"

// T is a test, or a script of one.
type T interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

type Server struct {
	Dir  string // of its socket
	Port string // on loopback, too
	pipe *os.File
}

var start = sync.OnceValues(begin)

// Start gives the test binary's server, running.
func Start(t T) *Server {
	t.Helper()
	s, err := start()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs PostgreSQL (Debian: postgresql): ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Program finds one of PostgreSQL's. Debian keeps them out of the way, and has wrappers of
// the same names that want a cluster of its own.
func Program(name string) (string, error) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return found[len(found)-1], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path) // it looks for its files beside itself
}

// other is who runs it: not root.
func other() (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{Setpgid: true}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("there is no user to run PostgreSQL as")
}

// guard runs the server, again when it ends, until its stdin does.
const guard = `
while [ -d "$DIR" ]; do
	[ -e "$DIR/down" ] || "$@"
	sleep 0.02
done &
cat >/dev/null
touch "$DIR/down"
kill -QUIT "$(head -n 1 "$DIR/data/postmaster.pid")"
rm -rf "$DIR"
`

func begin() (*Server, error) {
	initdb, err := Program("initdb")
	if err != nil {
		return nil, err
	}
	program, err := Program("postgres")
	if err != nil {
		return nil, err
	}
	attr, err := other()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/tmp", "pg") // outlives a test's directory a little
	if err != nil {
		return nil, err
	}
	if attr.Credential != nil {
		if err := os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			return nil, err
		}
	}
	password := exec.Command("sh", "-c", `umask 077; cat >"$0"`, filepath.Join(dir, "password"))
	password.Stdin, password.SysProcAttr = strings.NewReader(Password), attr
	made := exec.Command(initdb, "-D", filepath.Join(dir, "data"), "-N", "-E", "UTF8", "--locale=C", "-U", "tester", "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+filepath.Join(dir, "password"))
	for _, c := range []*exec.Cmd{password, made} {
		c.SysProcAttr, c.Dir = attr, dir
		if out, err := c.CombinedOutput(); err != nil {
			os.RemoveAll(dir)
			return nil, fmt.Errorf("%s: %w\n%s", c.Path, err, out)
		}
	}
	port, err := hosttest.FreePort()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := exec.Command("sh", "-c", guard, "guard", program, "-D", filepath.Join(dir, "data"), "-k", dir, "-p", port, "-h", "127.0.0.1", "-F", "-c", "max_connections=40")
	c.SysProcAttr, c.Dir, c.Stdin, c.Stdout, c.Stderr = attr, dir, r, log, log
	c.Env = append(os.Environ(), "DIR="+dir)
	if err := c.Start(); err != nil {
		return nil, err
	}
	s := &Server{dir, port, w}
	return s, s.await(true)
}

// await waits until the server takes connections, or has ended.
func (s *Server) await(up bool) error {
	pid := filepath.Join(s.Dir, "data", "postmaster.pid")
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(pid)
		if up && bytes.Contains(text, []byte("\nready")) || !up && (err != nil || !alive(text)) {
			return nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
	return fmt.Errorf("PostgreSQL is not up (%v): %s", up, log)
}

func alive(text []byte) bool {
	pid, _ := strconv.Atoi(string(bytes.SplitN(text, []byte("\n"), 2)[0]))
	return pid > 0 && syscall.Kill(pid, 0) == nil
}

// Down ends the server by a signal; Up has it back.
func (s *Server) Down(t T, sig syscall.Signal) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, "down"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(string(bytes.SplitN(text, []byte("\n"), 2)[0]))
	if err := errors.Join(syscall.Kill(pid, sig), s.await(false)); err != nil {
		t.Fatal(err)
	}
}

// Up begins the server anew after Down.
func (s *Server) Up(t T) {
	t.Helper()
	if err := errors.Join(os.Remove(filepath.Join(s.Dir, "down")), s.await(true)); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) SQL(t T, text string) string {
	t.Helper()
	psql, err := Program("psql")
	if err != nil {
		t.Skip("needs psql: ", err)
	}
	out, err := exec.Command(psql, "-h", s.Dir, "-p", s.Port, "-U", "tester", "-d", "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", text).CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// Schema makes an empty schema, where it is not there yet, and gives its URL.
func (s *Server) Schema(t T, name string) string {
	t.Helper()
	s.SQL(t, fmt.Sprintf("set client_min_messages = error; create schema if not exists %q", name))
	return s.URL(name)
}

// URL is a schema's, by the socket.
func (s *Server) URL(schema string) string {
	q := url.Values{"host": {s.Dir}, "port": {s.Port}, "search_path": {schema}}
	return "postgres://tester@/postgres?" + q.Encode()
}

// Address is a schema's by TCP, with a password file.
func (s *Server) Address(addr, schema, passfile string) string {
	return "postgres://tester@" + addr + "/postgres?" + url.Values{"search_path": {schema}, "passfile": {passfile}}.Encode()
}
