package host

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

func auditor(t *testing.T, clock *fakeClock) (*audit, func() []map[string]any) {
	t.Helper()
	dir := t.TempDir()
	a, err := openAudit(dir, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.close() })
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
	a, lines := auditor(t, &fakeClock{time.Unix(1e9, 0)})
	const evil = "a\x1b[31m\x07\u009b1m\x7f\u202ereversed\u2028\U000e0001\"\\ü\n"
	a.did(&conn{principal: operator, client: &client{id: "c"}}, "create", "ahp-terminal:/x", "name", evil)
	a.did(&conn{principal: operator}, "create", "bad\xff\xfeutf8")
	got := lines()
	if len(got) != 2 || got[0]["name"] != evil || got[0]["principal"] != "operator" || got[0]["client"] != "c" || got[0]["channel"] != "ahp-terminal:/x" {
		t.Errorf("got %q", got)
	}
}

// TestAuditRefusals: refusals are bounded in number, what is done is not; the
// gap is said.
func TestAuditRefusals(t *testing.T) {
	clock := &fakeClock{time.Unix(1e9, 0)}
	a, lines := auditor(t, clock)
	c := &conn{principal: &principal{id: "token:x"}}
	for i := range 10_000 {
		clock.t = clock.t.Add(time.Millisecond)
		a.refused(c, "subscribe", ahp.URI(fmt.Sprint(i)), strings.Repeat("r", 2000))
	}
	a.did(c, "create", "ahp-terminal:/x")
	got := lines()
	if n := len(got); n < refusalBurst || n > refusalBurst+5 || got[n-1]["msg"] != "create" {
		t.Fatalf("%d lines, the last is %v", n, got[n-1])
	}
	if r := got[0]["refused"].(string); len(r) != maxReason {
		t.Errorf("a reason of %d bytes", len(r))
	}
	clock.t = clock.t.Add(time.Hour)
	a.refused(c, "subscribe", "later", "no")
	got = lines()
	if last := got[len(got)-1]; last["channel"] != "later" || last["suppressed before"].(float64) < 9000 {
		t.Errorf("after a while: %v", last)
	}
	// The same one again is noted once a second.
	before := len(got)
	for range 5 {
		a.turnedAway("192.0.2.1:1", "no")
	}
	clock.t = clock.t.Add(time.Minute)
	a.turnedAway("192.0.2.1:1", "no")
	if n := len(lines()) - before; n != 2 {
		t.Errorf("%d lines of 6", n)
	}
	// Failures of one address: 1, 2, 4, 8, 16.
	before = len(lines())
	clock.t = clock.t.Add(time.Hour)
	for i := range 20 {
		a.failed("192.0.2.9:7", "unknown token", i+1)
		clock.t = clock.t.Add(2 * time.Second)
	}
	if n := len(lines()) - before; n != 5 {
		t.Errorf("%d lines of 20 failures", n)
	}
	// A token that connects often from one address.
	before = len(lines())
	for i := range 10 {
		a.connected(&principal{id: "token:x", token: "x"}, fmt.Sprintf("192.0.2.9:%d", i))
		a.connected(operator, "@")
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
	f := &auditFile{path: path, most: 1000}
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
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", path); err != nil {
		t.Fatal(err)
	}
	if _, err := openAudit(dir, time.Now); err == nil {
		t.Error("a symbolic link was followed")
	}
}

// TestBindings: bounded, each principal by its own share, kept in the file,
// which may be damaged.
func TestBindings(t *testing.T) {
	dir := t.TempDir()
	b, err := openBindings(dir)
	if err != nil {
		t.Fatal(err)
	}
	bind := func(id, p string) {
		t.Helper()
		if err := b.bind(id, p); err != nil {
			t.Fatal(err)
		}
	}
	bind("tui", "operator")
	for i := range maxBindings {
		bind(fmt.Sprint("flood-", i), "token:evil")
	}
	if b.owner["tui"] != "operator" || len(b.owner) != 1+maxBindings/4 || b.owner["flood-0"] != "" || b.owner[fmt.Sprint("flood-", maxBindings-1)] != "token:evil" {
		t.Errorf("after a flood: tui is %q's, %d bindings", b.owner["tui"], len(b.owner))
	}
	for p := range 8 {
		for i := range maxBindings / 4 {
			bind(fmt.Sprint(p, "-", i), fmt.Sprint("token:", p))
		}
	}
	if b.owner["tui"] != "operator" || len(b.owner) > maxBindings {
		t.Errorf("after a concerted flood: tui is %q's, %d bindings", b.owner["tui"], len(b.owner))
	}
	bind("tui", "token:new") // once the old owner is no more
	b.close()
	f, err := os.OpenFile(filepath.Join(dir, "clients"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("[\"half") //nolint:errcheck // the test would fail below
	f.Close()
	for range 2 { // The first time it is written anew.
		again, err := openBindings(dir)
		if err != nil {
			t.Fatal(err)
		}
		if again.owner["tui"] != "token:new" || len(again.owner) < maxBindings/2 || again.owner["half"] != "" {
			t.Errorf("read again: tui is %q's, %d bindings", again.owner["tui"], len(again.owner))
		}
		again.close()
	}
	info, err := os.Stat(filepath.Join(dir, "clients"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 1<<20 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "clients"), []byte("\x00\n[1,2]\n[]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := openBindings(dir); err != nil || len(b.owner) != 0 {
		t.Errorf("a damaged file: %v, %v", b.owner, err)
	} else {
		b.close()
	}
}
