package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/host/workspace/travel"
	"tandemux/hub/api"
	"tandemux/hub/front"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/internal/apiclient"
	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// person is somebody's machine, with a repository, who uses the hub.
type person struct {
	*hosttest.Machine
	f   *fleet
	hub string
}

func (f *fleet) person() *person {
	f.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not installed")
	}
	p := &person{hosttest.New(f.T, ""), f, "unix://" + filepath.Join(f.dir, "hub.sock")}
	p.Must(os.WriteFile(filepath.Join(p.Dir, ".gitconfig"), []byte("[user]\n\tname = p\n\temail = p@x\n[init]\n\tdefaultBranch = main\n"), 0o600))
	p.Must(os.Mkdir(filepath.Join(p.Dir, "app"), 0o755))
	p.git("init", "-q")
	p.write("app/a", "one\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return p
}

func (p *person) git(args ...string) string {
	p.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = filepath.Join(p.Dir, "app"), p.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *person) write(path, text string) {
	p.Helper()
	p.Must(os.WriteFile(filepath.Join(p.Dir, path), []byte(text), 0o644))
}

func (p *person) read(path string) string {
	b, err := os.ReadFile(filepath.Join(p.Dir, path))
	if err != nil {
		return "!" + err.Error()
	}
	return string(b)
}

