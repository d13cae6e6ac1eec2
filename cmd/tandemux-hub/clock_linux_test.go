package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/internal/hosttest"
	"tandemux/internal/linktest"
	"tandemux/internal/soak"
)

// shifted starts a command whose clocks the test sets.
func shifted(t *testing.T, cmd *exec.Cmd, stdin string) (*process, *clock) {
	t.Helper()
	cmd.Path = filepath.Join(filepath.Dir(cmd.Path), "tandemux-hub") // which is what tandemux becomes, and has its own clocks then
	p := output(t, cmd, stdin)
	return p, startClock(t, p.Cmd)
}

// TestClocks: the clocks of a hub and of what joins a host, as the programs are built, are
// set by days, forward and backward, each apart and both. People's clock alone changes nothing of
// who is here and who has which task. A machine that was away for a day, asleep, has lost what it
// had: its tasks have failed or are done elsewhere, once, and it stops what it was at. Whether a
// credential has ended is the hub's clock to say.
func TestClocks(t *testing.T) {
	soak.Only(t, "presence and leases take their time")
	const day = 24 * time.Hour
	home, away, well, brief := hosttest.New(t, ""), hosttest.New(t, ""), hosttest.New(t, ""), hosttest.New(t, "")
	ports := freePorts(t, 1)
	nats := strings.Replace(ports[0], "127.0.0.1", "0.0.0.0", 1) // with TLS, which has certificates with times
	hub, house := shifted(t, home.Command("hub", "serve", "--listen", "127.0.0.1:0", "--nats", nats, "--allow-host", "localhost"), "")
	home.Eventually("the hub serves", func() bool { return strings.Contains(hub.text(), "hosts join at") })
	away.Tandemux("host")
	way := linktest.Link{}.New(t, ports[0], 1)
	_, port, _ := strings.Cut(way.Addr, ":")
	_, laptop := shifted(t, away.Command("join", "--room", "4", "tls://localhost:"+port), home.Tandemux("hub", "invite", "away", "--label", "x"))
	w := newWork(t, home)
	here := w.here
	home.Eventually("the laptop is here", func() bool { return here("away") })
	ran := filepath.Join(w.dir, "alive")
	give := func(name, lost string, long time.Duration) int {
		w.give(task.NewTask{Name: name, IfLost: lost, Where: "x"}, hosttest.Alive(ran, name, long))
		n := len(w.tasks) - 1
		w.reaches(n, time.Minute, "is at work", func(p task.Present) bool { return p.Status == store.Running })
		return n
	}

	// People's clock: nothing is lost.
	set := []int{give("set-fail", "fail", 15*time.Second), give("set-again", "again", 15*time.Second)}
	for _, c := range []*clock{house, laptop} {
		for _, d := range []time.Duration{day, -2 * day, day} {
			c.Wall(d)
			for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if !here("away") {
					t.Errorf("a clock was set by %v, and a host that is here counts as away", d)
				}
			}
		}
	}
	for _, n := range set {
		w.reaches(n, time.Minute, "is done", func(p task.Present) bool { return p.Status == store.Idle })
		if e := w.event(n); e.Status != store.EventDone {
			t.Errorf("while clocks were set: %+v", e)
		}
	}

	// A laptop is closed for a day, and comes back.
	fails, again := give("day-fail", "fail", 2*time.Minute), give("day-again", "again", 2*time.Minute)
	start(t, well, home.Tandemux("hub", "invite", "well", "--label", "x"), "join", "--room", "4", "tls://localhost:"+strings.Split(ports[0], ":")[1])
	home.Eventually("another host is here", func() bool { return here("well") })
	way.Cut(linktest.Out, linktest.In)
	laptop.Sleep(day)
	time.Sleep(5 * time.Second) // it needs a moment after it woke, see hub/lease
	house.Pass(day)
	passed := time.Now()
	w.reaches(fails, time.Minute, "has failed", func(task.Present) bool { return w.event(fails).Status == store.EventFailed })
	w.reaches(again, time.Minute, "is done elsewhere", func(p task.Present) bool { return strings.Contains(p.Doing, "on well") })
	t.Logf("a day passed: the tasks are taken from who was away after %v; %q", time.Since(passed).Round(100*time.Millisecond), w.event(fails).Reason)
	if here("away") {
		t.Error("who is away for a day counts as here")
	}
	way.Heal()
	healed := time.Now()
	home.Eventually("the laptop is here again", func() bool { return here("away") })
	t.Logf("it is here %v after its way is open", time.Since(healed).Round(10*time.Millisecond))
	w.reaches(again, 4*time.Minute, "is done", func(p task.Present) bool { return p.Status == store.Idle })
	if e := w.event(again); e.Status != store.EventDone {
		t.Errorf("what is done again: %+v", e)
	}
	spans := hosttest.Spans(t, ran)
	for _, name := range []string{"set-fail", "set-again", "day-again"} {
		begun := hosttest.Once(t, name, spans[name])
		t.Logf("%s was begun %d times", name, begun)
		if want := map[bool]int{true: 2, false: 1}[name == "day-again"]; begun != want {
			t.Errorf("%s was begun %d times: %+v", name, begun, spans[name])
		}
	}
	if all := spans["day-fail"]; len(all) != 1 || all[0].Ended || all[0].To.After(healed.Add(20*time.Second)) {
		t.Errorf("what failed was not stopped: %+v", all)
	}

	// A credential for an hour.
	credential := home.Tandemux("hub", "invite", "brief", "--for", "1h")
	brief.Tandemux("host")
	joined := func(by time.Duration) (*process, *clock) {
		t.Helper()
		p, c := shifted(t, brief.Command("join", "tls://localhost:"+strings.Split(ports[0], ":")[1]), credential)
		c.Wall(by)
		home.Eventually("who has it is here", func() bool { return here("brief") })
		return p, c
	}
	p, c := joined(2 * time.Hour) // by its own clock, which is wrong, it has ended
	c.Wall(-2 * day)
	time.Sleep(5 * time.Second)
	if !here("brief") {
		t.Errorf("the clock of who has it is wrong, and it is away: %s", p.text())
	}
	house.Pass(2 * time.Hour)
	home.Eventually("it has ended", func() bool { return !here("brief") && strings.Contains(p.text(), "refuses the credential") })
	late, _ := shifted(t, brief.Command("join", "tls://localhost:"+strings.Split(ports[0], ":")[1]), credential)
	home.Eventually("nobody joins by it", func() bool { return strings.Contains(late.text(), "refuses the credential") })
	if !here("well") {
		t.Error("who has one without an end is away")
	}
}
