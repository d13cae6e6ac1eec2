package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/leak"
	"tandemux/internal/local"
	"tandemux/internal/soak"
)

// TestChaos lets everything go wrong that can, at random, while terminals print,
// are typed into and show full-screen programs, and looks after each round whether
// anything is lost, doubled or left over. TANDEMUX_FAULT is a part of the names of the
// faults, if not all.
func TestChaos(t *testing.T) {
	soak.Long(t, "everything goes wrong")
	if beside(t) {
		return
	}
	rounds, until := 2, time.Time{}
	if d := soak.Time(t); d > 0 {
		rounds, until = 1<<30, time.Now().Add(d)
	}
	faults := faults
	if only := os.Getenv("TANDEMUX_FAULT"); only != "" {
		faults = slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !strings.Contains(f.name, only) })
	}
	before := leak.Now()
	x := startChaos(t)
	for n := range rounds {
		if !until.IsZero() && time.Now().After(until) {
			break
		}
		f := faults[x.rnd.IntN(len(faults))]
		if n < len(faults) && !until.IsZero() { // each of them at least once
			f = faults[n]
		}
		x.round(f)
		if t.Failed() {
			t.Fatalf("round %d, fault %q, seed %d", x.rounds, f.name, x.seed)
		}
	}
	x.end()
	if left := leak.Wait(before, 5*time.Second); len(left) > 0 {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
	x.report()
}

// fault is something that goes wrong.
type fault struct {
	name string
	do   func(x *chaos)
	// swaps says that another host answers afterwards, and how fast is measured.
	swaps bool
}

// faults are what can go wrong. The first ones are run by the small form.
var faults = []fault{
	{"kill -9 of the host", (*chaos).killHost, true},
	{"upgrade", (*chaos).upgradeHost, true},
	{"lost connections", (*chaos).cutConnections, false},
	{"kill -9 of the interface", (*chaos).killInterface, false},
	{"stopped host", (*chaos).stopHost, false},
	{"damaged journal", (*chaos).damageJournal, true},
	{"kill -9 of the host under a flood", (*chaos).killFlooded, true},
	{"full journal", (*chaos).fillJournal, true},
	{"clock jump", (*chaos).jumpClock, true},
	{"kill -9 of the host, twice", (*chaos).killTwice, true},
	{"kill -9 of the host at its start", (*chaos).killYoung, true},
	{"kill -9 of the agent", (*chaos).killAgent, false},
	{"logout", (*chaos).logOut, false},
	{"full disk", (*chaos).fillDisk, false},
}

// chaos is a world in which things go wrong.
type chaos struct {
	*testing.T
	dirs   local.Dirs
	run    string // XDG_RUNTIME_DIR
	bin    string // directory with tandemux, numbers, echoes, paints
	seed   uint64
	rnd    *rand.Rand
	rounds int
	counts map[string]int
	took   []time.Duration // until each viewer had the next host

	views   []*chaosView
	terms   []*chaosTerm
	wide    *chaosTerm // see fillJournal
	ui      *tty
	keeper  int // pid
	idle    int // the keeper's descriptors without any terminal
	typing  chan struct{}
	typed   chan struct{} // closed when nobody types any more
	ran     chan struct{} // closed when nothing is run any more
	runs    int           // of runAll
	asked   chan struct{} // closed when no agent is asked any more
	turns   chaosTurns    // of promptAll
	disk    bool          // the state is on a small disk
	past    []string      // the faults, with their times
	damages atomic.Int32  // journals that were damaged in this run
}

