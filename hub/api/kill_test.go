package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/hub/queue"
	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// apart starts the worker of a machine in a process of its own and gives what kills it.
func (f *fleet) apart(h *member, room int, labels ...string) (kill func()) {
	f.Helper()
	file := filepath.Join(h.Dir, "worker.json")
	at := f.bus.Addr()
	if h.way != nil {
		at = h.way.Addr
	}
	text, err := json.Marshal(map[string]any{"At": "nats://" + at, "Name": h.name, "Credential": h.credential.Text, "Room": room, "Labels": labels})
	f.must(err)
	f.must(os.WriteFile(file, text, 0o600))
	self, err := os.Executable()
	f.must(err)
	cmd := exec.Command(self, "worker", h.Dir, file)
	var said strings.Builder
	cmd.Stderr = &said
	f.must(cmd.Start())
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }() //nolint:errcheck // it was killed
	kill = func() {
		cmd.Process.Kill() //nolint:errcheck // it has ended, then
		<-ended
	}
	f.Cleanup(func() {
		if kill(); f.Failed() {
			f.Logf("the worker of %s said:\n%s", h.name, said.String())
		}
	})
	return kill
}

// killHost kills the host of a machine; its keeper, and with it the agents, live on.
func (f *fleet) killHost(h *member) {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(h.Dir, "r", "tandemux", "host.json"))
	var who struct{ Pid int }
	if err != nil || json.Unmarshal(text, &who) != nil || who.Pid == 0 {
		f.Fatalf("who is the host of %s? %v: %s", h.name, err, text)
	}
	f.must(syscall.Kill(who.Pid, syscall.SIGKILL))
	f.eventually("the next one runs", 30*time.Second, func() bool { return h.Command("host").Run() == nil })
}

// TestKills: tasks on three hosts, of which workers and hosts are killed by -9 again and
// again, and the hub is restarted; one host is never seen again. Every task is done once, or
// failed with "send again" by the host that was lost; none is begun twice, none is lost.
func TestKills(t *testing.T) {
	t.Parallel()
	soak.Long(t, "hosts and workers are killed again and again")
	f := newFleet(t)
	rng := rand.New(rand.NewPCG(soak.Seed(t), 1))
	tasks := soak.Size(t, 24, 200)
	const room = 4
	var all []*member
	var kill []func()
	for _, name := range []string{"one", "two", "lost"} {
		h := &member{Machine: hosttest.New(t, ""), name: name}
		var err error
		h.credential, err = f.bus.Invite(name, 0, queue.Grant(name))
		f.must(err)
		h.Tandemux("host")
		f.hosts[name] = h
		all, kill = append(all, h), append(kill, f.apart(h, room))
	}
	ran := filepath.Join(f.dir, "ran")
	begun := time.Now()
	var ids []string
	events := map[string]string{}
	for i := range tasks {
		command := f.script(fmt.Sprintf("prompt\nshell a echo %d >>%s; sleep 0.3\nsay done %d", i, ran, i))
		tk, e := f.create(task.NewTask{Name: fmt.Sprintf("t%d", i), Command: command}, "go")
		ids, events[tk.ID] = append(ids, tk.ID), e.ID
	}
	t.Logf("%d tasks were queued in %v", tasks, time.Since(begun).Round(time.Millisecond))
	over := func() (n int) {
		for _, id := range ids {
			if t, _ := f.queue.Task(id); len(t.Record.Ends) > 0 {
				n++
			}
		}
		return n
	}
	for i := 0; over() < tasks; i++ {
		if time.Since(begun) > time.Duration(tasks)*6*time.Second {
			t.Fatalf("after %v %d of %d tasks are over", time.Since(begun), over(), tasks)
		}
		before := over()
		f.eventually("some more are over", 90*time.Second, func() bool { return over() >= min(tasks, before+max(1, tasks/8)) })
		at := rng.IntN(2)
		switch i % 4 {
		case 0:
			kill[at]()
			kill[at] = f.apart(all[at], room)
		case 1:
			f.killHost(all[at])
		case 2:
			f.stop()
			f.start()
		case 3:
			kill[2]() // and never again
		}
	}
	t.Logf("they were over in %v", time.Since(begun).Round(time.Millisecond))
	text, err := os.ReadFile(ran)
	f.must(err)
	times := map[string]int{}
	for _, line := range strings.Fields(string(text)) {
		times[line]++
	}
	done, again := 0, 0
	for i, id := range ids {
		e, n := f.event(events[id]), times[fmt.Sprint(i)]
		switch {
		case n > 1:
			t.Errorf("task %d was done %d times: %+v: %s", i, n, e, f.said(id))
		case e.Status == store.EventDone && n != 1:
			t.Errorf("task %d counts as done, and was done %d times", i, n)
		case e.Status == store.EventDone:
			done++
		case e.Status == store.EventFailed && strings.Contains(e.Reason, "again"):
			again++
		default:
			t.Errorf("task %d is %+v", i, e)
		}
		ids, parts := f.stream(id, "")
		for k := range ids {
			if ids[k] != fmt.Sprint(k+1) {
				t.Errorf("the stream of task %d has the ids %v", i, ids)
			}
		}
		if len(parts) > 0 && parts[len(parts)-1].Type != task.PartFinish {
			t.Errorf("the stream of task %d ends with %+v", i, parts[len(parts)-1])
		}
	}
	t.Logf("%d done, %d to be sent again", done, again)
	if done < tasks/2 {
		t.Errorf("only %d of %d tasks were done", done, tasks)
	}
}

