package travel

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
)

// world is the machine of a person, and that of a host.
type world struct {
	testing.TB
	dir string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, dir}
}

func (w *world) at(name string) string { return filepath.Join(w.dir, name) }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// git runs it in a directory.
func (w *world) git(dir string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir = w.at(dir)
	cmd.Env = append(os.Environ(), "HOME="+w.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=p", "GIT_AUTHOR_EMAIL=p@x", "GIT_COMMITTER_NAME=p", "GIT_COMMITTER_EMAIL=p@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) write(path, text string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.at(path)), 0o755))
	w.must(os.WriteFile(w.at(path), []byte(text), 0o644))
}

func (w *world) read(path string) string {
	b, err := os.ReadFile(w.at(path))
	if err != nil {
		return "!" + err.Error()
	}
	return string(b)
}

// commit makes one of all that there is.
func (w *world) commit(dir, message string) {
	w.Helper()
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-q", "-m", message)
}

// repository makes one that has all sorts of things that must not travel.
func (w *world) repository() {
	w.Helper()
	w.must(os.Mkdir(w.at("app"), 0o755))
	w.git("app", "init", "-q", "-b", "main")
	w.write("app/a", "one\ntwo\nthree\n")
	w.write("app/sub/b", "b\n")
	w.commit("app", "first")
	w.git("app", "branch", "secret")
	w.write("app/a", "one\ntwo\nthree\nfour\n")
	w.commit("app", "second")
	w.git("app", "config", "remote.origin.url", "https://user:password@example.com/x")
	w.write("app/.git/hooks/post-checkout", "#!/bin/sh\ntouch "+w.at("hooked")+"\n")
	w.must(os.Chmod(w.at("app/.git/hooks/post-checkout"), 0o755))
}

// pack has a file sent to the host.
func (w *world) pack(pack func(to io.Writer) (Load, error)) (Load, string) {
	w.Helper()
	var sent bytes.Buffer
	l, err := pack(&sent)
	w.must(err)
	w.must(l.Check())
	file := w.at("load")
	w.must(l.Receive(&sent, file))
	return l, file
}

// home is where results of a task come back to.
func (w *world) home(base, result Load, files map[string][]byte) *Home {
	return &Home{Task: "t", Base: base, Result: result, Mark: w.at("state/mark"), Fetch: func(l Load) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files[l.Digest])), nil
	}}
}

