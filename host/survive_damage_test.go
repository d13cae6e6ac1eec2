package host_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/client"
)

// spoil fetches every file that the keeper has and gives it to f, mapped, while
// no host lives.
func (m *mortal) spoil(f func(name string, mem []byte)) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	k, err := keeper.Dial(ctx, filepath.Join(m.dir, "run", listen.KeeperName))
	if err != nil {
		m.t.Fatal(err)
	}
	defer k.Close()
	files, err := k.Files(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, info := range files {
		file, err := k.Fetch(ctx, info.Name)
		if err != nil {
			m.t.Fatal(err)
		}
		mem, err := unix.Mmap(int(file.Fd()), 0, int(info.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			m.t.Fatal(err)
		}
		f(info.Name, mem)
		unix.Munmap(mem)
		file.Close()
	}
}

// shellAt makes a shell that prints and waits, and gives its pid.
func (m *mortal) shellAt(c *client.Client, mirror *client.Mirror, uri ahp.URI) {
	m.t.Helper()
	m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: c.ClientID()}, Name: "shell " + uri,
		Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", `echo before; while read x; do echo "got $x"; done`}},
	}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Subscribe(ctx, uri); err != nil {
		m.t.Fatal(err)
	}
	m.shows(mirror, uri, "before")
}

func (m *mortal) shows(mirror *client.Mirror, uri ahp.URI, what string) {
	m.t.Helper()
	m.until(fmt.Sprintf("%s shows %q", uri, what), func() bool {
		s, _ := mirror.Terminal(uri)
		return strings.Contains(text(s), what)
	})
}

func (m *mortal) types(c *client.Client, uri ahp.URI, what string) {
	m.t.Helper()
	m.until("it is typed", func() bool {
		_, err := c.Dispatch(uri, ahp.TerminalInput{Data: what})
		return err == nil
	})
}

// TestDamagedJournals: whatever bytes of the journals are flipped, zeroed or made
// noise while no host lives, the next one starts, has every terminal, and goes on
// with each of its programs.
func TestDamagedJournals(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	c, mirror := m.client("owner")
	uris := []ahp.URI{"ahp-terminal:/a", "ahp-terminal:/b", "ahp-terminal:/c"}
	for _, uri := range uris {
		m.shellAt(c, mirror, uri)
	}
	rnd := rand.New(rand.NewPCG(11, 2))
	ways := []func(mem []byte){
		func(mem []byte) { // single bits of what is in use
			for range 40 {
				if at := rnd.IntN(len(mem)); mem[at] != 0 {
					mem[at] ^= 1 << rnd.IntN(8)
				}
			}
		},
		func(mem []byte) { clear(mem) },
		func(mem []byte) { // a stretch of noise
			at := rnd.IntN(len(mem) - 4096)
			for i := range 4096 {
				mem[at+i] = byte(rnd.Uint32())
			}
		},
		func(mem []byte) { // every word that is not zero, with a chance
			for at := 0; at < len(mem); at += 8 {
				if mem[at] != 0 && rnd.IntN(20) == 0 {
					mem[at]++
				}
			}
		},
		func(mem []byte) { clear(mem[4096:]) },
	}
	for round := range 10 {
		m.kill()
		m.spoil(func(_ string, mem []byte) { ways[round%len(ways)](mem) })
		m.revive()
		c.Retry()
		var r ahp.HostResult
		m.call(c, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r)
		if r.Terminals != len(uris) {
			t.Fatalf("round %d: %d terminals", round, r.Terminals)
		}
		for _, uri := range uris {
			mark := fmt.Sprintf("mark-%d", round)
			m.types(c, uri, mark+"\n")
			m.shows(mirror, uri, "got "+mark)
		}
	}
	for _, uri := range uris {
		s, _ := mirror.Terminal(uri)
		if s.Title != "shell "+uri || s.Claim.ClientID != "owner" {
			t.Errorf("%s: %q, %+v", uri, s.Title, s.Claim)
		}
	}
	m.leaveNothing(c)
}

// TestWithoutJournals: children of a keeper that knows nothing but them come back
// as terminals that can be used, with a line that says what is lost.
func TestWithoutJournals(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	c, mirror := m.client("owner")
	const uri = "ahp-terminal:/only"
	m.shellAt(c, mirror, uri)
	m.kill()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	k, err := keeper.Dial(ctx, filepath.Join(m.dir, "run", listen.KeeperName))
	if err != nil {
		t.Fatal(err)
	}
	files, err := k.Files(ctx)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		if err := k.Discard(ctx, f.Name); err != nil {
			t.Fatal(err)
		}
	}
	k.Close()
	m.revive()
	c.Retry()
	m.shows(mirror, uri, "[tandemux: ")
	m.types(c, uri, "x\n")
	m.shows(mirror, uri, "got x")
	s, _ := mirror.Terminal(uri)
	if s.Title != "shell "+uri || s.Claim.ClientID != "owner" || strings.Contains(text(s), "before") {
		t.Errorf("%+v", s)
	}
	m.leaveNothing(c)
}

// TestDisposedThenKilled: a terminal that is disposed of, or about to be made,
// when the host dies is there as a whole or not at all.
func TestDisposedThenKilled(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	c, mirror := m.client("owner")
	rnd := rand.New(rand.NewPCG(4, 4))
	for i := range 8 {
		uri := fmt.Sprint("ahp-terminal:/x", i)
		m.shellAt(c, mirror, uri)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		done := make(chan error, 1)
		go func() {
			done <- c.Call(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
		}()
		time.Sleep(time.Duration(rnd.IntN(3000)) * time.Microsecond)
		m.kill()
		disposed := <-done == nil
		cancel()
		m.revive()
		c.Retry()
		m.until("the terminal is there or gone", func() bool {
			var r ahp.ReadResult
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			err := c.Call(ctx, ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadScreen}, &r)
			switch {
			case err == nil && disposed:
				t.Fatalf("%s is back", uri)
			case err == nil:
				return c.Call(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil) == nil
			}
			return ahp.CodeOf(ahp.FromRPC(err)) == ahp.CodeNotFound || ahp.CodeOf(err) == ahp.CodeNotFound
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	m.until("the processes are gone", func() bool {
		text, err := os.ReadFile(filepath.Join(m.dir, "host.log"))
		return err == nil && len(text) > 0 && m.children(ctx, c) == 0
	})
	m.leaveNothing(c)
}

// children counts the keeper's processes, by who has it for a parent.
func (m *mortal) children(ctx context.Context, c *client.Client) int {
	m.t.Helper()
	var r ahp.HostResult
	if err := c.Call(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r); err != nil {
		return -1
	}
	list, err := filepath.Glob("/proc/[0-9]*") // with /stat behind, it would list each process's directory
	if err != nil {
		m.t.Fatal(err)
	}
	n := 0
	for _, dir := range list {
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == fmt.Sprint(r.KeeperPid) {
			n++
		}
	}
	return n
}
