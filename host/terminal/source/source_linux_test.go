package source

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"tandemux/host/journal"
	"tandemux/internal/pty"
	"tandemux/internal/rawio"
)

// What a pty gives at most says that more follows, and what follows is waited for apart from
// the poller, so that several reads are processed at once.
func TestFloodIsSeen(t *testing.T) {
	fd, slave, err := pty.Pair()
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(uintptr(slave), "slave")
	defer out.Close()
	o := journal.Options{Area: 4096, Slots: 2}
	_, l, err := journal.Create(make([]byte, o.Size()), o)
	if err != nil {
		t.Fatal(err)
	}
	if exact, err := l.Prepare(fd); err != nil || !exact {
		t.Skip("reads are not counted here: ", err)
	}
	in, err := rawio.Open(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	raw, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var s Source
	s.Begin(raw, l, func() bool { return false })
	defer s.End()
	const size = 1 << 20
	go out.Write(make([]byte, size)) //nolint:errcheck // what does not come is waited for
	seen, together, got := 0, 0, 0
	for got < size {
		flowed := s.flows
		if !l.Begin() {
			t.Fatal("no room")
		}
		if _, err := s.Collect(); err != nil {
			t.Fatal(err)
		}
		n := len(l.Chunk()) - journal.Headroom
		if got += n; flowed && n > 2*most {
			together++
		}
		l.Release(l.Pos())
		if n >= most {
			seen++
			if !s.flows {
				t.Fatalf("%d bytes are not taken for a flood", n)
			}
		}
	}
	if seen == 0 {
		t.Skip("a pty gives less at a time here")
	}
	if together == 0 {
		t.Error("each read of a flood is processed alone")
	}
}