// TestRepository: a commit travels to a host with its history and nothing else, what the task
// commits comes home as a thin bundle, and is merged as from a worktree; twice, with a
// conflict, with uncommitted changes in the way, and in a clone elsewhere.
func TestRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository()
	w.write("app/a", "not committed\n")
	before := w.git("app", "for-each-ref") + w.git("app", "status", "--porcelain")
	base, file := w.pack(func(to io.Writer) (Load, error) { return PackRepository(t.Context(), w.at("app/sub"), "", to) })
	if base.Ref != "refs/heads/main" || base.Source != w.at("app") || base.Commit != w.git("app", "rev-parse", "HEAD") {
		t.Errorf("it is %+v", base)
	}
	if now := w.git("app", "for-each-ref") + w.git("app", "status", "--porcelain"); now != before {
		t.Errorf("packing changed the repository:\n%s\n%s", before, now)
	}
	w.git("app", "checkout", "-q", "--", "a")
	dir := w.at("host/x")
	w.must(os.Mkdir(w.at("host"), 0o700))
	for range 2 { // the second finds it
		words, err := base.Unpack(t.Context(), file, dir)
		if w.must(err); words != "worktree:"+filepath.Join(dir, repository) {
			t.Errorf("its workspace is %q", words)
		}
	}
	repo := "host/x/" + repository
	if got := w.git(repo, "for-each-ref", "--format=%(refname)") + w.git(repo, "symbolic-ref", "HEAD"); got != "refs/heads/mainrefs/heads/main" {
		t.Errorf("its branches are %s", got)
	}
	if config := w.read(repo + "/config"); strings.Contains(config, "remote") || strings.Contains(config, "password") {
		t.Errorf("its configuration is %s", config)
	}
	if _, err := os.Stat(w.at(repo + "/hooks")); err == nil {
		t.Error("hooks came along")
	}
	if n := w.git(repo, "rev-list", "--count", "HEAD"); n != "2" {
		t.Errorf("it has %s commits", n)
	}

	w.git(repo, "worktree", "add", "-q", "-b", "tandemux/hub-1", w.at("work"), "main")
	files := map[string][]byte{}
	turn := func(path, text string) Load {
		w.write("work/"+path, text)
		w.commit("work", "write "+path)
		var sent bytes.Buffer
		l, err := base.Result(t.Context(), dir, "tandemux/hub-1", "", &sent)
		w.must(err)
		files[l.Digest] = sent.Bytes()
		return l
	}
	if l, err := base.Result(t.Context(), dir, "tandemux/hub-1", "", io.Discard); err != nil || l.Size != 0 {
		t.Errorf("of nothing there is %+v, %v", l, err)
	} else if m, err := w.home(base, l, nil).Merge(t.Context(), workspace.MergeOptions{}); err != nil || !m.Nothing {
		t.Errorf("nothing is merged as %+v, %v", m, err)
	}
	h := w.home(base, turn("new", "made\n"), files)
	if bytes.Contains(files[h.Result.Digest], []byte("four")) {
		t.Error("the result is not thin")
	}
	var patch strings.Builder
	if d, err := h.Diff(t.Context(), workspace.DiffOptions{Text: &patch}); err != nil || d.Added != 1 || len(d.Files) != 1 || !strings.Contains(patch.String(), "+made") {
		t.Errorf("the diff is %+v, %v, %s", d, err, patch.String())
	}
	m, err := h.Merge(t.Context(), workspace.MergeOptions{DryRun: true})
	if err != nil || m.Into != "main" || len(m.Files) != 1 || m.Files[0].Path != "new" || strings.HasPrefix(w.read("app/new"), "made") {
		t.Fatalf("a dry run: %+v, %v", m, err)
	}
	if m, err = h.Merge(t.Context(), workspace.MergeOptions{}); err != nil || w.read("app/new") != "made\n" || w.git("app", "rev-parse", "main") != m.Commit {
		t.Fatalf("the merge: %+v, %v", m, err)
	}
	// The person goes on, and so does the task.
	w.write("app/mine", "mine\n")
	w.commit("app", "mine")
	h = w.home(base, turn("new", "made\nagain\n"), files)
	m, err = h.Merge(t.Context(), workspace.MergeOptions{})
	if err != nil || w.read("app/new") != "made\nagain\n" || w.read("app/mine") != "mine\n" || len(m.Files) != 1 {
		t.Fatalf("the second merge: %+v, %v", m, err)
	}
	if said := w.git("app", "log", "-1", "--format=%s"); said != "Merge tandemux/t into main" {
		t.Errorf("the merge says %q", said)
	}
	// What is not committed is in the way.
	h = w.home(base, turn("a", "one\ntwo\nthree\nfour\nfive\n"), files)
	w.write("app/a", "dirty\n")
	head := w.git("app", "rev-parse", "HEAD")
	if _, err := h.Merge(t.Context(), workspace.MergeOptions{}); !errors.Is(err, filetree.ErrConflict) || !strings.Contains(err.Error(), `uncommitted changes in "a"`) || w.read("app/a") != "dirty\n" {
		t.Errorf("over what is not committed: %v", err)
	}
	// Both sides changed the same.
	w.write("app/a", "other\n")
	w.commit("app", "other")
	if _, err := h.Merge(t.Context(), workspace.MergeOptions{}); err == nil || !strings.Contains(err.Error(), `changed "a"; nothing was changed: `+"`git merge tandemux/t`") || w.read("app/a") != "other\n" || w.git("app", "status", "--porcelain") != "" {
		t.Errorf("a conflict: %v", err)
	}
	// In a clone of the person's on another machine.
	w.git("", "clone", "-q", "app", "clone")
	w.git("clone", "reset", "-q", "--hard", head)
	w.git("clone", "remote", "rm", "origin")
	w.must(os.Rename(w.at("app"), w.at("gone")))
	if _, err := h.Merge(t.Context(), workspace.MergeOptions{}); !errors.Is(err, filetree.ErrNotFound) || !strings.Contains(err.Error(), "run this in one") {
		t.Errorf("without the repository: %v", err)
	}
	h.Here = w.at("clone/sub")
	if _, err := h.Merge(t.Context(), workspace.MergeOptions{}); err != nil || !strings.Contains(w.read("clone/a"), "five") {
		t.Errorf("in a clone: %v", err)
	}
	// The task goes: its branch goes where all is merged, and else stays.
	if kept, err := h.Keep(t.Context()); err != nil || kept != "" {
		t.Errorf("all is merged, and %q stays, %v", kept, err)
	}
	w.git("clone", "reset", "-q", "--hard", head)
	if kept, err := h.Keep(t.Context()); err != nil || kept != "tandemux/t" || w.git("clone", "rev-parse", "tandemux/t") != h.Result.Commit {
		t.Errorf("%q stays, %v", kept, err)
	}
	if _, err := os.Stat(w.at("hooked")); err == nil {
		t.Error("a hook ran")
	}
}

