package listen

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestListenAfterAKill: a host that was killed has the lock for a moment still, and nobody
// answers.
func TestListenAfterAKill(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	dying, err := lockDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { dying.Close() })
	s, err := Unix(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// TestListen: one host per directory, private files, a dead host's socket
// replaced, and anything else left alone.
func TestListen(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	s, err := Unix(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v", info.Mode())
	}
	if info, _ := os.Stat(s.Path()); info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v", info.Mode())
	}
	if _, err := Unix(dir); !errors.Is(err, ErrRunning) {
		t.Errorf("a second host: %v", err)
	}
	if c, err := net.Dial("unix", s.Path()); err != nil {
		t.Errorf("the second host harmed the first's socket: %v", err)
	} else {
		c.Close()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if _, err := os.Lstat(s.Path()); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}

	// A dead host's socket.
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.Path(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	s, err = Unix(dir)
	if err != nil {
		t.Fatalf("with a stale socket: %v", err)
	}
	s.Close()

	// Something else.
	if err := os.WriteFile(s.Path(), []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Unix(dir); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("with a file in the way: %v", err)
	}
	if text, _ := os.ReadFile(s.Path()); string(text) != "precious" {
		t.Error("the file was harmed")
	}
	os.Remove(s.Path())

	// The failed attempt has let go of the lock; a directory open to others is
	// closed to them.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err = Unix(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v", info.Mode())
	}
}

func TestListenRefusals(t *testing.T) {
	dir := shortDir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, strings.Repeat("x", 120))
	for path, want := range map[string]string{file: "not a directory", long: "longer than"} {
		if _, err := Unix(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Unix(link); err == nil {
		t.Error("a symbolic link was taken for a directory")
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:7070"} {
		if ln, err := TCP(addr, false); err == nil {
			ln.Close()
			t.Errorf("%s was allowed", addr)
		}
	}
	if _, err := TCP("nonsense", false); err == nil {
		t.Error("nonsense was allowed")
	}
	ln, err := TCP("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := TCP(ln.Addr().String(), false); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("an address in use: %v", err)
	}
}
