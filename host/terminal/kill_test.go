//go:build linux

package terminal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/internal/soak"
)

func init() { roles["program"], roles["host"] = programProcess, hostProcess }

const killCols, killRows = 80, 24

// chapter is one of the endless sequence of programs that the child runs: it
// begins with a question whose answer tells which chapter it was.
func chapter(k int) []byte {
	r := rand.New(rand.NewPCG(uint64(k), 3))
	at := k % (killCols * killRows)
	b := fmt.Appendf(nil, "\x1b\\\x18\x1b[!p\x1b[?69l\x1b[r\x1b[%dH\x1b#5\x1b[%dG\x1b[6n", 1+at/killCols, 1+at%killCols)
	const some = emutest.All &^ (emutest.Reports | emutest.Identity | emutest.Hostile | emutest.Resets)
	return append(b, shellLike(r, emutest.Program(r, killCols, killRows, 1+r.IntN(30), some))...)
}

var position = regexp.MustCompile(`\x1b\[(\d+);(\d+)R`)

// programProcess writes chapters to its terminal, at descriptor 3, until it is
// told to stop. Then it says how many bytes they were, and at the end which
// questions were answered.
func programProcess() {
	tty := os.NewFile(3, "tty")
	var mu sync.Mutex
	var answers []byte
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			if err != nil {
				return
			}
			mu.Lock()
			answers = append(answers, b[:n]...)
			mu.Unlock()
		}
	}()
	stop := make(chan struct{})
	in := bufio.NewReader(os.Stdin)
	go func() {
		in.ReadByte()
		close(stop)
	}()
	written, asked := 0, 0
	r := rand.New(rand.NewPCG(1, 2))
	for going := true; going; asked++ {
		for b := chapter(asked); len(b) > 0; {
			n, err := tty.Write(b[:min(len(b), 1+r.IntN(3000))])
			if err != nil {
				fmt.Println("failed:", err)
				return
			}
			written += n
			b = b[n:]
		}
		if r.IntN(8) == 0 {
			time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
		}
		select {
		case <-stop:
			going = false
		default:
		}
	}
	fmt.Println(written, asked)
	in.ReadByte() // the end
	mu.Lock()
	for _, m := range position.FindAllSubmatch(answers, -1) {
		row, _ := strconv.Atoi(string(m[1]))
		col, _ := strconv.Atoi(string(m[2]))
		fmt.Println((row-1)*killCols + col - 1)
	}
	fmt.Println("end")
	mu.Unlock()
}

// recovery is a journal with its terminal, as a host has them.
type recovery struct {
	journal *journal.Memory
	t       *Terminal
	mu      sync.Mutex
	err     error
	fenced  chan error
}

// recoverFrom takes over the journal in a file and the pty.
func recoverFrom(file, pty *os.File) (*recovery, error) {
	j, r, err := journal.AdoptMemory(file)
	if err != nil {
		return nil, err
	}
	if r.Damage != nil {
		return nil, r.Damage
	}
	rec := &recovery{journal: j, fenced: make(chan error, 1)}
	c := Config{
		Process: keeper.Process{ID: "it", Pty: pty}, Cols: killCols, Rows: killRows, Child: Child{Nonce: "n"}, Landing: j.Landing,
		Emulator: native.New(emulator.Options{Cols: killCols, Rows: killRows, History: 200}), MaxContent: 64 << 10,
		Wake:   func() { rec.do((*recovery).take) },
		delays: delays{time.Hour, time.Hour},
	}
	s := Saved{State: r.State, After: r.Records}
	if s.Actions, err = decoded(r.Records); err != nil {
		return nil, err
	}
	if len(r.State) == 0 {
		rec.t = build(c)
	} else if rec.t, err = Restore(c, s); err != nil {
		return nil, err
	}
	return rec, rec.checkpoint(false)
}

func (r *recovery) do(f func(*recovery) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := f(r); err != nil && r.err == nil {
		r.err = err
	}
}

func (r *recovery) take() error {
	actions, k := r.t.Take()
	if r.journal.Log.Due() {
		if err := r.append(actions, k); err != nil && !errors.Is(err, journal.ErrFull) {
			return err
		}
		return r.checkpoint(rand.IntN(2) == 0)
	}
	return r.append(actions, k)
}

func (r *recovery) append(actions []ahp.Action, k Taken) error {
	if err := r.journal.Log.Append(k.Records(encoded(actions))...); err != nil {
		return err
	}
	r.t.Released(k.Offset)
	return nil
}

func (r *recovery) checkpoint(bare bool) error {
	actions, k, records := r.t.Checkpoint(bare, new([]byte))
	if err := r.append(actions, k); err != nil {
		return err
	}
	c, err := r.journal.Log.Begin(!bare)
	if err != nil {
		return err
	}
	for _, rec := range records {
		if err := c.Add(rec); err != nil {
			return err
		}
	}
	return c.Commit()
}

// hostProcess takes over the journal at descriptor 3 and the pty at 4, and goes
// on until it is killed.
func hostProcess() {
	unix.SetNonblock(4, true)
	r, err := recoverFrom(os.NewFile(3, "journal"), os.NewFile(4, "pty"))
	if err != nil {
		fmt.Println("failed:", err)
		return
	}
	r.t.Start()
	fmt.Println("ready")
	for {
		time.Sleep(10 * time.Millisecond)
		r.do(func(r *recovery) error {
			if r.err != nil {
				fmt.Println("failed:", r.err)
				os.Exit(1)
			}
			return nil
		})
	}
}

func role(name string, files ...*os.File) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+name)
	cmd.ExtraFiles = files
	cmd.Stderr = os.Stderr
	return cmd
}

