//go:build linux

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// read reads a chunk of n bytes, or less at the end, waiting for output.
func read(t *testing.T, l *Landing, fd, n int) string {
	t.Helper()
	if !l.Begin() {
		t.Fatal("no room")
	}
	for deadline := time.Now().Add(time.Minute); ; {
		_, err := l.Read(fd)
		if len(l.Chunk())-Headroom >= n || err == unix.EIO {
			return string(l.Chunk()[Headroom:])
		}
		if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("no output")
		}
		unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
	}
}

func newLandingTest(t *testing.T, slots int) (*Landing, []byte) {
	t.Helper()
	o := Options{Area: page, Slots: slots}
	mem := make([]byte, o.Size())
	_, l, err := Create(mem, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, mem
}

func TestLanding(t *testing.T) {
	t.Parallel()
	for _, exact := range []bool{true, false} {
		l, mem := newLandingTest(t, 2)
		master, slave := openRaw(t)
		fd := int(master.Fd())
		unix.SetNonblock(fd, true)
		if exact {
			if ok, err := l.Prepare(fd); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		slave.WriteString("one ")
		if got := read(t, l, fd, 4); got != "one " {
			t.Errorf("exact %v: read %q", exact, got)
		}
		slave.WriteString("two ")
		got := read(t, l, fd, 4)
		// What lies in front is the caller's to change, and is not lost by it.
		c := l.Chunk()
		copy(c[Headroom-4:], "one ")
		if got != "two " || l.Pos() != 8 {
			t.Errorf("exact %v: read %q, at %d", exact, got, l.Pos())
		}
		if data, missing := peek(t, mem, 0); data != "one two " || missing != 0 {
			t.Errorf("exact %v: the next host finds %q, %d missing", exact, data, missing)
		}
		l.Release(4) // a part of the slot is still needed
		slave.WriteString("three")
		read(t, l, fd, 5)
		if data, _ := peek(t, mem, 4); data != "two three" {
			t.Errorf("exact %v: the next host finds %q", exact, data)
		}
		l.Release(13)
		slave.WriteString("x")
		read(t, l, fd, 1)
		if l.slots[0].n != 1 || l.slots[0].off != 13 {
			t.Errorf("the first slot is not used again: %+v", l.slots[0])
		}
		if data, missing := peek(t, mem, 10); data != "x" || missing != 3 {
			t.Errorf("exact %v: the next host finds %q, %d missing", exact, data, missing)
		}
		slave.Close()
		if got := read(t, l, fd, 1); got != "" {
			t.Errorf("after the end: %q", got)
		}
	}
}

// peek is what a next host would find, from an offset.
func peek(t *testing.T, mem []byte, from uint64) (string, uint64) {
	t.Helper()
	_, l, _, err := Open(bytes.Clone(mem))
	if err != nil {
		t.Fatal(err)
	}
	data, missing := joined(l.Resume(from))
	return string(data), missing
}

// Slots fill up and come free in order, whatever the sizes.
func TestSlots(t *testing.T) {
	t.Parallel()
	l, mem := newLandingTest(t, 3)
	master, slave := openRaw(t)
	fd := int(master.Fd())
	unix.SetNonblock(fd, true)
	if _, err := l.Prepare(fd); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	const total = 3 << 20
	go func() {
		buf := make([]byte, 5000)
		var err error
		for at := 0; at < total && err == nil; at += len(buf) {
			buf = buf[:min(5000, total-at)]
			stream(buf, uint64(at), false)
			_, err = slave.Write(buf)
		}
		slave.Close()
		written <- err
	}()
	full := 0
	for at := uint64(0); at < total; {
		if !l.Begin() {
			full++
			data, missing := peek(t, mem, at)
			if missing > 0 || uint64(len(data)) != l.Pos()-at {
				t.Fatalf("%d of %d bytes, %d missing", len(data), l.Pos()-at, missing)
			}
			check(t, []byte(data), at)
			// Half of it was processed.
			at += uint64(len(data)) / 2
			l.Release(at)
			continue
		}
		n := len(l.Chunk())
		for !l.Full() {
			if _, err := l.Read(fd); err == unix.EAGAIN {
				unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
			} else if err != nil {
				break
			}
		}
		c := l.Chunk()
		check(t, c[Headroom:], l.Pos()-uint64(len(c)-Headroom))
		if len(c) == n { // the end
			at = l.Pos()
		}
	}
	if err := <-written; err != nil || l.Pos() != total {
		t.Errorf("%v; at %d of %d", err, l.Pos(), total)
	}
	if full == 0 {
		t.Error("the slots were never full")
	}
}

func check(t *testing.T, got []byte, from uint64) {
	t.Helper()
	want := make([]byte, len(got))
	if stream(want, from, false); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes at %d differ", len(got), from)
	}
}

// Packets that are about flow control or flushing are no output.
func TestStatusPackets(t *testing.T) {
	t.Parallel()
	l, mem := newLandingTest(t, 1)
	master, slave := openRaw(t)
	fd := int(master.Fd())
	unix.SetNonblock(fd, true)
	if _, err := l.Prepare(fd); err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range 50 {
		text := fmt.Sprint("<", i, ">")
		want += text
		slave.WriteString(text)
		unix.IoctlSetInt(int(slave.Fd()), unix.TCXONC, unix.TCOOFF)
		unix.IoctlSetInt(int(slave.Fd()), unix.TCXONC, unix.TCOON)
		unix.IoctlSetInt(int(slave.Fd()), unix.TCFLSH, unix.TCIFLUSH)
		read(t, l, fd, len(text))
	}
	if got, _ := peek(t, mem, 0); got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	l, mem := newLandingTest(t, 1)
	l.SetAnswered(77)
	_, l, _, err := Open(mem)
	if err != nil || l.Answered() != 77 {
		t.Errorf("%d, %v", l.Answered(), err)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const size = 1 << 20
	memory, err := CreateFile(dir, size)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for _, n := range []int64{0, size - 1, size + 1} {
		if err := memory.Truncate(n); err == nil {
			t.Errorf("the file's size could be made %d", n)
		}
	}
	if used(t, memory) > 64<<10 {
		t.Errorf("an empty journal takes %d bytes", used(t, memory))
	}
	plain, err := unlinkedFile(dir, size)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if fi, err := plain.Stat(); err != nil || fi.Mode().Perm() != 0o600 || used(t, plain) < size {
		t.Errorf("%v, %d bytes, %v", fi.Mode(), used(t, plain), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
	for _, f := range []*os.File{memory, plain} {
		a, err := Map(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Map(f, size/2)
		if err != nil {
			t.Fatal(err)
		}
		if a[100] = 7; b[100] != 7 {
			t.Error("two mappings of one file differ")
		}
		if err := errors.Join(Unmap(a), Unmap(b), Unmap(nil)); err != nil {
			t.Error(err)
		}
		if _, err := Map(f, size+1); !errors.Is(err, ErrSize) {
			t.Errorf("more than there is: %v", err)
		}
	}
	if _, err := unlinkedFile(dir, 1<<50); err == nil {
		t.Error("a file larger than the disk")
	}
	fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	loose := os.NewFile(uintptr(fd), "x")
	defer loose.Close()
	loose.Truncate(size)
	named, err := os.CreateTemp(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	named.Truncate(size)
	for _, f := range []*os.File{loose, named} {
		if _, err := Map(f, 0); !errors.Is(err, ErrSize) {
			t.Errorf("%s, which can be cut short: %v", f.Name(), err)
		}
	}
}

func used(t *testing.T, f *os.File) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

// A journal is made, left, adopted and let go; a trimmed one has all that is
// needed, in little memory.
func TestJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Name: "n", Slots: 4}
	j, err := NewMemory(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openRaw(t)
	fd := int(master.Fd())
	unix.SetNonblock(fd, true)
	if _, err := j.Landing.Prepare(fd); err != nil {
		t.Fatal(err)
	}
	// A busy time.
	big := Record{Type: "data", Data: make([]byte, 60<<10)}
	for i := range 100 {
		if j.Log.Due() {
			c, err := j.Log.Begin(true)
			if err != nil {
				t.Fatal(err)
			}
			c.Add(Record{Type: "state", Seq: int64(i)})
			if err := c.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Log.Append(big); err != nil {
			t.Fatal(err)
		}
		slave.Write(big.Data[:2000])
		read(t, j.Landing, fd, 2000)
	}
	j.Landing.Release(j.Landing.Pos() - 5)
	slave.WriteString("last words")
	read(t, j.Landing, fd, 10)
	before := used(t, j.File)
	_, _, r, _ := Open(bytes.Clone(j.mem))
	records := len(r.Records)
	c, err := j.Log.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	c.Add(Record{Type: "state", Seq: 100})
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	j.Log.Append(Record{Type: "data", Seq: 7})
	j.Log.Trim()
	j.Landing.Trim()
	after := used(t, j.File)
	if before < 3<<20 || after > 256<<10 || records == 0 {
		t.Errorf("%d bytes before, %d after, %d records", before, after, records)
	}
	t.Logf("%d KiB after a busy time, %d KiB trimmed", before>>10, after>>10)
	pos := j.Landing.Pos()
	f, err := unix.FcntlInt(j.File.Fd(), unix.F_DUPFD_CLOEXEC, 3) // as from the keeper
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	k, r, err := AdoptMemory(os.NewFile(uintptr(f), "journal"))
	if err != nil || r.Damage != nil || len(r.State) != 1 || r.State[0].Seq != 100 || len(r.Records) != 1 || r.Records[0].Seq != 7 {
		t.Fatalf("%+v, %v", r, err)
	}
	data, missing := joined(k.Landing.Resume(pos - 10))
	if string(data) != "last words" || missing != 0 {
		t.Errorf("%q, %d missing", data, missing)
	}
	if _, err := k.Landing.Prepare(fd); err != nil {
		t.Fatal(err)
	}
	slave.WriteString("!")
	if got := read(t, k.Landing, fd, 1); got != "!" {
		t.Errorf("read %q", got)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	junk, err := CreateFile(dir, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := AdoptMemory(junk); !errors.Is(err, ErrFormat) || junk.Fd() != ^uintptr(0) {
		t.Errorf("adopted zeros: %v", err)
	}
}

// BenchmarkRead compares reading a pty into the landing with plain reads, in
// bytes and in processor time of the reader.
func BenchmarkRead(b *testing.B) {
	for _, how := range []string{"plain", "landing"} {
		b.Run(how, func(b *testing.B) { benchmarkRead(b, how == "landing") })
	}
}

func benchmarkRead(b *testing.B, landing bool) {
	t := new(testing.T)
	master, slave := openRaw(t)
	defer master.Close()
	fd := int(master.Fd())
	unix.SetNonblock(fd, true)
	cat := exec.Command("cat", "/dev/zero")
	cat.Stdout = slave
	if err := cat.Start(); err != nil {
		b.Fatal(err)
	}
	slave.Close()
	defer cat.Wait()
	defer cat.Process.Kill()
	f, err := CreateFile(b.TempDir(), Options{Slots: 20}.Size())
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	mem, err := Map(f, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer Unmap(mem)
	_, l, err := Create(mem, Options{Slots: 20})
	if err != nil {
		b.Fatal(err)
	}
	if landing {
		if _, err := l.Prepare(fd); err != nil {
			b.Fatal(err)
		}
	}
	const piece = 1 << 20
	buf := make([]byte, slotSize)
	b.SetBytes(piece)
	var before, after unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &before)
	for b.Loop() {
		for left := piece; left > 0; {
			var n int
			var err error
			if landing {
				l.Begin()
				for !l.Full() && err == nil {
					_, err = l.Read(fd)
				}
				n = len(l.Chunk()) - Headroom
				l.Release(l.Pos())
			} else {
				for n < len(buf) && err == nil {
					var m int
					m, err = unix.Read(fd, buf[n:])
					n += max(m, 0)
				}
			}
			if err != nil && !errors.Is(err, unix.EAGAIN) {
				b.Fatal(err)
			}
			if left -= n; err != nil {
				unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
			}
		}
	}
	unix.Getrusage(unix.RUSAGE_SELF, &after)
	cpu := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(cpu)/float64(b.N), "cpu-ns/MB")
}

// What is missing between what is there is told where it is missing.
func TestHoles(t *testing.T) {
	t.Parallel()
	l, _ := newLandingTest(t, 4)
	for i, s := range []struct {
		off  uint64
		text string
	}{{150, "third"}, {100, "first"}, {105, "second"}, {20, "released"}} {
		slot := &l.slots[i]
		copy(slot.bytes(), s.text)
		store(slot.head, s.off)
		store(slot.head[8:], uint64(len(s.text)))
	}
	want := []Piece{{Missing: 5, Data: []byte("firstsecond")}, {Missing: 39, Data: []byte("third")}}
	for range 2 {
		if got := l.Resume(95); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if l.Pos() != 155 {
		t.Errorf("it goes on at %d", l.Pos())
	}
}