// in runs tandemux in a directory, with the hub as its host.
func (p *person) in(dir string, args ...string) (string, error) {
	cmd := p.Command(append([]string{"--host", p.hub}, args...)...)
	cmd.Dir = filepath.Join(p.Dir, dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *person) run(dir string, args ...string) string {
	p.Helper()
	out, err := p.in(dir, args...)
	if err != nil {
		p.Fatalf("tandemux %v: %v\n%s", args, err, out)
	}
	return out
}

// new begins a task that runs a script, and gives its id.
func (p *person) new(dir, script string, args ...string) string {
	p.Helper()
	out := p.run(dir, append([]string{"task", "new", "--no-sandbox", "--agent-command", strings.Join(p.f.script(script), " ")}, args...)...)
	words := strings.Fields(out)
	for _, word := range words {
		if strings.HasPrefix(word, "tsk_") {
			return word
		}
	}
	p.Fatalf("no id: %s", out)
	return ""
}

// rests waits until a task has nothing to do.
func (p *person) rests(id string) {
	p.Helper()
	p.f.eventually("the turn has ended", 90*time.Second, func() bool {
		t, _ := p.f.queue.Task(id)
		return t.Record.State == lease.Idle && len(t.Record.Ends) > 0
	})
}

// objects are how many files the hub has stored.
func (f *fleet) objects() (names []string) {
	f.Helper()
	o, err := f.bus.JS.ObjectStore(context.Background(), "tandemux_files")
	f.must(err)
	all, err := o.List(context.Background())
	if err != nil {
		return nil // there are none
	}
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}

// TestFilesTravel: a repository goes to the host that does the task, what its agent makes of it
// comes home, by the commands that are there for any task; then the task goes, and all
// that was stored of it.
func TestFilesTravel(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.host("one", 1)
	gpu := f.host("two", 1, "gpu")
	f.host("three", 1)
	p := f.person()
	p.write("app/a", "not committed\n")
	id := p.new("app", "prompt\nshell a cat a >saw; echo two >>a; echo made >new; git add new; git -c user.name=a -c user.email=a@x commit -q -m mine\nprompt\nshell a echo again >>new", "--where", "gpu", "--name", "fix", "-m", "go", "--wait")
	p.rests(id)
	if k, _ := f.queue.Task(id); k.Record.Home != "two" {
		t.Errorf("it ran on %q", k.Record.Home)
	}
	if out := p.run("", "task", "ls"); !strings.Contains(out, "worktree:app") {
		t.Errorf("the list is\n%s", out)
	}
	if out := p.run("", "ws", "diff", "fix"); !strings.Contains(out, "+made") || !strings.Contains(out, "+two") || strings.Contains(out, "not committed") {
		t.Errorf("the diff is\n%s", out)
	}
	if out, err := p.in("", "ws", "merge", "fix", "--yes"); err == nil || !strings.Contains(out, "uncommitted changes") || p.read("app/a") != "not committed\n" {
		t.Errorf("over what is not committed: %v, %s", err, out)
	}
	p.git("checkout", "-q", "--", "a")
	if out := p.run("", "ws", "merge", "fix", "--dry-run"); !strings.Contains(out, "3 files, +3 -0") || p.read("app/a") != "one\n" {
		t.Errorf("a dry run:\n%s", out)
	}
	p.run("", "ws", "merge", "fix", "--yes")
	if p.read("app/a") != "one\ntwo\n" || p.read("app/new") != "made\n" || p.read("app/saw") != "one\n" || !strings.Contains(p.git("log", "--format=%s"), "mine") {
		t.Errorf("home has %q, %q, %q:\n%s", p.read("app/a"), p.read("app/new"), p.read("app/saw"), p.git("log"))
	}
	// The next turn, on the same host, which dies for good: what its last turn left is here.
	p.run("", "task", "send", id, "go on", "--wait")
	p.rests(id)
	gpu.stop()
	if out := p.run("", "ws", "diff", "fix"); !strings.Contains(out, "+again") || strings.Contains(out, "+two") || !strings.Contains(out, "what the last turn left") {
		t.Errorf("the diff of a host that is away:\n%s", out)
	}
	if out := p.run("", "ws", "diff", "fix", "--stat"); !strings.Contains(out, "1 file, +1 -0") {
		t.Errorf("its count:\n%s", out)
	}
	f.work(gpu, 1, "gpu")
	out := p.run("", "task", "rm", id)
	if !strings.Contains(out, "the branch tandemux/fix stays") || !strings.Contains(p.git("show", "tandemux/fix:new"), "again") {
		t.Errorf("rm says %s", out)
	}
	if left := f.objects(); len(left) > 0 {
		t.Errorf("the hub still has %v", left)
	}
	if list, _ := os.ReadDir(filepath.Join(gpu.Dir, "hub-files")); len(list) > 0 {
		t.Errorf("its host still has %v", list)
	}
	if out := gpu.Tandemux("task", "ls", "--all"); strings.Contains(out, "hub-") {
		t.Errorf("its host still has\n%s", out)
	}
}

// TestDirectoryTravels: so does a directory that is no repository.
func TestDirectoryTravels(t *testing.T) {
	soak.Long(t, "TestFilesTravel has files that travel")
	t.Parallel()
	f := newFleet(t)
	f.host("one", 1)
	p := f.person()
	p.Must(os.Mkdir(filepath.Join(p.Dir, "notes"), 0o755))
	p.write("notes/a", "one\n")
	id := p.new("notes", "prompt\nshell a echo two >>a; echo x >b\nprompt\nshell a echo three >>a", "--workspace", "copy:.", "-m", "go", "--wait")
	p.rests(id)
	if out := p.run("", "ws", "merge", id, "--yes"); !strings.Contains(out, "2 files, +2 -0") || p.read("notes/a") != "one\ntwo\n" || p.read("notes/b") != "x\n" {
		t.Errorf("%s: home has %q, %q", out, p.read("notes/a"), p.read("notes/b"))
	}
	p.run("", "task", "send", id, "go on", "--wait")
	p.rests(id)
	p.write("notes/a", "mine\n")
	if out, err := p.in("", "ws", "merge", id, "--yes"); err == nil || !strings.Contains(out, `changed "a"`) || p.read("notes/a") != "mine\n" {
		t.Errorf("a conflict: %v, %s", err, out)
	}
	p.run("", "task", "rm", id)
	if left := f.objects(); len(left) > 0 {
		t.Errorf("the hub still has %v", left)
	}
	// Without files in it there is none to be had.
	none := p.new("notes", "prompt\nsay ok", "-m", "x", "--wait")
	if out, err := p.in("", "ws", "merge", none, "--yes"); err == nil {
		t.Errorf("of no files: %s", out)
	}
}

// TestFilesAndKills: kill -9 of the worker while files are on their way to it, of it and its
// host while the agent works, and a hub that is gone: with --if-lost again another host begins from what
// was sent, and its work alone comes home.
func TestFilesAndKills(t *testing.T) {
	t.Parallel()
	soak.Long(t, "hosts and workers are killed, and tasks done again")
	f := newFleet(t)
	p := f.person()
	big := make([]byte, 24<<20)
	rand.NewChaCha8([32]byte{}).Read(big) //nolint:errcheck // never fails
	p.write("app/big", string(big))
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "big")
	one := &member{Machine: hosttest.New(t, ""), name: "one"}
	var err error
	one.credential, err = f.bus.Invite("one", 0, queue.Grant("one"))
	f.must(err)
	one.Tandemux("host")
	kill := f.apart(one, 1)
	ran := filepath.Join(f.dir, "ran")
	loading := func() bool {
		list, _ := filepath.Glob(filepath.Join(one.Dir, "hub-files", "*.load"))
		return len(list) > 0
	}
	id := p.new("app", "prompt\nshell a echo x >>"+ran+"; pwd >where; sleep 4; echo done >>a", "--if-lost", "again", "-m", "go")
	f.eventually("the files are on their way", 60*time.Second, func() bool { return loading() || fileLines(ran) > 0 })
	if fileLines(ran) == 0 { // else they were fast
		kill()
		kill = f.apart(one, 1) // the next one takes its place
	}
	f.eventually("the first host works", 60*time.Second, func() bool { return fileLines(ran) == 1 })
	if loading() {
		t.Error("what was on its way is there still")
	}
	kill()
	f.killHost(one)
	f.stop()
	f.start()
	two := f.host("two", 1)
	p.rests(id)
	if k, _ := f.queue.Task(id); k.Record.Home != "two" {
		t.Errorf("it was done by %q", k.Record.Home)
	}
	p.run("", "ws", "merge", id, "--yes")
	if p.read("app/a") != "one\ndone\n" || !strings.HasPrefix(p.read("app/where"), two.Dir) || fileLines(ran) != 2 {
		t.Errorf("home has %q, of %q", p.read("app/a"), p.read("app/where"))
	}
}

