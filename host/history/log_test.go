package history

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp/find"
	"tandemux/internal/smalldisk"
	"tandemux/internal/statefile"
)

func open(t *testing.T, dir string, most int) *Log {
	t.Helper()
	l := Open(dir, Settings{CommandHistory: most}, slog.New(slog.DiscardHandler))
	t.Cleanup(l.Close)
	return l
}

func past(line string, code int) find.Command {
	return find.Command{Terminal: "ahp-terminal:/a", ID: "c1", CommandLine: line, ExitCode: &code, Cwd: "file:///src"}
}

// found gives the lines that a search finds.
func found(t *testing.T, l *Log, p find.HistoryParams) string {
	t.Helper()
	r, err := l.Find(p)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range r.Items {
		lines = append(lines, c.CommandLine)
	}
	if r.More {
		lines = append(lines, "…")
	}
	return strings.Join(lines, "|")
}

// TestLog: what ran is found, the newest first, by another Log, too, and by nobody else.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, 100)
	l.add(past("make Test", 2))
	elsewhere := past("ls", 0)
	elsewhere.Cwd = "file:///tmp"
	l.add(elsewhere)
	l.add(past(" export SECRET=1", 0))
	l.add(past("\tsecret", 0))
	l.add(past("", 0))
	l.add(past(strings.Repeat("x", maxLine+1), 0))
	l.add(past("make install\n  all", 0))
	l.Close()
	if info, err := os.Stat(filepath.Join(dir, FileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	// A line that was cut by a full disk is left out.
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, `{"terminal":"ahp-ter`)
	f.Close()
	l = open(t, dir, 100)
	l.add(past("last", 0))
	for want, p := range map[string]find.HistoryParams{
		"last|make install\n  all|ls|make Test": {},
		"last|…":                                {Limit: 1},
		"make install\n  all|make Test":         {Words: []string{"MAKE"}},
		"make Test":                             {Words: []string{"test", "make"}},
		"ls":                                    {Cwd: "file:///tmp"},
		"":                                      {Words: []string{"secret"}},
	} {
		if got := found(t, l, p); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
	if got := found(t, l, find.HistoryParams{Failed: true}); got != "make Test" {
		t.Errorf("failed: %q", got)
	}
	l.Set(Settings{})
	if got := found(t, l, find.HistoryParams{}); got != "" {
		t.Errorf("with the option at 0: %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, FileName)); err == nil {
		t.Error("the file is still there")
	}
	l.add(past("later", 0))
	if got := found(t, l, find.HistoryParams{}); got != "" {
		t.Errorf("what ran then: %q", got)
	}
	if got := found(t, nil, find.HistoryParams{}); got != "" {
		t.Errorf("none at all: %q", got)
	}
}

// TestBounds: the file stays near what was asked for.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, 100)
	for i := range 1000 {
		l.add(past(fmt.Sprint("command ", i), 0))
		if i%10 == 0 {
			l.Write()
		}
	}
	r, err := l.Find(find.HistoryParams{Limit: 1 << 20})
	if err != nil || len(r.Items) != 100 || r.Items[0].CommandLine != "command 999" || r.Items[99].CommandLine != "command 900" {
		t.Errorf("%d are kept, %v", len(r.Items), err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, FileName)); err != nil || strings.Count(string(b), "\n") > 136 {
		t.Errorf("the file has %d lines, %v", strings.Count(string(b), "\n"), err)
	}
	// What comes faster than it is written is bounded, too.
	l.file.Lock()
	for i := range 2 * maxWaiting {
		l.add(past(fmt.Sprint("fast ", i), 0))
	}
	l.mu.Lock()
	if n := len(l.waiting); n > maxWaiting {
		t.Errorf("%d wait", n)
	}
	l.mu.Unlock()
	l.file.Unlock()
}

// TestUnwritable: where the file can't be written nothing else fails.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/null", filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, 100)
	l.add(past("ls", 0))
	if _, err := l.Find(find.HistoryParams{}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link in its place: %v", err)
	}
}

// TestFullDisk: what runs while the disk is full is found, is told to be in memory alone, and is written
// when there is room again, once.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if smalldisk.Mount(t, dir, "1m") {
		return
	}
	l := open(t, dir, 100)
	told := make(chan error, 8)
	l.OnFailure(func(err error) { told <- err })
	l.add(past("before", 0))
	if err := l.Write(); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	smalldisk.Fill(t, filler)
	long := []string{strings.Repeat("a", 3000), strings.Repeat("b", 3000)} // a part fits
	l.file.Lock()
	for _, line := range long {
		l.add(past(line, 0))
	}
	l.file.Unlock()
	if err := l.Write(); !statefile.Full(err) {
		t.Errorf("on a full disk: %v", err)
	}
	want := long[1] + "|" + long[0] + "|before"
	for range 2 {
		if got := found(t, l, find.HistoryParams{}); got != want {
			t.Errorf("on a full disk %.20q and %d bytes are found", got, len(got))
		}
	}
	if err := <-told; !statefile.Full(err) {
		t.Errorf("told %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(); err != nil {
		t.Error(err)
	}
	if err := <-told; err != nil {
		t.Errorf("with room again it was told %v", err)
	}
	l.Close()
	if got := found(t, open(t, dir, 100), find.HistoryParams{}); got != want {
		t.Errorf("then %.20q and %d bytes are found", got, len(got))
	}
}
