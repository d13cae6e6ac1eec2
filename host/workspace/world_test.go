package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"

	"tandemux/internal/leak"
	"tandemux/internal/soak"
)

func TestMain(m *testing.M) {
	if job := os.Getenv("TANDEMUX_WORKSPACE_VICTIM"); job != "" {
		victim(job)
		return
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} { // no configuration of the user's
		os.Setenv(name, "/nonexistent")
	}
	os.Setenv("GIT_TEMPLATE_DIR", "") // no samples of hooks in each new repository
	leak.InMemory(m)
}

// newStore opens a store of its own.
func newStore(t testing.TB) *Store {
	t.Helper()
	return openStore(t, filepath.Join(t.TempDir(), "state"))
}

func openStore(t testing.TB, state string) *Store {
	t.Helper()
	s, err := Open(Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines describes a directory: a line for each file, with its mode and contents.
func lines(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			fmt.Fprintf(&b, "%q -> %q\n", rel, target)
		case info.Mode().IsRegular():
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%q %v %d %x\n", rel, info.Mode(), len(text), sha256.Sum256(text))
		default:
			fmt.Fprintf(&b, "%q %v\n", rel, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// write makes files: "path": "contents", "path/": a directory, "path -> target", and
// "path!" for an executable.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if link, target, ok := strings.Cut(name, " -> "); ok {
			mkdirs(t, filepath.Dir(filepath.Join(dir, link)))
			_ = os.Remove(filepath.Join(dir, link))
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		mode := fs.FileMode(0o644)
		name, exe := strings.CutSuffix(name, "!")
		if exe {
			mode = 0o755
		}
		at := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			mkdirs(t, at)
			continue
		}
		mkdirs(t, filepath.Dir(at))
		if err := os.WriteFile(at, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func mkdirs(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// odd are names that make trouble.
var odd = []string{"a", "b.go", "with space", "new\nline", "\xff\xfe", "-dash", "tab\t", "ü", "a-b", "..dots", "quote\"", "back\\slash", "*", ":colon", "UPPER", ".hidden"}

// grow makes a random tree: odd names, modes, empty directories, symlinks that lead
// nowhere and out.
func grow(t testing.TB, rng *rand.Rand, dir string, files int) {
	t.Helper()
	dirs := []string{dir}
	for range files {
		at := dirs[rng.IntN(len(dirs))]
		p := filepath.Join(at, fmt.Sprintf("%s%d", odd[rng.IntN(len(odd))], rng.IntN(40)))
		if _, err := os.Lstat(p); err == nil {
			continue
		}
		var err error
		switch rng.IntN(10) {
		case 0, 1:
			err = os.Mkdir(p, []fs.FileMode{0o755, 0o700, 0o775}[rng.IntN(3)])
			dirs = append(dirs, p)
		case 2:
			err = os.Symlink([]string{"a0", "../..", "/etc/passwd", "\xff", "loop"}[rng.IntN(5)], p)
		default:
			err = os.WriteFile(p, noise(rng, rng.IntN(3000)), []fs.FileMode{0o644, 0o755, 0o600, 0o400}[rng.IntN(4)])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefgh \n"[rng.IntN(10)]
	}
	return b
}

// shake changes a tree at random.
func shake(t testing.TB, rng *rand.Rand, dir string, changes int) {
	t.Helper()
	var all []string
	_ = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil && p != dir {
			all = append(all, p)
		}
		return nil
	})
	for range changes {
		if len(all) == 0 {
			break
		}
		p := all[rng.IntN(len(all))]
		info, err := os.Lstat(p)
		if err != nil {
			continue
		}
		switch rng.IntN(5) {
		case 0:
			_ = os.RemoveAll(p)
		case 1:
			_ = os.RemoveAll(p)
			_ = os.WriteFile(p, noise(rng, 100), 0o644)
		case 2:
			_ = os.RemoveAll(p)
			_ = os.Mkdir(p, 0o755)
			_ = os.WriteFile(filepath.Join(p, "new"), noise(rng, 10), 0o755)
		default:
			if info.Mode().IsRegular() {
				_ = os.Chmod(p, 0o644)
				_ = os.WriteFile(p, noise(rng, rng.IntN(3000)), 0o644)
			}
		}
	}
	grow(t, rng, dir, changes)
}

// seeds is how many random trees are tried.
func seeds(t *testing.T) int { return soak.Size(t, soak.Short(1, 3), 200) }

func seeded(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(seed, 1))
}

// run runs a program and gives what it prints.
func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// needGit skips what follows where git is not installed.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// repository makes one with some files in a commit.
func repository(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	mkdirs(t, dir)
	run(t, dir, "git", "init", "-q", "-b", "main")
	write(t, dir, files)
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "commit", "-q", "-m", "first")
	return dir
}

func create(t testing.TB, s *Store, id string, spec Spec) *Workspace {
	t.Helper()
	w, err := s.Create(context.Background(), id, spec)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantIs fails unless the error is of a kind and says something.
func wantIs(t testing.TB, err, kind error, says string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want one that is %v and says %q", err, kind, says)
	}
}

func isRoot() bool { return syscall.Geteuid() == 0 }

// pull takes files out as a client does: by an archive.
func pull[T any](write func(context.Context, io.Writer) (T, error), out string, overwrite bool) (filetree.Pulled, error) {
	var b bytes.Buffer
	if _, err := write(background, &b); err != nil {
		return filetree.Pulled{}, err
	}
	return filetree.Unpack(background, &b, out, filetree.PullOptions{Overwrite: overwrite})
}

// everything writes all of a workspace as an archive.
func everything(w *Workspace) func(context.Context, io.Writer) (filetree.Pulled, error) {
	return func(ctx context.Context, to io.Writer) (filetree.Pulled, error) {
		return w.WriteArchive(ctx, to, folders.Selection{})
	}
}

func checksum(b []byte) filetree.Digest { return sha256.Sum256(b) }

var anyLimits = filetree.Limits{Files: 1 << 30, Bytes: 1 << 62, FileSize: 1 << 62}

// stat gives an entry of a filesystem as it is now.
func stat(t *filetree.Tree, path string) (filetree.Entry, error) {
	m, err := t.Manifest()
	if err != nil {
		return filetree.Entry{}, err
	}
	return m.Stat(path)
}
