package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/leak"
)

// TestMain looks for goroutines that hooks left.
func TestMain(m *testing.M) {
	before := leak.Now()
	code := m.Run()
	if left := leak.Wait(before, 5*time.Second); code == 0 && len(left) > 0 {
		fmt.Printf("%d goroutines are left:\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// until waits for a state.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// events are those that a program wrote into a file.
func events(t *testing.T, path string) (all []Event) {
	t.Helper()
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		var e Event
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

// TestSlowHook: a hook that is too slow is in nobody's way; it misses the oldest events, is
// told how many, and gets the others in order. What a layout has become is told once.
func TestSlowHook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gate, out := filepath.Join(dir, "gate"), filepath.Join(dir, "out")
	hs := New(slog.New(slog.DiscardHandler))
	defer hs.Close()
	hs.Set(Tables{"slow": {On: []string{Bell, Layout}, Timeout: time.Minute, Run: []string{
		"sh", "-c", `until test -e "$0"; do sleep 0.01; done; { cat; echo; } >>"$1"`, gate, out,
	}}})
	if hs.Wants(Command) || !hs.Wants(Bell) {
		t.Error("what it wants is not what it asks for")
	}
	const n = 1000
	hs.Tell(Event{Event: Bell, At: ahp.InstantOf(1)})
	q := hs.all["slow"]
	until(t, "the first is with the program", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return len(q.waiting) == 0
	})
	for i := range n {
		hs.Tell(Event{Event: Bell, At: ahp.InstantOf(int64(i + 2))})
	}
	for range 10 {
		hs.Tell(Event{Event: Layout, Layout: "main", At: ahp.InstantOf(n + 2)})
	}
	os.WriteFile(gate, nil, 0o600) //nolint:errcheck // then the test fails
	var got []Event
	until(t, "all are told", func() bool { got = events(t, out); return len(got) == maxWaiting+1 })
	if d := got[1].Dropped; d != n+1-maxWaiting || got[1].At != ahp.InstantOf(int64(d+2)) {
		t.Errorf("the second says that %d were dropped, and is of %s", d, got[1].At)
	}
	if !slices.IsSortedFunc(got, func(a, b Event) int { return strings.Compare(string(a.At), string(b.At)) }) || got[maxWaiting].Event != Layout {
		t.Error("they are not in order")
	}
}

// TestHookThatHangs: one that does not end in its time is ended with its children, as is
// one that is taken out of the configuration.
func TestHookThatHangs(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	hang := Hook{On: []string{Bell}, Timeout: 200 * time.Millisecond, Run: []string{"sh", "-c", `sleep 1000 & echo $! >"$0"; wait`, pid}}
	gone := func() bool {
		text, _ := os.ReadFile(pid)
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(string(text))))
		return len(text) > 0 && (err != nil || bytes.Contains(stat, []byte(") Z ")))
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc to look for processes in")
	}
	begun := func() bool { text, _ := os.ReadFile(pid); return len(text) > 0 }
	for ; !begun() && hang.Timeout < time.Minute; hang.Timeout *= 2 { // a busy machine takes longer until it has a child
		err := hang.send(context.Background(), "msg_1", Event{Event: Bell})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("longer than %v", hang.Timeout)) {
			t.Errorf("it failed with %v", err)
		}
	}
	until(t, "its child is gone", gone)
	os.Remove(pid) //nolint:errcheck // then the test fails
	hang.Timeout = time.Hour
	hs := New(slog.New(slog.DiscardHandler))
	hs.Set(Tables{"hang": hang})
	hs.Tell(Event{Event: Bell})
	until(t, "it runs", begun)
	hs.Close()
	until(t, "its child is gone", gone)
}

