//go:build linux

package journal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/host/keeper"
	"tandemux/internal/soak"
)

// openRaw opens a pty whose other side changes nothing that is written.
func openRaw(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	sfd, err := unix.Open(fmt.Sprintf("/dev/pts/%d", n), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	slave = os.NewFile(uintptr(sfd), "pts")
	t.Cleanup(func() { slave.Close() })
	tio, err := unix.IoctlGetTermios(sfd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	tio.Iflag, tio.Oflag, tio.Lflag = 0, 0, 0
	if err := unix.IoctlSetTermios(sfd, unix.TCSETS, tio); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// victim is a journal, the pty whose output goes there, and the program.
type victim struct {
	t       *testing.T
	file    *os.File
	mem     []byte
	pty     *os.File
	program *exec.Cmd
	stop    func() // has the program end
	wait    func() // until it has
	said    *bytes.Buffer
	text    bool
	more    []string // environment

	pos           uint64
	tails         int // deaths with bytes that were read and not logged
	during, whole int // deaths inside of a read; those after its bytes had come
}

func newVictim(t *testing.T, text bool, more ...string) *victim {
	v := &victim{t: t, text: text, more: more, said: new(bytes.Buffer)}
	v.makeJournal()
	var slave *os.File
	v.pty, slave = openRaw(t)
	v.program = exec.Command(os.Args[0])
	v.program.Env = env(roleEnv + "=program")
	if text {
		v.program.Env = append(v.program.Env, textEnv+"=1")
	}
	v.program.Stdout, v.program.Stderr = slave, v.said
	in, err := v.program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.stop = func() { in.Close() }
	v.wait = func() { v.program.Wait() }
	if err := v.program.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	t.Cleanup(func() {
		v.program.Process.Kill()
		v.program.Wait()
	})
	return v
}

// host starts a host and waits until it reads.
func (v *victim) host() (*exec.Cmd, *bufio.Reader) {
	v.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(env(roleEnv+"=host"), v.more...)
	if v.pty != nil {
		cmd.ExtraFiles = []*os.File{v.file, v.pty}
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "ready\n" {
		cmd.Process.Kill()
		cmd.Wait()
		v.t.Fatalf("the host said %q, %v, at %d", line, err, v.pos)
	}
	return cmd, r
}

// check recovers, from a copy, what a dead host left: the stream from where it
// was last time, with nothing missing, added or changed.
func (v *victim) check() {
	v.t.Helper()
	for i := range 20 {
		if w := load(v.mem[page+i*slotHeader+8:]); w>>32 != 0 {
			v.during++
			if v.mem[page+i*slotHeader+16] == 0 {
				v.whole++
			}
		}
	}
	_, landing, r, err := Open(bytes.Clone(v.mem))
	if err != nil || r.Damage != nil || r.Dropped > 0 {
		v.t.Fatal(err, r.Damage, r.Dropped)
	}
	logged, _, err := state(r)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, rec := range append(r.Earlier, r.Records...) {
		if rec.Type == "data" {
			v.compare(uint64(rec.Seq), rec.Data, "logged")
		}
	}
	tail, missing := joined(landing.Resume(logged))
	if missing > 0 {
		v.t.Fatalf("%d bytes are missing after %d", missing, logged)
	}
	v.compare(logged, tail, "read and not logged")
	if len(tail) > 0 {
		v.tails++
	}
	end := logged + uint64(len(tail))
	if end < v.pos {
		v.t.Fatalf("%d bytes were there, now %d are", v.pos, end)
	}
	v.pos = end
}

func (v *victim) compare(from uint64, got []byte, what string) {
	v.t.Helper()
	want := make([]byte, len(got))
	stream(want, from, v.text)
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for got[i] == want[i] {
		i++
	}
	v.t.Fatalf("%s: %d bytes at %d differ from the stream at %d: %x, want %x", what, len(got), from, from+uint64(i),
		got[i:min(i+16, len(got))], want[i:min(i+16, len(got))])
}

// underKeeper is a victim whose program and journal a keeper has.
func underKeeper(t *testing.T) *victim {
	dir, err := os.MkdirTemp("", "journal") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	v := &victim{t: t, said: new(bytes.Buffer), more: []string{socketEnv + "=" + socket}}
	kp := exec.Command(os.Args[0])
	kp.Env = env(roleEnv+"=keeper", socketEnv+"="+socket)
	kp.Stderr = os.Stderr
	if err := kp.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		kp.Process.Kill()
		kp.Wait()
	})
	ctx := context.Background()
	var k *keeper.Client
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if k, err = keeper.Dial(ctx, socket); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	v.makeJournal()
	if err := k.Store(ctx, terminalURI, v.file); err != nil {
		t.Fatal(err)
	}
	// The program gets a pipe for its words and its end; the pty is raw.
	words, end := filepath.Join(dir, "words"), filepath.Join(dir, "end")
	if err := unix.Mkfifo(end, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := k.Spawn(ctx, keeper.Spec{
		ID: terminalURI, Dir: dir, Cols: 80, Rows: 24, Env: env(roleEnv + "=program"),
		Argv: []string{"/bin/sh", "-c", `stty raw -echo; exec "$0" <"$1" 2>"$2"`, os.Args[0], end, words},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Pty.Close()
	f, err := os.OpenFile(end, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	v.stop = func() { f.Close() }
	v.wait = func() {
		text, err := os.ReadFile(words)
		if err != nil {
			t.Error(err)
		}
		v.said.Write(text)
	}
	k.Close()
	return v
}

// makeJournal makes memory with an empty journal in it.
func (v *victim) makeJournal() {
	t := v.t
	o := Options{Name: terminalURI, Area: 256 << 10, Slots: 20}
	var err error
	if v.file, err = CreateFile(t.TempDir(), o.Size()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.file.Close() })
	if v.mem, err = Map(v.file, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Unmap(v.mem) })
	if _, _, err := Create(v.mem, o); err != nil {
		t.Fatal(err)
	}
}

// kill kills hosts at random instants, n times, and reads the rest.
func (v *victim) kill(n int) {
	t := v.t
	for range n {
		cmd, _ := v.host()
		// The instant is the point, so this is a wait for time.
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		if load(v.mem[epochAt:]) > 1 {
			v.check()
		}
	}
	v.stop()
	cmd, out := v.host()
	if line, _ := out.ReadString('\n'); line != "ended\n" {
		t.Fatalf("the last host said %q", line)
	}
	cmd.Wait()
	v.check()
	v.wait()
	if said := strings.TrimSpace(v.said.String()); said != fmt.Sprint(v.pos) {
		t.Fatalf("the program wrote %s bytes, %d are there", said, v.pos)
	}
	t.Logf("%d kills, %d bytes; %d with bytes read and not logged, %d inside of a read, %d of these after its bytes had come",
		n, v.pos, v.tails, v.during, v.whole)
}

// No byte is lost or doubled whenever the host dies, in any binary output.
func TestKill(t *testing.T) {
	t.Parallel()
	newVictim(t, false).kill(soak.Size(t, 60, 1000))
}

// The same with a keeper between the hosts.
func TestKillUnderKeeper(t *testing.T) {
	t.Parallel()
	underKeeper(t).kill(soak.Size(t, 20, 1000))
}

// Nor is one of text where reads can't be counted beforehand.
func TestKillMarked(t *testing.T) {
	t.Parallel()
	newVictim(t, true, markedEnv+"=1").kill(soak.Size(t, 20, 1000))
}