// TestDirectory: a directory that is no repository travels without git's own files, and what
// the task makes of it comes home by whole files, twice, or not at all.
func TestDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("notes/a", "one\n")
	w.write("notes/gone", "x\n")
	w.write("notes/d/b", "b\n")
	w.write("notes/.gitignore", "b\n")
	w.write("notes/repo/.git/config", "[core]\n")
	w.write("notes/repo/c", "c\n")
	w.must(os.Symlink("a", w.at("notes/link")))
	base, file := w.pack(func(to io.Writer) (Load, error) {
		l, left, err := PackDirectory(t.Context(), w.at("notes"), to)
		if len(left) != 1 || left[0] != "repo/.git" {
			t.Errorf("left out: %q", left)
		}
		return l, err
	})
	files := map[string][]byte{base.Digest: []byte(w.read("load"))}
	dir := w.at("host/x")
	w.must(os.Mkdir(w.at("host"), 0o700))
	if words, err := base.Unpack(t.Context(), file, dir); err != nil || words != "copy:"+filepath.Join(dir, "files") {
		t.Fatalf("its workspace is %q, %v", words, err)
	}
	work := "host/x/files/"
	if w.read(work+"a") != "one\n" || w.read(work+"d/b") != "b\n" || !strings.HasPrefix(w.read(work+"repo/.git/config"), "!") {
		t.Error("it is not what was sent")
	}
	turn := func() *Home {
		var sent bytes.Buffer
		l, err := base.Result(t.Context(), dir, "", w.at(work), &sent)
		w.must(err)
		files[l.Digest] = sent.Bytes()
		return w.home(base, l, files)
	}
	w.write(work+"a", "one\ntwo\n")
	w.write(work+"e/new", "new\n")
	w.must(os.Remove(w.at(work + "gone")))
	w.write(work+".git/hooks/pre-commit", "evil")
	h := turn()
	if d, err := h.Diff(t.Context(), workspace.DiffOptions{}); err != nil || len(d.Files) != 3 || d.Added != 2 || d.Deleted != 1 {
		t.Errorf("the diff is %+v, %v", d, err)
	}
	m, err := h.Merge(t.Context(), workspace.MergeOptions{DryRun: true})
	if err != nil || m.Into != w.at("notes") || len(m.Files) != 4 || w.read("notes/a") != "one\n" { // the directory e, too
		t.Fatalf("a dry run: %+v, %v", m, err)
	}
	if _, err := h.Merge(t.Context(), workspace.MergeOptions{}); err != nil || w.read("notes/a") != "one\ntwo\n" || w.read("notes/e/new") != "new\n" || !strings.HasPrefix(w.read("notes/gone"), "!") || w.read("notes/repo/.git/config") != "[core]\n" {
		t.Fatalf("the merge: %v", err)
	}
	if m, err := h.Merge(t.Context(), workspace.MergeOptions{}); err != nil || !m.Nothing {
		t.Errorf("merged twice: %+v, %v", m, err)
	}
	// The same file once more; counted is what changes now.
	w.write(work+"a", "one\ntwo\nthree\n")
	h = turn()
	if m, err := h.Merge(t.Context(), workspace.MergeOptions{}); err != nil || len(m.Files) != 1 || m.Files[0].Added != 1 || m.Files[0].Deleted != 0 || w.read("notes/a") != "one\ntwo\nthree\n" {
		t.Errorf("the second merge: %+v, %v", m, err)
	}
	w.write(work+"a", "task\n")
	w.write(work+"d/b", "bb\n")
	w.write("notes/a", "person\n")
	h = turn()
	var both *workspace.Conflicts
	if _, err := h.Merge(t.Context(), workspace.MergeOptions{}); !errors.As(err, &both) || len(both.Paths) != 1 || both.Paths[0] != "a" || w.read("notes/d/b") != "b\n" {
		t.Errorf("a conflict: %v", err)
	}
	w.must(os.Rename(w.at("notes"), w.at("moved")))
	if _, err := h.Merge(t.Context(), workspace.MergeOptions{}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without the directory: %v", err)
	}
}