// TestAddress: an event is sent once it is taken, with the same id for each attempt, signed
// as Standard Webhooks say (U95).
func TestAddress(t *testing.T) {
	had := pauses
	pauses = []time.Duration{time.Millisecond, time.Millisecond}
	defer func() { pauses = had }()
	secret := bytes.Repeat([]byte("k"), 32)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("whsec_"+base64.StdEncoding.EncodeToString(secret)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var ids []string
	answers := []int{503, 429, 204}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var body bytes.Buffer
		body.ReadFrom(r.Body) //nolint:errcheck // then the signature is wrong
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp"), body.Bytes())
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("Webhook-Signature") != want || r.Method != http.MethodPost {
			t.Errorf("%s with signature %q, want %q", r.Method, r.Header.Get("Webhook-Signature"), want)
		}
		ids = append(ids, r.Header.Get("Webhook-Id"))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(answers[min(len(ids)-1, len(answers)-1)])
	}))
	defer s.Close()
	defer calls.CloseIdleConnections()
	said := func() int { mu.Lock(); defer mu.Unlock(); return len(ids) }
	hs := New(slog.New(slog.DiscardHandler))
	defer hs.Close()
	hs.Set(Tables{"team": {On: []string{Turn}, URL: s.URL, KeyFile: key, Timeout: time.Minute}})
	hs.Tell(Event{Event: Turn, At: ahp.InstantOf(1)})
	until(t, "it has arrived", func() bool { return said() == 3 })
	hs.Tell(Event{Event: Turn, At: ahp.InstantOf(2)})
	until(t, "the next has", func() bool { return said() == 4 })
	if ids[0] != ids[2] || ids[0] == ids[3] || !strings.HasPrefix(ids[0], "msg_") {
		t.Errorf("the ids are %v", ids)
	}

	// What another attempt would not change is not tried again; a redirection is not followed.
	h := hs.all["team"]
	for _, code := range []int{400, 307, 410} {
		mu.Lock()
		answers, ids = []int{code}, nil
		mu.Unlock()
		if err := h.send(t.Context(), Event{Event: Turn, At: ahp.InstantOf(3)}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(code)) || said() != 1 {
			t.Errorf("%d: %v after %d attempts", code, err, said())
		}
	}

	// A key that others may read, or that is none, signs nothing.
	os.Chmod(key, 0o644) //nolint:errcheck // then the test fails
	ids = nil
	if err := h.hook.send(t.Context(), "msg_1", Event{Event: Turn, At: ahp.InstantOf(4)}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others may read: %v", err)
	}
	os.WriteFile(key, []byte("whsec_c2hvcnQ="), 0o600) //nolint:errcheck // as well
	os.Chmod(key, 0o600)                               //nolint:errcheck // as well
	if err := h.hook.send(t.Context(), "msg_1", Event{Event: Turn, At: ahp.InstantOf(4)}); err == nil || !strings.Contains(err.Error(), "holds no key") || strings.Contains(err.Error(), "c2hv") {
		t.Errorf("a key that is too short: %v", err)
	}
	if said() != 0 {
		t.Error("it was sent all the same")
	}
}

// TestSettings: what a table may hold, and what is said of what it may not.
func TestSettings(t *testing.T) {
	t.Parallel()
	list := func(s ...any) []any { return s }
	for name, c := range map[string]struct {
		raw  any
		says string
	}{
		"good":        {map[string]any{"on": list("bell"), "run": list("true"), "timeout": int64(3)}, ""},
		"an address":  {map[string]any{"on": list("bell", "turn"), "url": "https://x.org/a", "key-file": "/k"}, ""},
		"no table":    {"x", "must be a table"},
		"no events":   {map[string]any{"run": list("true")}, "needs `on`"},
		"no event":    {map[string]any{"on": list("bel"), "run": list("true")}, `"bel" is no event; did you mean "bell"?`},
		"nothing":     {map[string]any{"on": list("bell")}, "needs `run` or `url`"},
		"both":        {map[string]any{"on": list("bell"), "run": list("true"), "url": "http://x"}, "one of them"},
		"a key":       {map[string]any{"on": list("bell"), "run": list("true"), "key-file": "/k"}, "for a `url`"},
		"a text":      {map[string]any{"on": list("bell"), "run": "true"}, "must be a program"},
		"NUL":         {map[string]any{"on": list("bell"), "run": list("a\x00")}, "must be a program"},
		"no address":  {map[string]any{"on": list("bell"), "url": "ftp://x"}, "must be an address"},
		"no path":     {map[string]any{"on": list("bell"), "url": "http://x", "key-file": "k"}, "absolute path"},
		"no time":     {map[string]any{"on": list("bell"), "run": list("true"), "timeout": int64(0)}, "1 to 600"},
		"what is not": {map[string]any{"onn": list("bell")}, `did you mean "on"?`},
	} {
		var all Tables
		_, err := all.Set(map[string]any{"h": c.raw})
		switch {
		case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", name, err, c.says)
		case err == nil && len(all["h"].On) == 0:
			t.Errorf("%s is read as nothing", name)
		}
	}
}
