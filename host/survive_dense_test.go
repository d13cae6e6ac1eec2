package host_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/soak"
)

func init() { roles["dense"] = denseRole }

// denseLine is line n of a kind whose styles are many times as large as its text,
// and that text.
func denseLine(kind string, n int) (line, text string) {
	var styled, plain strings.Builder
	put := func(before, word, after string) {
		styled.WriteString(before + word + after)
		plain.WriteString(word)
	}
	put("", fmt.Sprint("n", n, " "), "")
	switch kind {
	case "tokens":
		for i := range 36 {
			put(fmt.Sprintf("\x1b[38;2;%d;%d;%dm", n%256, i*7, (n*i)%256), "a ", "")
		}
	case "cells":
		for i := range 70 {
			put(fmt.Sprintf("\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dm", n%256, i, n/256, i, n%256, 7), "#", "")
		}
	case "links":
		for i := range 12 {
			put(fmt.Sprintf("\x1b]8;;https://example.org/%d/%d\x1b\\", n, i), "link", "\x1b]8;;\x1b\\ ")
			plain.WriteString(" ")
		}
	case "emoji":
		for range 30 {
			put("", "👩‍👩‍👧‍👦", "")
		}
	}
	return styled.String() + "\x1b[m", strings.TrimRight(plain.String(), " ")
}

// denseRole prints as many such lines as its last argument says, of the kind before
// it, and stays.
func denseRole() {
	kind, count := os.Args[len(os.Args)-2], os.Args[len(os.Args)-1]
	n, _ := strconv.Atoi(count)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	for i := range n {
		line, _ := denseLine(kind, i)
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out, "printed")
	out.Flush()
	bufio.NewScanner(os.Stdin).Scan()
}

// TestDenseHistory: history with many styles, links and clusters, which is far
// larger serialised than any message, is all there after kill -9 of the host and
// after another one has taken over on purpose, styles and links too; and so is what
// is printed while the host is killed.
func TestDenseHistory(t *testing.T) {
	soak.Long(t, "megabytes of history")
	if slow {
		t.Skip("megabytes of output take long in this build; what it covers is no race")
	}
	t.Parallel()
	lines := soak.Size(t, soak.Short(150, 500), 2000)
	m := startMortal(t)
	c, _ := m.client("owner")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"tokens", "cells", "links", "emoji"}
	create := func(uri, kind string, n int) {
		t.Helper()
		m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "owner"}, Cols: 80, Rows: 24,
			Meta: &ahp.CreateMeta{Command: []string{"env", roleEnv + "=dense", self, kind, strconv.Itoa(n)}},
		}, nil)
	}
	printed := func(uri string) {
		t.Helper()
		var r ahp.WaitResult
		m.call(c, ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "^printed", Past: true, TimeoutMs: patience.Milliseconds()}, &r)
		if r.Reason != ahp.WaitMet {
			t.Fatalf("%s: %+v", uri, r)
		}
	}
	for _, kind := range kinds {
		create("ahp-terminal:/"+kind, kind, lines)
	}
	styled := map[string]string{}
	for _, kind := range kinds {
		printed("ahp-terminal:/" + kind)
		styled[kind] = m.read(c, "ahp-terminal:/"+kind, ahp.ReadRaw)
	}
	check := func(when string) {
		t.Helper()
		for _, kind := range kinds {
			uri := "ahp-terminal:/" + kind
			want := make([]string, lines, lines+1)
			for i := range want {
				_, want[i] = denseLine(kind, i)
			}
			want = append(want, "printed")
			got := strings.Split(strings.TrimRight(m.read(c, uri, ahp.ReadHistory), "\n"), "\n")
			if i := slices.IndexFunc(want, func(s string) bool { return len(got) == 0 || got[0] == s }); len(got) != len(want) {
				t.Errorf("%s, %s: %d lines, want %d; the first is line %d: %q", when, kind, len(got), len(want), i, got[0])
			} else if !slices.Equal(got, want) {
				t.Errorf("%s, %s: the lines differ", when, kind)
			}
			if m.read(c, uri, ahp.ReadRaw) != styled[kind] {
				t.Errorf("%s, %s: what is read raw differs", when, kind)
			}
		}
	}
	check("before")
	m.kill()
	m.revive()
	check("after kill -9")
	m.call(c, ahp.MethodYield, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	m.cmd.Wait()
	m.revive()
	check("after another host took over")

	create("ahp-terminal:/flood", "cells", 2*lines)
	for range 4 {
		m.kill()
		m.revive()
	}
	printed("ahp-terminal:/flood")
	text := m.read(c, "ahp-terminal:/flood", ahp.ReadHistory)
	for i, got := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		n := i + 2*lines + 1 - strings.Count(text, "\n")
		if _, want := denseLine("cells", n); got != want && got != "printed" {
			t.Fatalf("killed while it printed: line %d is %q, want %q", i, got, want)
		}
	}
	m.leaveNothing(c)
}

// TestHistoryOverLimit: history that is more than a journal may be is said to be at
// stake, and after a crash a line says how much of it is missing.
func TestHistoryOverLimit(t *testing.T) {
	if slow {
		t.Skip("megabytes of output take long in this build; what it covers is no race")
	}
	t.Parallel()
	soak.Long(t, "megabytes of output")
	const lines, uri = 4000, "ahp-terminal:/over"
	m := startMortalWith(t, 2<<20)
	c, _ := m.client("owner")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "owner"}, Cols: 80, Rows: 24,
		Meta: &ahp.CreateMeta{Command: []string{"env", roleEnv + "=dense", self, "cells", strconv.Itoa(lines)}},
	}, nil)
	m.until("the host says what would be lost", func() bool {
		var r ahp.HostResult
		m.call(c, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r)
		return strings.Contains(r.Losing, uri) && strings.Contains(r.Warning, r.Losing) && strings.Contains(m.read(c, uri, ahp.ReadScreen), "printed")
	})
	m.kill()
	m.revive()
	text := m.read(c, uri, ahp.ReadHistory)
	kept, missing := 0, 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "n"):
			kept++
		case strings.HasPrefix(line, "[tandemux: "):
			n := 0
			fmt.Sscanf(line, "[tandemux: %d lines of history are missing", &n)
			missing += n
		}
	}
	if missing == 0 || kept+missing != lines {
		t.Errorf("%d lines are left and %d are said to be missing, of %d:\n%.2000s", kept, missing, lines, text)
	}
}

// read is what a terminal can be read as, also while hosts change.
func (m *mortal) read(c *client.Client, uri, what string) string {
	m.t.Helper()
	c.Retry()
	var r ahp.ReadResult
	m.call(c, ahp.MethodRead, ahp.ReadParams{Channel: uri, What: what}, &r)
	return r.Text
}
