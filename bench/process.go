package main

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mark is in the environment of all processes of a session.
const mark = "TANDEMUX_BENCH="

type process struct {
	pid  int
	name string
	args string
}

// own says that a process belongs to what runs in the multiplexer, not to it.
func (p process) own() bool {
	self, _ := os.ReadFile("/proc/self/comm")
	return slices.Contains([]string{"bash", "cat", "sleep", "sh", strings.TrimSpace(string(self))}, p.name)
}

// processes are those that the session started, wherever they went.
func (s *session) processes() []process { return marked(s.id) }

// marked are the processes of all sessions whose id begins so.
func marked(id string) (all []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !strings.Contains("\x00"+string(env), "\x00"+mark+id) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		comm, _ := os.ReadFile(dir + "/comm")
		args, _ := os.ReadFile(dir + "/cmdline")
		all = append(all, process{pid, strings.TrimSpace(string(comm)), strings.ReplaceAll(string(args), "\x00", " ")})
	}
	return all
}

// end ends them, and what they start meanwhile: an interface brings a host back that was killed
// before it.
func end(id string) {
	for all := marked(id); len(all) > 0; all = marked(id) {
		for _, p := range all {
			unix.Kill(p.pid, unix.SIGKILL) //nolint:errcheck // it may have ended
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// pss is the proportional set size in bytes, 0 when the process is gone.
func (p process) pss() int64 {
	f, err := os.Open("/proc/" + strconv.Itoa(p.pid) + "/smaps_rollup")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) > 1 && f[0] == "Pss:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// work is the processor time of all threads, and how often one of them went to sleep.
func (p process) work() (cpu time.Duration, sleeps int) {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(p.pid) + "/task/*")
	for _, task := range tasks {
		b, _ := os.ReadFile(task + "/schedstat")
		if f := strings.Fields(string(b)); len(f) > 0 {
			n, _ := strconv.Atoi(f[0])
			cpu += time.Duration(n)
		}
		b, _ = os.ReadFile(task + "/status")
		_, after, _ := strings.Cut(string(b), "\nvoluntary_ctxt_switches:")
		line, _, _ := strings.Cut(after, "\n")
		n, _ := strconv.Atoi(strings.TrimSpace(line))
		sleeps += n
	}
	return cpu, sleeps
}

// work and memory are the sums for the multiplexer without what runs in it.
func (s *session) work() (cpu time.Duration, sleeps int) {
	for _, p := range s.processes() {
		if !p.own() {
			d, n := p.work()
			cpu, sleeps = cpu+d, sleeps+n
		}
	}
	return cpu, sleeps
}

func (s *session) memory() (sum int64) {
	for _, p := range s.processes() {
		if !p.own() {
			sum += p.pss()
		}
	}
	return sum
}

func (s *session) host() (process, bool) {
	all := s.processes()
	i := slices.IndexFunc(all, func(p process) bool { return strings.HasPrefix(p.args, "tandemux host") })
	if i < 0 {
		return process{}, false
	}
	return all[i], true
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }
