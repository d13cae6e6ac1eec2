package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/client"
	"tandemux/internal/daemon"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/wsrpc"
)

// job is a command that runs while the script goes on.
type job struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // once done is closed
}

// jobs are those of the running scripts.
var jobs struct {
	sync.Mutex
	all map[string]*job // by the script's directory and the job's name
}

// cmdJob runs commands beside the script:
//
//	job start NAME CMD ARG…    standard output and error go to NAME.out and NAME.err
//	job signal NAME INT|KILL
//	job wait NAME CODE         until it has ended, with an exit code
func cmdJob(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: job start NAME CMD [ARG...]|signal NAME INT|KILL|wait NAME CODE")
	}
	name := args[1]
	key := ts.Getenv("WORK") + "\x00" + name
	jobs.Lock()
	if jobs.all == nil {
		jobs.all = map[string]*job{}
	}
	j := jobs.all[key]
	jobs.Unlock()
	switch args[0] {
	case "start":
		j = startJob(ts, name, args[2:])
		jobs.Lock()
		jobs.all[key] = j
		jobs.Unlock()
	case "signal":
		ts.Check(j.cmd.Process.Signal(map[string]syscall.Signal{"INT": syscall.SIGINT, "KILL": syscall.SIGKILL}[args[2]]))
	case "wait":
		want, err := strconv.Atoi(args[2])
		ts.Check(err)
		select {
		case <-j.done:
		case <-time.After(2 * waitLimit):
			ts.Fatalf("job %s does not end", name)
		}
		code := 0
		var ended *exec.ExitError
		if errors.As(j.err, &ended) {
			code = ended.ExitCode()
		} else {
			ts.Check(j.err)
		}
		if code != want {
			text, _ := os.ReadFile(ts.MkAbs(name + ".err"))
			ts.Fatalf("job %s ended with %d, want %d: %s", name, code, want, text)
		}
	}
}

func startJob(ts *testscript.TestScript, name string, argv []string) *job {
	path := argv[0]
	if p, err := exec.LookPath(path); err == nil {
		path = p
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir = ts.MkAbs(".")
	for _, k := range scriptEnv {
		cmd.Env = append(cmd.Env, k+"="+ts.Getenv(k))
	}
	// A process of our own, so that nothing of it is left at a failure.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	if in, err := os.Open(ts.MkAbs(name + ".in")); err == nil {
		defer in.Close()
		cmd.Stdin = in
	}
	ts.Check(cmd.Start())
	j := &job{cmd: cmd, done: make(chan struct{})}
	go func() {
		j.err = cmd.Wait()
		close(j.done)
	}()
	ts.Defer(func() {
		cmd.Process.Kill()
		<-j.done
	})
	return j
}

// scriptEnv are the variables that a script's commands need.
var scriptEnv = []string{
	"PATH", "HOME", "WORK", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
	"SHELL", "TERM", "LANG", "LC_ALL", "TMPDIR",
}

// outages are the start locks that scripts hold.
var outages struct {
	sync.Mutex
	ends map[string]func() // by the runtime directory
}

// cmdOutage kills the host, and keeps others from starting one until it is over:
// outage begin|end.
func cmdOutage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: outage begin|end")
	}
	d := local.Dirs{Dirs: daemon.Dirs{Runtime: filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "tandemux")}}
	outages.Lock()
	defer outages.Unlock()
	if outages.ends == nil {
		outages.ends = map[string]func(){}
	}
	if args[0] == "end" {
		outages.ends[d.Runtime]()
		delete(outages.ends, d.Runtime)
		return
	}
	unlock, err := d.LockStart()
	ts.Check(err)
	outages.ends[d.Runtime] = unlock
	ts.Defer(func() {
		outages.Lock()
		defer outages.Unlock()
		if unlock := outages.ends[d.Runtime]; unlock != nil {
			unlock()
			delete(outages.ends, d.Runtime)
		}
	})
	cmdSigkill(ts, false, []string{"host"})
	for end := time.Now().Add(waitLimit); hostPid(d.Runtime) != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("the host does not end")
		}
	}
}

// cmdWaiting waits until so many requests wait in the host, or until a file is
// there: waiting N|FILE.
func cmdWaiting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waiting N|FILE")
	}
	there := func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	}
	if n, err := strconv.Atoi(args[0]); err == nil {
		path := filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "tandemux", listen.SocketName)
		ctx, cancel := context.WithTimeout(context.Background(), 2*waitLimit)
		defer cancel()
		c, err := client.Connect(ctx, client.Options{Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + path})
		}})
		ts.Check(err)
		defer c.Close()
		there = func() bool {
			var r ahp.HostResult
			ts.Check(c.Call(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r))
			return r.Waits == n
		}
	}
	for end := time.Now().Add(waitLimit); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			var said bytes.Buffer
			list, _ := filepath.Glob(ts.MkAbs("*.err"))
			for _, path := range list {
				text, _ := os.ReadFile(path)
				said.WriteString(path + ": " + string(text) + "\n")
			}
			ts.Fatalf("waited %v for %s; jobs said: %s", waitLimit, args[0], said.String())
		}
	}
}
