package diff

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// written is a text's lines as a patch has them, with their numbers.
func written(t *Text) string {
	var b strings.Builder
	for _, l := range t.Lines {
		fmt.Fprintf(&b, "%d %d %c%s", l.Old, l.New, l.Kind, l.Text)
		if l.Bare {
			b.WriteString(" (bare)")
		}
		b.WriteString("\n")
	}
	return b.String() + t.Left
}

// TestCompare: all lines of both sides, with their numbers.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, now, want string }{
		{"", "", ""},
		{"a\nb\nc\n", "a\nB\nc\n", "1 1  a\n2 0 -b\n0 2 +B\n3 3  c\n"},
		{"", "a\nb", "0 1 +a\n0 2 +b (bare)\n"},
		{"a\n-- b\n", "", "1 0 -a\n2 0 --- b\n"},
		{"a", "a\n", "1 0 -a (bare)\n0 1 +a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n12", "0 1 +0\n1 2  1\n2 3  2\n3 4  3\n4 5  4\n5 6  5\n6 7  6\n7 8  7\n8 9  8\n9 10  9\n10 11  10\n11 0 -11\n12 12  12 (bare)\n"},
		{"a\x00", "b", "binary: 2 bytes before, 1 byte now"},
		{"", strings.Repeat("x", maxSide+1), "too large to be compared here: 0 bytes before, 2097153 bytes now"},
	} {
		if got := written(Compare([]byte(c.before), []byte(c.now))); got != c.want {
			t.Errorf("%.20q, %.20q:\n%s\nwant\n%s", c.before, c.now, got, c.want)
		}
	}
}

// TestLargeText: what is alike goes first, then what is too much, and that is said.
func TestLargeText(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("same\n", maxLines)
	if x := Compare([]byte(many+"a\n"), []byte(many+"b\n")); len(x.Lines) != around+2 || x.Left != "" {
		t.Errorf("%d lines, %q", len(x.Lines), x.Left)
	}
	if x := Compare(nil, []byte(many+many)); len(x.Lines) != maxLines || x.Left != "20000 more lines of changes left out" {
		t.Errorf("%d lines, %q", len(x.Lines), x.Left)
	}
}

// TestPatch: what git writes is read, names with special characters too.
func TestPatch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@x"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("a b.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	write("gone", "x\n")
	write("old", "1\n2\n3\n4\n5\n")
	write("bin", "a\x00")
	write("tab\t\"é\n", "q")
	git("add", "-A")
	git("commit", "-qm", "one")
	write("a b.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	git("mv", "old", "new name")
	write("new name", "1\n2\n3\n4\n5\n-- six\n")
	write("bin", "b\x00")
	write("tab\t\"é\n", "diff --git a/x b/x\n")
	git("add", "-A")
	patch := git("diff", "-M", "--cached")
	got := Patch(patch)
	if cut := Patch(patch[:strings.Index(patch, "+nine")]); !strings.Contains(cut["a b.txt"].Left, "not read") {
		t.Errorf("of a patch that is cut short it is not said: %q", cut["a b.txt"].Left)
	}
	for path, want := range map[string]string{
		"a b.txt": "6 6  6\n7 7  7\n8 8  8\n9 0 -9\n0 9 +nine\n", "gone": "1 0 -x\n", "new name": "3 3  3\n4 4  4\n5 5  5\n0 6 +-- six\n",
		"tab\t\"é\n": "1 0 -q (bare)\n0 1 +diff --git a/x b/x\n",
	} {
		if got[path] == nil {
			t.Errorf("%q is missing of %d", path, len(got))
		} else if s := written(got[path]); s != want {
			t.Errorf("%q:\n%s\nwant\n%s", path, s, want)
		}
	}
}

// FuzzPatch: whatever is said to be a patch is read without harm, and drawn.
func FuzzPatch(f *testing.F) {
	f.Add("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-a\n\\ No newline\n+b\n+c\nBinary files a and ")
	f.Add("diff --git \nBinary files x and  differ\n@@ -9999999999999999999,1 +-1 @@\n \n")
	f.Add("diff --git \nBinary files \" and \" differ\nrename to \"\\\n")
	f.Fuzz(func(t *testing.T, patch string) {
		var v View
		for path, text := range Patch(patch) {
			f := File{Key: path, Path: path, Version: "1"}
			v.SetFiles([]File{f}, "")
			v.SetText(f, text)
			v.SetNotes([]Note{{Key: path, First: 1, Last: 2, Quote: "b", Text: "x"}, {Text: path}})
			var c paint.Canvas
			c.Resize(30, 8)
			l := look.New(themes.Theme{}, true, true)
			for range 5 {
				v.Draw(&c, c.Bounds(), &l)
				v.NextHunk(1)
				v.Target()
				v.Open(false)
				v.Context()
				v.Find("b", v.Position())
			}
		}
	})
}

// TestLargeView: drawing a large diff, and moving in it, takes no longer than a person
// notices.
func TestLargeView(t *testing.T) {
	t.Parallel()
	var v View
	var files []File
	for i := range 200 {
		files = append(files, File{Key: fmt.Sprint(i), Path: fmt.Sprintf("dir/%d.go", i), Added: maxLines, Version: "1"})
	}
	v.SetFiles(files, "")
	text := Compare(nil, []byte(strings.Repeat("a line of text that is long enough to be wrapped on a small screen\n", maxLines)))
	v.OpenAll()
	for _, f := range files[:20] {
		v.SetText(f, text)
	}
	var c paint.Canvas
	c.Resize(40, 12)
	l := look.New(themes.Theme{}, true, true)
	begun := time.Now()
	for range 100 {
		v.Page(2)
		v.Draw(&c, c.Bounds(), &l)
	}
	v.Move(1 << 30)
	v.Draw(&c, c.Bounds(), &l)
	if d := time.Since(begun) / 101; d > 20*time.Millisecond {
		t.Errorf("a page takes %v", d)
	}
}