func fileLines(path string) int {
	b, _ := os.ReadFile(path)
	return bytes.Count(b, []byte("\n"))
}

// as is the hub's interface as somebody of whom it thinks that they are that.
func (f *fleet) as(name string, scopes ...string) *apiclient.Client {
	f.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	f.must(err)
	a := &api.API{Queue: f.queue, Log: f.log()}
	served := make(chan error, 1)
	who := func(*http.Request) (front.Person, error) { return front.Person{Name: name, Scopes: scopes}, nil }
	go func() {
		served <- front.New(front.Config{Routes: a.Routes(), Authenticators: []front.Authenticator{who}}).Serve(ctx, ln)
	}()
	c := apiclient.New(apiclient.Options{URL: "http://" + ln.Addr().String(), MaxRetries: -1})
	f.Cleanup(func() { cancel(); <-served; c.Close() })
	return c
}

// TestFilesOfOthers: who is not the task's owner neither puts nor gets its files, a host only
// those whose lease it has; what is not what was said is not stored, nor what there is no
// room for.
func TestFilesOfOthers(t *testing.T) {
	soak.Long(t, "several people")
	t.Parallel()
	f := newFleet(t)
	ada, ben := f.as("ada", "session", "terminal:read"), f.as("ben", "session", "terminal:read")
	ctx := t.Context()
	body := bytes.Repeat([]byte("files"), 300_000)
	sum := sha256.Sum256(body)
	l := travel.Load{Kind: travel.Archive, Size: int64(len(body)), Digest: "sha256:" + hex.EncodeToString(sum[:]), Source: "/home/ada/x"}
	create := func(c *apiclient.Client, l travel.Load) (t store.Task, err error) {
		return t, c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/tasks", Body: struct {
			task.NewTask
			Files travel.Load `json:"files"`
		}{task.NewTask{AgentName: "claude"}, l}}, &t)
	}
	put := func(c *apiclient.Client, id string, b []byte) error {
		return c.Do(ctx, apiclient.Request{Method: http.MethodPut, Path: "/fleet/tasks/" + id + "/files", Raw: bytes.NewReader(b), Type: "application/octet-stream"}, nil)
	}
	says := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	tk, err := create(ada, l)
	f.must(err)
	says("an event before the files", ada.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/tasks/" + tk.ID + "/events", Body: map[string]string{"content": "x"}}, nil), "were not sent")
	says("others' files", put(ben, tk.ID, body), "there is no task")
	says("wrong bytes", put(ada, tk.ID, append([]byte("F"), body[1:]...)), "damaged on their way")
	says("less", put(ada, tk.ID, body[1:]), "damaged on their way")
	says("more", put(ada, tk.ID, append(body[:len(body):len(body)], 'x')), "damaged on their way")
	if left := f.objects(); len(left) > 0 {
		t.Errorf("the hub has %v", left)
	}
	f.must(put(ada, tk.ID, body))
	f.must(put(ada, tk.ID, body)) // as after an answer that was lost
	for _, path := range []string{"", "/base", "/result"} {
		says("others' files", ben.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/fleet/tasks/" + tk.ID + "/files" + path}, nil), "there is no task")
	}
	resp, err := ada.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/fleet/tasks/" + tk.ID + "/files/base"})
	f.must(err)
	f.must(l.Receive(resp.Body, filepath.Join(f.dir, "got")))
	resp.Body.Close()

	// Hosts, by what their credentials let them ask.
	c, err := f.bus.Invite("sly", 0, queue.Grant("sly"))
	f.must(err)
	nc, err := connect("nats://"+f.bus.Addr(), "sly", c.Text)
	f.must(err)
	defer nc.Close()
	for _, kind := range []string{"file", "keep"} {
		m, err := nc.Request(queue.Subject(kind, "sly"), fmt.Appendf(nil, `{"id":%q,"lease":1,"load":{"kind":"archive","size":1,"digest":%q}}`, tk.ID, l.Digest), 10*time.Second)
		if err != nil || !strings.Contains(string(m.Data), `"status":409`) {
			t.Errorf("%s without a lease: %v", kind, err)
		}
	}
	for _, subject := range []string{queue.Subject("file", "one"), "$JS.API.STREAM.MSG.GET.OBJ_tandemux_files", "$JS.API.DIRECT.GET.OBJ_tandemux_files", "$O.tandemux_files.C.x"} {
		if _, err := nc.Request(subject, []byte(`{"last_by_subj":"$O.tandemux_files.M.>"}`), time.Second); err == nil {
			t.Errorf("a host may ask %s", subject)
		}
	}

	// Room.
	for _, l := range []queue.Limits{{Person: -1}, {Bytes: -1}, {Labels: map[string]int{"gpu": -2}}} {
		if err := f.do(http.MethodPut, "/fleet/limits", l, nil); err == nil || !strings.Contains(err.Error(), "is no limit") {
			t.Errorf("limits %+v: %v", l, err)
		}
	}
	f.must(f.do(http.MethodPut, "/fleet/limits", queue.Limits{Bytes: 4 << 20}, nil))
	f.eventually("the limit holds", 10*time.Second, func() bool { most, _ := f.queue.Room("ada"); return most == 4<<20 })
	_, err = create(ada, travel.Load{Kind: travel.Archive, Size: 3 << 20, Digest: l.Digest})
	says("too much in all", err, "of which 3 MiB are left")
	if err == nil || !strings.Contains(err.Error(), "tandemux task rm") {
		t.Errorf("it does not say what to do: %v", err)
	}
	_, err = create(ben, travel.Load{Kind: travel.Archive, Size: 3 << 20, Digest: l.Digest})
	f.must(err)
	_, err = create(ada, travel.Load{Kind: travel.Archive, Size: travel.MaxSize + 1, Digest: l.Digest})
	says("too large", err, "take more than")
	f.must(ada.Do(ctx, apiclient.Request{Method: http.MethodDelete, Path: "/tasks/" + tk.ID}, nil))
	if left := f.objects(); len(left) > 0 {
		t.Errorf("the hub still has %v", left)
	}
	if _, left := f.queue.Room("ada"); left != 4<<20 {
		t.Errorf("of ada's room %d bytes are left", left)
	}
}
