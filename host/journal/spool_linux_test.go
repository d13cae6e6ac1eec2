package journal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// rawPair opens a pty whose other side passes bytes on as they are.
func rawPair(t *testing.T) (master, slave int) {
	t.Helper()
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no ptys here:", err)
	}
	t.Cleanup(func() { unix.Close(master) })
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = unix.Open(fmt.Sprintf("/dev/pts/%d", n), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(slave) })
	tio, err := unix.IoctlGetTermios(slave, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	tio.Lflag, tio.Iflag, tio.Oflag = 0, 0, 0
	if err := unix.IoctlSetTermios(slave, unix.TCSETS, tio); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// TestSpool: whatever a pty takes of a write, the file says how much, and what is
// left of it, to who has the same file open.
func TestSpool(t *testing.T) {
	_, l, err := Create(make([]byte, Options{Area: 1, Slots: 1}.Size()), Options{Area: 1, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSpool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fd, err := unix.Dup(s.fd) // as the keeper has it
	if err != nil {
		t.Fatal(err)
	}
	held := os.NewFile(uintptr(fd), "held")
	defer held.Close()
	master, slave := rawPair(t)
	plain := func(uintptr, []byte) (int, error) {
		t.Error("the spool was not used")
		return 0, io.ErrShortWrite
	}
	at, taken := uint64(100), ""
	read := func(n int) (got string) {
		buf := make([]byte, n)
		for len(got) < n {
			k, err := unix.Read(slave, buf)
			if err != nil {
				t.Fatal(err)
			}
			got += string(buf[:k])
		}
		return got
	}
	partial := false
	for i := range 40 {
		text := strings.Repeat(fmt.Sprint("<", i, ">"), 900)[:2500]
		n, err := s.Write(l, "mine", uintptr(master), at, []byte(text), plain)
		if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
		taken += text[:n]
		at += uint64(n)
		if begun, done := l.Typed(); begun != at || done != at {
			t.Fatalf("the landing says %d and %d, want %d", begun, done, at)
		}
		sp, ok, err := ReadSpool(held)
		switch {
		case err != nil:
			t.Fatal(err)
		case n > 0 && n < len(text):
			partial = true
			if !ok || sp != (Spooled{Owner: "mine", At: at, Rest: text[n:]}) {
				t.Fatalf("after %d of %d bytes: %v %+v", n, len(text), ok, sp)
			}
			if got := read(len(taken)); got != taken {
				t.Fatal("the program got something else")
			}
			taken = ""
		case ok:
			t.Fatalf("after %d of %d bytes it says that something is left: %+v", n, len(text), sp)
		}
		// The write that the host does not come back from.
		store(s.mem[spoolValid:], 1)
		if sp, ok, err := ReadSpool(held); n > 0 && (!ok || err != nil || sp.At != at || sp.Rest != text[n:]) {
			t.Fatalf("died behind the write: %v %v, at %d, want %d", ok, err, sp.At, at)
		}
		store(s.mem[spoolValid:], 0)
	}
	if !partial {
		t.Error("the pty took all of every write")
	}
	if got := read(len(taken)); got != taken {
		t.Error("the program got something else")
	}
}

// TestDamagedSpool: nonsense is nothing.
func TestDamagedSpool(t *testing.T) {
	s, err := NewSpool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct{ at, value uint64 }{{spoolSize, 1 << 40}, {spoolOwner, 1 << 30}, {spoolValid, 7}} {
		store(s.mem[spoolValid:], 1)
		store(s.mem[spoolSize:], 3)
		store(s.mem[spoolOwner:], 2)
		store(s.mem[c.at:], c.value)
		if err := rewind(s.fd, page+1); err != nil {
			t.Fatal(err)
		}
		if sp, ok, _ := ReadSpool(s.file); ok {
			t.Errorf("%+v gives %+v", c, sp)
		}
	}
}