// Hosts that are killed at any instant, one after the other, leave a terminal
// that shows and knows what one does that was never killed; no question is
// answered twice.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	kills := soak.Size(t, 8, 500)
	master, slave := openPair(t)
	makeRaw(t, slave)
	tty := os.NewFile(uintptr(slave), "tty")
	o := journal.Options{Name: "it", Area: 1 << 20, Slots: 20}
	file, err := journal.CreateFile(t.TempDir(), o.Size())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mem, err := journal.Map(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := journal.Create(mem, o); err != nil {
		t.Fatal(err)
	}
	journal.Unmap(mem)

	program := role("program", tty)
	tell, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		program.Process.Kill()
		program.Wait()
	}()
	for range kills {
		killOne(t, file, master)
	}
	tell.Write([]byte("s"))
	words := bufio.NewReader(said)
	written := make(chan [2]int, 1)
	go func() {
		var n [2]int
		fmt.Fscan(words, &n[0], &n[1])
		written <- n
	}()
	last := finish(t, file, master, written)
	tell.Close()
	rest, _ := io.ReadAll(words)
	compareKilled(t, last, kills, strings.Fields(string(rest)))
}

// killOne starts a host and kills it after a random time.
func killOne(t *testing.T, file, master *os.File) {
	t.Helper()
	cmd := role("host", file, master)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	// The instant is the point, so this is a wait for time.
	time.Sleep(time.Duration(rand.IntN(15000)) * time.Microsecond)
	cmd.Process.Kill()
	more, _ := io.ReadAll(lines)
	cmd.Wait()
	if line += string(more); line != "ready\n" {
		t.Fatalf("the host said %q", line)
	}
}

// killed is what there is after all kills.
type killed struct {
	t              *Terminal
	written, asked int
}

// finish is the last host, which is not killed.
func finish(t *testing.T, file, master *os.File, written chan [2]int) killed {
	t.Helper()
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recoverFrom(os.NewFile(uintptr(fd), "journal"), master)
	if err != nil {
		t.Fatal(err)
	}
	r.t.Start()
	t.Cleanup(func() {
		r.t.Close()
		<-r.t.Done()
		r.do(func(r *recovery) error { return r.journal.Close() })
	})
	var k killed
	select {
	case n := <-written:
		k = killed{r.t, n[0], n[1]}
	case <-time.After(time.Minute):
		t.Fatal("the program does not stop")
	}
	h := &holder{t: t}
	h.poll("all of the output", func() bool {
		r.t.screen.Lock()
		defer r.t.screen.Unlock()
		return r.t.offset == uint64(k.written)
	})
	h.poll("the replies to be written", func() bool {
		r.t.input.mu.Lock()
		defer r.t.input.mu.Unlock()
		return len(r.t.input.queue)-r.t.input.head+r.t.input.busy == 0
	})
	r.do(func(r *recovery) error { return r.take() })
	if r.err != nil {
		t.Fatal(r.err)
	}
	return k
}

// compareKilled holds what is left against a terminal that never died.
func compareKilled(t *testing.T, k killed, kills int, answers []string) {
	t.Helper()
	var stream []byte
	for i := range k.asked {
		stream = append(stream, chapter(i)...)
	}
	if len(stream) != k.written {
		t.Fatalf("%d bytes were written, not %d", k.written, len(stream))
	}
	idle := idlePty(t)
	want := build(Config{
		Process: idle, Cols: killCols, Rows: killRows, Child: Child{Nonce: "n"}, MaxContent: 64 << 10, delays: delays{time.Hour, time.Hour},
		Emulator: native.New(emulator.Options{Cols: killCols, Rows: killRows, History: 200}),
	})
	defer func() {
		want.Close()
	}()
	for rest := stream; len(rest) > 0; {
		n := min(len(rest), chunk)
		feedTo(want, stream, want.offset+uint64(n))
		rest = rest[n:]
		want.Take()
	}
	k.t.screen.Lock()
	defer k.t.screen.Unlock()
	if a, b := visible(k.t.emu), visible(want.emu); a != b {
		t.Errorf("the screen is\n%s\nnot\n%s", a, b)
	}
	if a, b := emutest.History(k.t.emu), emutest.History(want.emu); !strings.HasSuffix(b, a) || a == "" && b != "" {
		t.Errorf("the history of %d bytes is no end of the %d", len(a), len(b))
	}
	if a, b := lastKnown(k.t), lastKnown(want); a != b {
		t.Errorf("it knows\n%s\nnot\n%s", a, b)
	}
	if n := len(answers); n == 0 || answers[n-1] != "end" {
		t.Fatalf("the program said %q", answers)
	}
	answers = answers[:len(answers)-1]
	at := 0
	for _, a := range answers {
		n, _ := strconv.Atoi(a)
		for ; at < k.asked && at%(killCols*killRows) != n; at++ {
		}
		if at++; at > k.asked {
			t.Fatalf("question %d was answered twice, or out of order", n)
		}
	}
	t.Logf("%d kills, %d bytes, %d of %d questions answered", kills, k.written, len(answers), k.asked)
}

// lastKnown is known, but for what a bare checkpoint leaves out: commands before
// the last ones, and output of those that had ended.
func lastKnown(t *Terminal) string {
	all := known(t)
	head, list, _ := strings.Cut(all, "\n{")
	lines := strings.Split(strings.TrimSpace(list), "\n")
	last := lines[max(0, len(lines)-bareCommands/2):]
	var b bytes.Buffer
	for _, l := range last {
		info, _, _ := strings.Cut(l, "} ")
		b.WriteString(info + "\n")
	}
	return head + "\n" + b.String()
}