// TestNotPacked: what can't travel says what to do.
func TestNotPacked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository()
	w.git("", "clone", "-q", "--depth", "1", "file://"+w.at("app"), "shallow")
	w.must(os.MkdirAll(w.at("empty"), 0o755))
	w.git("empty", "init", "-q")
	w.must(os.MkdirAll(w.at("none"), 0o755))
	for _, tt := range []struct{ dir, from, want string }{
		{"shallow", "", "--unshallow"},
		{"empty", "", "no commit yet"},
		{"none", "", "use copy:DIR"},
		{"app", "nowhere", `"nowhere" is no commit`},
		{"app", "--upload-pack=x", "is no commit"},
	} {
		_, err := PackRepository(t.Context(), w.at(tt.dir), tt.from, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.dir, err)
		}
	}
	l, err := PackRepository(t.Context(), w.at("app"), "secret", io.Discard)
	if err != nil || l.Ref != "refs/heads/secret" {
		t.Errorf("a branch by name: %+v, %v", l, err)
	}
	if l, err = PackRepository(t.Context(), w.at("app"), "HEAD~1", io.Discard); err != nil || l.Ref != "refs/heads/base" || l.Commit == w.git("app", "rev-parse", "HEAD") {
		t.Errorf("a commit: %+v, %v", l, err)
	}
}

// loadOf is what somebody says of some bytes.
func loadOf(kind string, b []byte) Load {
	sum := sha256.Sum256(b)
	l := Load{Kind: kind, Size: int64(len(b)), Digest: "sha256:" + hex.EncodeToString(sum[:])}
	if h, err := readHeader(bytes.NewReader(b)); kind == Bundle && err == nil {
		l.Ref, l.Commit = h.ref, h.commit
	}
	return l
}

func tarOf(t testing.TB, all ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for _, h := range all {
		h.Size = 0
		if h.Typeflag == tar.TypeReg {
			h.Size = 1
		}
		h.Mode = 0o644
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			out.Write([]byte("x")) //nolint:errcheck // into memory
		}
	}
	out.Close()
	return b.Bytes()
}

// hostile are files that must not be taken, by what is said of them.
func (w *world) hostile() map[string]struct {
	kind string
	b    []byte
} {
	w.Helper()
	type file = struct {
		kind string
		b    []byte
	}
	w.repository()
	bundle := func(words ...string) []byte {
		w.git("app", append([]string{"bundle", "create", "-q", w.at("b")}, words...)...)
		return []byte(w.read("b"))
	}
	whole := bundle("main")
	all := map[string]file{
		"is no git bundle":               {Bundle, []byte("PACK....\n")},
		"header ends early":              {Bundle, whole[:40]},
		"more than one branch":           {Bundle, bundle("main", "secret")},
		"needs commits":                  {Bundle, bundle("main", "^main~1")},
		"has no branch":                  {Bundle, []byte("# v2 git bundle\n\nPACK")},
		"what is not known":              {Bundle, []byte("# v3 git bundle\n@filter=blob:none\n" + strings.Repeat("a", 40) + " refs/heads/x\n\n")},
		"no branch \"refs/tags/main\"":   {Bundle, bytes.Replace(whole, []byte("refs/heads/main"), []byte("refs/tags/main"), 1)},
		"no branch \"refs/heads/a..b\"":  {Bundle, bytes.Replace(whole, []byte("refs/heads/main"), []byte("refs/heads/a..b"), 1)},
		"can't be taken: git index-pack": {Bundle, whole[:len(whole)-30]},
		"the archive is empty":           {Archive, nil},
		"climbs":                         {Archive, tarOf(w, tar.Header{Name: "../out", Typeflag: tar.TypeReg})},
		"absolute":                       {Archive, tarOf(w, tar.Header{Name: "/etc/out", Typeflag: tar.TypeReg})},
		"a file in a link":               {Archive, tarOf(w, tar.Header{Name: "s", Typeflag: tar.TypeSymlink, Linkname: w.dir}, tar.Header{Name: "s/out", Typeflag: tar.TypeReg})},
		"a hard link":                    {Archive, tarOf(w, tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "../load"})},
		"a device":                       {Archive, tarOf(w, tar.Header{Name: "dev", Typeflag: tar.TypeChar})},
	}
	// A commit whose tree has a .git of its own.
	blob := w.git("app", "hash-object", "-w", "a")
	cmd := exec.Command("git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	cmd.Dir = w.at("app")
	id, err := hex.DecodeString(blob)
	w.must(err)
	cmd.Stdin = strings.NewReader("100644 .git\x00" + string(id))
	tree, err := cmd.Output()
	w.must(err)
	w.git("app", "update-ref", "refs/heads/evil", w.git("app", "commit-tree", "-m", "evil", strings.TrimSpace(string(tree))))
	all["hasDotgit"] = file{Bundle, bundle("evil")}
	return all
}

