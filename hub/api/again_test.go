package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/internal/apiclient"
	"tandemux/internal/hosttest"
	"tandemux/internal/linktest"
	"tandemux/internal/soak"
)

// powerOff kills all that runs on a machine, agents and all.
func powerOff(h *member) {
	h.Helper()
	for range 3 { // what starts others meanwhile
		for _, pid := range hosttest.Processes("HOME=" + h.Dir) {
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it has ended, then
		}
	}
}

// TestAgain: tasks that are done again where their host is lost, on three hosts with ways
// that are cut in both directions or in one, shorter and longer than leases are; machines
// are switched off, hosts and workers killed. A command writes down that it lives, many times a
// second: no task's ever does so on two hosts at once, and each task is done in the end.
func TestAgain(t *testing.T) {
	t.Parallel()
	soak.Long(t, "a host is lost for as long as leases are")
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are found by /proc")
	}
	seed := soak.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 7))
	terms := lease.Terms{Claimed: 3 * time.Second, Begun: 12 * time.Second} // a busy machine takes 2 s to stop a task
	if soak.Time(t) > 0 {
		terms = lease.Terms{Claimed: 5 * time.Second, Begun: 16 * time.Second}
	}
	f := fleetOf(t, terms)
	const room = 3
	var all []*member
	var kill []func()
	for i := range 3 {
		h := &member{Machine: hosttest.New(t, ""), name: fmt.Sprint("host", i)}
		var err error
		h.credential, err = f.bus.Invite(h.name, 0, queue.Grant(h.name))
		f.must(err)
		h.way = linktest.Link{}.New(t, f.bus.Addr(), seed)
		h.Tandemux("host")
		all, kill = append(all, h), append(kill, f.apart(h, room))
	}
	ran := filepath.Join(f.dir, "ran")
	f.must(os.WriteFile(ran, nil, 0o600))
	mishaps := []struct {
		name string
		do   func(i int)
	}{
		{"cut", func(i int) { f.cut(all[i], some(rng, terms), linktest.Out, linktest.In) }},
		{"machine off", func(i int) {
			kill[i]()
			powerOff(all[i])
			time.Sleep(some(rng, terms))
			all[i].Tandemux("host")
			kill[i] = f.apart(all[i], room)
		}},
		{"not heard", func(i int) { f.cut(all[i], some(rng, terms), linktest.Out) }},
		{"hears nothing", func(i int) { f.cut(all[i], some(rng, terms), linktest.In) }},
		{"worker killed", func(i int) { kill[i](); kill[i] = f.apart(all[i], room) }},
		{"host killed", func(i int) { f.killHost(all[i]) }},
		{"host killed while cut", func(i int) {
			all[i].way.Cut(linktest.Out, linktest.In)
			f.killHost(all[i])
			time.Sleep(some(rng, terms))
			all[i].way.Heal()
		}},
	}
	rounds, tasks := soak.Size(t, 1, 3*len(mishaps)), 0
	events := map[string]string{}
	for round := range rounds {
		for range 3 {
			long := 2*time.Second + time.Duration(rng.Float64()*float64(terms.Begun)*1.2)
			line := hosttest.Alive(ran, fmt.Sprint("t", tasks), long)
			tk, e := f.create(task.NewTask{Name: fmt.Sprint("t", tasks), Command: f.script("prompt\nshell a " + line + "\nsay done"), IfLost: "again"}, "go")
			events[tk.ID] = e.ID
			tasks++
		}
		var busy []int
		f.eventually("somebody works", 60*time.Second, func() bool {
			busy = nil
			for _, k := range f.queue.Tasks() {
				for i, h := range all {
					if k.Record.State == lease.Begun && k.Record.Host == h.name {
						busy = append(busy, i)
					}
				}
			}
			return len(busy) > 0
		})
		at, what := busy[rng.IntN(len(busy))], mishaps[round%len(mishaps)]
		time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond)
		began := time.Now()
		what.do(at)
		t.Logf("%s (%s) from %s on: %s for %v", all[at].name, filepath.Base(all[at].Dir), began.UTC().Format("15:04:05.000"), what.name, time.Since(began).Round(time.Millisecond))
	}
	for id, e := range events {
		f.eventually("the task "+id+" is done", 3*time.Minute, func() bool { return f.event(e).Status == store.EventDone || f.event(e).Status == store.EventFailed })
		if e := f.event(e); e.Status != store.EventDone {
			t.Errorf("%s is %+v", id, e)
		}
	}
	begun := 0
	for name, all := range hosttest.Spans(t, ran) {
		begun += hosttest.Once(t, name, all)
		if t.Failed() {
			t.Logf("%s: %+v", name, all)
		}
	}
	t.Logf("%d tasks, begun %d times", tasks, begun)
}

// some is a time shorter or longer than a lease is.
func some(rng *rand.Rand, terms lease.Terms) time.Duration {
	return terms.Begun/4 + time.Duration(rng.Float64()*float64(terms.Begun)*1.75)
}

// cut has a way cut for a while.
func (f *fleet) cut(h *member, long time.Duration, d ...linktest.Direction) {
	h.way.Cut(d...)
	time.Sleep(long)
	h.way.Heal()
}

// TestLent: a host that dies between being sent an event and beginning its turn begins it when
// it is back, but not that of a task that a hub lends it: another may have it by then. It says
// that it was interrupted.
func TestLent(t *testing.T) {
	soak.Long(t, "hosts die at several moments")
	t.Parallel()
	f := &fleet{T: t, dir: t.TempDir()}
	h := &member{Machine: hosttest.New(t, ""), name: "build"}
	h.Tandemux("host")
	client := hostAPI(h.Dir)
	defer client.Close()
	events := map[bool]string{}
	file := func(what string, lent bool) string { return filepath.Join(f.dir, fmt.Sprint(what, lent)) }
	for _, lent := range []bool{false, true} {
		body := task.NewTask{
			Name: fmt.Sprint("lent-", lent), Lent: lent, NoSandbox: true, Workspace: "none",
			Command: f.script("once " + file("begun", lent) + "\non initialize hang\nalways\nprompt\nshell a echo x >>" + file("ran", lent) + "\nsay done"),
		}
		var tk store.Task
		f.must(client.Do(t.Context(), apiclient.Request{Method: http.MethodPost, Path: "/tasks", Body: body}, &tk))
		var e store.Event
		f.must(client.Do(t.Context(), apiclient.Request{Method: http.MethodPost, Path: "/tasks/" + tk.ID + "/events", Body: map[string]string{"content": "go"}}, &e))
		events[lent] = e.ID
		f.eventually("its agent was started", 30*time.Second, func() bool { _, err := os.Stat(file("begun", lent)); return err == nil })
	}
	f.killHost(h)
	get := func(lent bool) (e store.Event) {
		client.Do(t.Context(), apiclient.Request{Method: http.MethodGet, Path: "/events/" + events[lent]}, &e) //nolint:errcheck // asked again
		return e
	}
	f.eventually("the next host has done one, and refused the other", 60*time.Second, func() bool {
		return get(false).Status == store.EventDone && get(true).Status == store.EventFailed
	})
	if e := get(true); !strings.Contains(e.Reason, "restarted") {
		t.Errorf("of what was lent it says %+v", e)
	}
	if _, err := os.Stat(file("ran", false)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file("ran", true)); err == nil {
		t.Error("what was lent was begun by the next host")
	}
}
