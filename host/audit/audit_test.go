package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"tandemux/ahp"
)

func auditor(t *testing.T, clock *manualClock) (*Log, func() []map[string]any) {
	t.Helper()
	dir := t.TempDir()
	a, err := Open(dir, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, func() []map[string]any {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, "audit.log"))
		if err != nil {
			t.Fatal(err)
		}
		var lines []map[string]any
		for line := range strings.Lines(string(text)) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("a line that a terminal would obey: %q", line)
			}
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			lines = append(lines, m)
		}
		return lines
	}
}

// TestAuditEscapes: what is noted is kept, and harmless when printed.
func TestAuditEscapes(t *testing.T) {
	a, lines := auditor(t, &manualClock{time.Unix(1e9, 0)})
	const evil = "a\x1b[31m\x07\u009b1m\x7f\u202ereversed\u2028\U000e0001\"\\ü\n"
	a.Did(By{Principal: "operator", Client: "c"}, "create", "ahp-terminal:/x", "name", evil)
	a.Did(By{Principal: "operator"}, "create", "bad\xff\xfeutf8")
	got := lines()
	if len(got) != 2 || got[0]["name"] != evil || got[0]["principal"] != "operator" || got[0]["client"] != "c" || got[0]["channel"] != "ahp-terminal:/x" {
		t.Errorf("got %q", got)
	}
}

// TestAuditRefusals: refusals are bounded in number, what is done is not; the
// gap is said.
func TestAuditRefusals(t *testing.T) {
	clock := &manualClock{time.Unix(1e9, 0)}
	a, lines := auditor(t, clock)
	c := By{Principal: "token:x"}
	for i := range 10_000 {
		clock.t = clock.t.Add(time.Millisecond)
		a.Refused(c, "subscribe", ahp.URI(fmt.Sprint(i)), strings.Repeat("r", 2000))
	}
	a.Did(c, "create", "ahp-terminal:/x")
	got := lines()
	if n := len(got); n < refusalBurst || n > refusalBurst+5 || got[n-1]["msg"] != "create" {
		t.Fatalf("%d lines, the last is %v", n, got[n-1])
	}
	if r := got[0]["refused"].(string); len(r) != maxReason {
		t.Errorf("a reason of %d bytes", len(r))
	}
	clock.t = clock.t.Add(time.Hour)
	a.Refused(c, "subscribe", "later", "no")
	got = lines()
	if last := got[len(got)-1]; last["channel"] != "later" || last["suppressed before"].(float64) < 9000 {
		t.Errorf("after a while: %v", last)
	}
	// The same one again is noted once a second.
	before := len(got)
	for range 5 {
		a.TurnedAway("192.0.2.1:1", "no")
	}
	clock.t = clock.t.Add(time.Minute)
	a.TurnedAway("192.0.2.1:1", "no")
	if n := len(lines()) - before; n != 2 {
		t.Errorf("%d lines of 6", n)
	}
	// Failures of one address: 1, 2, 4, 8, 16.
	before = len(lines())
	clock.t = clock.t.Add(time.Hour)
	for i := range 20 {
		a.Failed("192.0.2.9:7", "unknown token", i+1)
		clock.t = clock.t.Add(2 * time.Second)
	}
	if n := len(lines()) - before; n != 5 {
		t.Errorf("%d lines of 20 failures", n)
	}
	// A token that connects often from one address.
	before = len(lines())
	for i := range 10 {
		a.Connected("token:x", fmt.Sprintf("192.0.2.9:%d", i))
	}
	if n := len(lines()) - before; n != 1 {
		t.Errorf("%d lines of 10 connections", n)
	}
}

// TestAuditRotates: two files of bounded size, private, also when the file was
// open to others, or has become unusable meanwhile.
func TestAuditRotates(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	f := &file{path: path, most: 1000}
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("x", 99) + "\n")
	for range 95 {
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int64{path: 500, path + ".1": 1000} {
		info, err := os.Stat(name)
		if err != nil || info.Size() != want || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	// Rotation fails: nothing is lost but the line, and later ones are tried.
	if err := os.Remove(path + ".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for range 10 {
		if _, err := f.Write(line); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no write failed")
	}
	if err := os.RemoveAll(path + ".1"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(line); err != nil {
		t.Errorf("with the way free: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(line); err == nil {
		t.Error("a closed file was written")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, time.Now); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a file that others can write: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, time.Now); err == nil {
		t.Error("a symbolic link was followed")
	}
}

type manualClock struct{ t time.Time }

func (c *manualClock) now() time.Time { return c.t }