// TestHostile: of what is not as it should be nothing is taken, and nothing is left.
func TestHostile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.hostile()
	w.must(os.MkdirAll(w.at("host"), 0o700))
	for want, f := range all {
		l := loadOf(f.kind, f.b)
		err := l.Check()
		if err == nil || f.kind == Bundle && l.Ref == "" {
			w.write("load", string(f.b))
			_, err = l.Unpack(t.Context(), w.at("load"), w.at("host/x"))
		}
		var said interface{ StatusCode() int }
		if !errors.As(err, &said) || said.StatusCode() >= 500 {
			t.Errorf("%s: %v", want, err)
		} else if f.kind == Bundle && !strings.Contains(err.Error(), want) && !strings.Contains(want, "branch \"refs/heads/a..b") {
			t.Errorf("%s: it says %v", want, err)
		}
		if list, _ := os.ReadDir(w.at("host")); len(list) > 0 {
			t.Errorf("%s: left %v", want, list)
		}
	}
	if _, err := os.Lstat(w.at("out")); err == nil {
		t.Error("a file was written outside")
	}
	l := loadOf(Bundle, all["more than one branch"].b)
	for name, change := range map[string]func(*Load){
		"size": func(l *Load) { l.Size++ }, "digest": func(l *Load) { l.Digest = "sha256:" + strings.Repeat("0", 64) }, "less": func(l *Load) { l.Size-- },
	} {
		other := l
		change(&other)
		err := other.Receive(bytes.NewReader(all["more than one branch"].b), w.at("received"))
		if !errors.Is(err, filetree.ErrInvalid) || !strings.HasPrefix(w.read("received"), "!") {
			t.Errorf("another %s: %v", name, err)
		}
		if _, err := io.Copy(io.Discard, other.Reader(bytes.NewReader(all["more than one branch"].b))); !errors.Is(err, filetree.ErrInvalid) {
			t.Errorf("another %s, read: %v", name, err)
		}
	}
	for name, bad := range map[string]Load{
		"kind": {Kind: "zip"}, "size": {Kind: Archive, Size: -1}, "large": {Kind: Archive, Size: MaxSize + 1}, "digest": {Kind: Archive, Size: 1, Digest: "md5:0"},
		"ref": {Kind: Bundle, Ref: "refs/heads/a:refs/heads/main", Commit: strings.Repeat("a", 40)}, "commit": {Kind: Bundle, Ref: "refs/heads/a", Commit: "--exec"},
	} {
		if err := bad.Check(); err == nil {
			t.Errorf("a bad %s is taken", name)
		}
	}
}

// FuzzUnpack: whatever a file is, what comes of it is in its directory, whole, or not at all.
func FuzzUnpack(f *testing.F) {
	w := newWorld(f)
	for _, file := range w.hostile() {
		f.Add(file.kind == Bundle, file.b)
	}
	w.git("app", "bundle", "create", "-q", w.at("b"), "main")
	f.Add(true, []byte(w.read("b")))
	f.Add(false, tarOf(f, tar.Header{Name: "a/", Typeflag: tar.TypeDir}, tar.Header{Name: "a/b", Typeflag: tar.TypeReg}, tar.Header{Name: ".git/config", Typeflag: tar.TypeReg}))
	f.Fuzz(func(t *testing.T, bundle bool, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		dir := t.TempDir()
		kind := Archive
		if bundle {
			kind = Bundle
		}
		l := loadOf(kind, b)
		file := filepath.Join(dir, "load")
		if err := l.Receive(bytes.NewReader(b), file); err != nil {
			t.Fatal(err)
		}
		words, err := l.Unpack(context.Background(), file, filepath.Join(dir, "x"))
		list, _ := os.ReadDir(dir)
		switch {
		case err != nil && (words != "" || len(list) != 1):
			t.Errorf("refused (%v), and there are %q and %v", err, words, list)
		case err == nil && len(list) != 2:
			t.Errorf("there are %v", list)
		}
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error { //nolint:errcheck // nothing fails
			if kind == Archive && filetree.IsGit(filepath.Base(path)) {
				t.Errorf("git's own came along: %s", path)
			}
			return nil
		})
	})
}