func startChaos(t *testing.T) *chaos {
	t.Helper()
	home, run, bin := aHome(t, "tandemux", "numbers", "echoes", "paints", "scripted-agent")
	for k, v := range map[string]string{"SHELL": "/bin/bash", "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TANDEMUX_TERMINAL": ""} {
		t.Setenv(k, v)
	}
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte("PS1='$ '\nunset PROMPT_COMMAND\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := soak.Seed(t)
	x := &chaos{
		T: t, dirs: local.FindDirs(), run: run, bin: bin, seed: seed, rnd: rand.New(rand.NewPCG(seed, 1)),
		counts: map[string]int{}, typing: make(chan struct{}), typed: make(chan struct{}), ran: make(chan struct{}), asked: make(chan struct{}),
	}
	if x.disk = mayMount(); x.disk {
		unmount, err := mountSmall(x.dirs.State, "64m")
		x.must(err)
		t.Cleanup(unmount)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(x.dirs.State, "host.log"))
			tui, _ := os.ReadFile(filepath.Join(x.dirs.State, "tui.log"))
			t.Logf("the last faults:\n%s", strings.Join(x.past[max(0, len(x.past)-20):], "\n"))
			t.Logf("interfaces' log:\n%s", tui)
			crash, _ := os.ReadFile(filepath.Join(x.dirs.State, "crash.log"))
			t.Logf("seed %d\nhosts' log:\n%s\ncrashes:\n%s", x.seed, log[max(0, len(log)-40000):], crash)
		}
	})
	t.Setenv("PATH", x.bin+":"+os.Getenv("PATH"))
	x.prepareAgent()
	x.must(os.MkdirAll(x.dirs.Runtime, 0o700))
	x.must(os.WriteFile(filepath.Join(x.dirs.Runtime, roomName), nil, 0o600))
	x.tandemux("host")
	r, err := x.dirs.ReadRecord()
	x.must(err)
	x.keeper = r.Keeper
	for i := range 2 {
		x.views = append(x.views, x.view(fmt.Sprint("view", i)))
	}
	x.await("the spare journals", func() bool {
		n := openFiles(x.keeper)
		settled := n == x.idle
		x.idle = n
		time.Sleep(50 * time.Millisecond)
		return settled
	})
	x.openTerminals()
	x.openWide()
	x.openInterface()
	go x.typeAll()
	go x.runAll()
	go x.promptAll()
	return x
}

func (x *chaos) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