// TestCancel: a task is cancelled where it runs, and a drained host is given nothing.
func TestCancel(t *testing.T) {
	soak.Long(t, "a host is drained")
	t.Parallel()
	f := newFleet(t)
	h := f.host("build", 2)
	tk, e := f.create(task.NewTask{Command: f.script("prompt\nsay begun\nawait cancel")}, "x")
	f.eventually("it runs", 30*time.Second, func() bool { return f.get(tk.ID).Status == store.Running && strings.Contains(f.said(tk.ID), "begun") })
	f.must(f.do(http.MethodPost, "/tasks/"+tk.ID+"/cancel", nil, nil))
	if p := f.get(tk.ID); p.Status != store.Cancelled {
		t.Errorf("it is %s", p.Status)
	}
	if e = f.event(e.ID); e.Status != store.EventDiscarded {
		t.Errorf("its event is %+v", e)
	}
	f.eventually("its host has cancelled it", 30*time.Second, func() bool {
		out := h.Tandemux("task", "ls", "--all", "--json")
		return strings.Contains(out, `"CANCELLED"`)
	})
	f.must(f.do(http.MethodPut, "/fleet/hosts/build/drain", map[string]bool{"on": true}, nil))
	other, sent := f.create(task.NewTask{Command: f.script("prompt\nsay ok")}, "x")
	if p := f.get(other.ID); p.Status != store.Pending || p.Doing != "waits for a host that is away or drained" {
		t.Errorf("on a drained host it is %s, %q", p.Status, p.Doing)
	}
	f.must(f.do(http.MethodPut, "/fleet/hosts/build/drain", map[string]bool{"on": false}, nil))
	if e := f.settles(sent.ID); e.Status != store.EventDone {
		t.Errorf("its event is %+v", e)
	}
}

// said is what a task's stream has until now.
func (f *fleet) said(id string) string {
	var text strings.Builder
	for after, at := int64(0), uint64(0); ; {
		b, next, err := f.queue.Read(f.Context(), id, after, at)
		f.must(err)
		if len(b.Parts) == 0 {
			return text.String()
		}
		for _, p := range b.Parts {
			text.Write(p)
		}
		after, at = b.First+int64(len(b.Parts))-1, next
	}
}