// tandemux runs a command of the program.
func (x *chaos) tandemux(args ...string) string {
	x.Helper()
	cmd := exec.Command(filepath.Join(x.bin, "tandemux"), args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.Fatalf("tandemux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// await waits for a state that nothing announces.
func (x *chaos) await(what string, ok func() bool) {
	x.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("waited %v for %s", waitLimit, what)
		}
	}
}

// openFiles counts a process's descriptors.
func openFiles(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(list)
}

// uses says what host and keeper hold: anonymous memory and descriptors.
func (x *chaos) uses() string {
	anonymous := regexp.MustCompile(`RssAnon:\s*(\d+) kB`)
	of := func(pid int) string {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		m := anonymous.FindSubmatch(text)
		if m == nil {
			return "gone"
		}
		return fmt.Sprintf("%s kB, %d descriptors", m[1], openFiles(pid))
	}
	return fmt.Sprintf("host %s; keeper %s", of(x.host()), of(x.keeper))
}

// round lets one thing go wrong and looks at everything.
func (x *chaos) round(f fault) {
	x.Helper()
	x.rounds++
	x.counts[f.name]++
	time.Sleep(time.Duration(x.rnd.IntN(150)) * time.Millisecond) // any instant may be the one
	begun := time.Now()
	x.past = append(x.past, begun.UTC().Format("15:04:05.000 ")+f.name)
	f.do(x)
	for _, v := range x.views {
		x.await("the viewers to be connected", func() bool { return v.connected(f.swaps, begun) })
		if f.swaps {
			x.took = append(x.took, v.since().Sub(v.lostAt(begun)))
		}
	}
	x.check()
	if x.rounds%50 == 0 {
		x.Logf("round %d, %s", x.rounds, x.uses())
	}
}

// host is the pid of the host that runs, 0 while none does. The lock in the runtime directory
// does not say after a logout, and who asks it may be in the way of the one that takes it.
func (x *chaos) host() int {
	pid, err := x.dirs.HostPlace().Holder()
	x.must(err)
	return pid
}

func (x *chaos) killHost() {
	if pid := x.host(); pid > 0 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (x *chaos) killTwice() {
	x.killHost()
	x.await("a new host", func() bool { return x.host() > 0 })
	time.Sleep(time.Duration(x.rnd.IntN(40)) * time.Millisecond)
	x.killHost()
}

// killYoung kills one after another while they take over.
func (x *chaos) killYoung() {
	for range 3 {
		x.killHost()
		x.await("a new host", func() bool { return x.host() > 0 })
	}
	x.killHost()
}

func (x *chaos) killFlooded() {
	for range 3 {
		x.views[0].Dispatch(x.flood().uri, ahp.TerminalInput{Data: "flood\n"}) //nolint:errcheck // then there is none
	}
	time.Sleep(time.Duration(x.rnd.IntN(60)) * time.Millisecond)
	x.killHost()
}

func (x *chaos) upgradeHost() { x.tandemux("upgrade", "--force") }

func (x *chaos) cutConnections() {
	for _, v := range x.views {
		if x.rnd.IntN(3) > 0 {
			v.cut()
		}
	}
}

func (x *chaos) stopHost() {
	pid := 0 // of this process's group, as a signal's target
	x.await("a host", func() bool { pid = x.host(); return pid > 0 })
	syscall.Kill(pid, syscall.SIGSTOP)
	time.Sleep(time.Duration(50+x.rnd.IntN(300)) * time.Millisecond)
	syscall.Kill(pid, syscall.SIGCONT)
}

func (x *chaos) killInterface() {
	x.ui.cmd.Process.Kill()
	<-x.ui.done
	x.openInterface()
}

// jumpClock kills the host; the next one lives in another hour, or year.
func (x *chaos) jumpClock() {
	hours := []int{-9000, -1, 0, 1, 9000}[x.rnd.IntN(5)]
	x.must(os.WriteFile(filepath.Join(x.dirs.Runtime, jumpName), []byte(strconv.Itoa(hours)), 0o600))
	x.killHost()
}

// damageJournal kills the host and writes nonsense into a journal that it left.
func (x *chaos) damageJournal() {
	unlock, err := x.dirs.LockStart() // nobody is to be faster
	x.must(err)
	defer unlock()
	x.killHost()
	x.await("the host's end", func() bool { return x.host() == 0 })
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	path, err := x.dirs.ReachKeeper(ctx)
	x.must(err)
	k, err := keeper.Dial(ctx, path)
	x.must(err)
	defer k.Close()
	files, err := k.Files(ctx)
	x.must(err)
	info := files[x.rnd.IntN(len(files))]
	f, err := k.Fetch(ctx, info.Name)
	x.must(err)
	defer f.Close()
	for range 1 + x.rnd.IntN(3) {
		junk := make([]byte, 64)
		for i := range junk {
			junk[i] = byte(x.rnd.IntN(256))
		}
		// Checkpoints and logs are in the second half at the latest.
		_, err := f.WriteAt(junk, info.Size/2+x.rnd.Int64N(info.Size/2-64))
		x.must(err)
	}
	x.damages.Add(1)
}

// stored lists what the keeper holds. It takes the keeper from the host.
func (x *chaos) stored() string {
	k, err := keeper.Dial(x.ctx(), filepath.Join(x.dirs.Runtime, listen.KeeperName))
	if err != nil {
		return err.Error()
	}
	defer k.Close()
	files, _ := k.Files(x.ctx())
	list, _ := k.List(x.ctx())
	names := ""
	for _, info := range list {
		names += fmt.Sprintln("process", info.ID, info.Pid, info.Argv)
	}
	for _, f := range files {
		names += fmt.Sprintln("file", f.Name, f.Size)
	}
	return names
}

// report says how it went.
func (x *chaos) report() {
	at := func(all []time.Duration, part float64) time.Duration {
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		return all[int(part*float64(len(all)-1))].Round(time.Millisecond)
	}
	var over []time.Duration // what hosts say of taking over
	log, _ := os.ReadFile(filepath.Join(x.dirs.State, "host.log"))
	for _, m := range regexp.MustCompile(`took over from an earlier host.* took=(\S+)`).FindAllSubmatch(log, -1) {
		if d, err := time.ParseDuration(string(m[1])); err == nil {
			over = append(over, d)
		}
	}
	var names []string
	for name, n := range x.counts {
		names = append(names, fmt.Sprintf("%d× %s", n, name))
	}
	slices.Sort(names)
	lines, keys, lost := 0, 0, 0
	for _, term := range x.terms {
		lines += term.last
		keys += term.sent
		lost += len(term.doubtful)
	}
	x.Logf("%d rounds with %d terminals, seed %d: %s", x.rounds, len(x.terms), x.seed, strings.Join(names, ", "))
	x.Logf("%d numbered lines, each once and in order; %d lines typed, of %d of which was said that they may not have arrived", lines, keys, lost)
	x.Logf("%d commands run through it, each with all of its output and its exit code", x.runs)
	x.reportTurns()
	x.Logf("until a viewer had the next host: p50 %v, p99 %v, longest %v, of %d", at(x.took, .5), at(x.took, .99), at(x.took, 1), len(x.took))
	x.Logf("of that until a host had taken over: p50 %v, p99 %v, longest %v, of %d", at(over, .5), at(over, .99), at(over, 1), len(over))
}
