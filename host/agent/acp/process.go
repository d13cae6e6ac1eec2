package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandemux/host/agent"
	"tandemux/internal/procgroup"
)

const (
	// quitTime is how long an agent may take to go after the end of its stdin,
	// termTime after SIGTERM.
	quitTime = time.Second
	termTime = 3 * time.Second
	// lastWords is how long output is still read after the process has ended:
	// another process may hold the pipe open for ever.
	lastWords = 500 * time.Millisecond
)

// process is a running agent: the leader of a process group.
type process struct {
	cmd     *exec.Cmd
	in, out *os.File
	errors  *stderr
	watcher *procgroup.Watcher
	ended   chan struct{} // the leader is gone, and how is known
	how     string        // "exit code 3", "SIGKILL"
	gone    chan struct{} // the whole group is, as far as can be told
}

// foreign are variables of the host's environment that would tell an agent that
// it runs inside of something else.
var foreign = []string{"TANDEMUX_TERMINAL", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "TMUX", "TMUX_PANE", "STY"}

// environ is the agent's environment: the host's, over it the configured one.
func environ(base []string, env []agent.Var) []string {
	out := make([]string, 0, len(base)+len(env))
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(foreign, name) {
			out = append(out, kv)
		}
	}
	for _, v := range env {
		out = append(out, v.Name+"="+v.Value)
	}
	return out
}

// plain is how the agent is started in a directory: file is the program.
func (p *Provider) plain(dir string, s *session) (file string, l agent.Launch, err error) {
	l = agent.Launch{Argv: slices.Concat(p.c.Command, s.panes().Args), Env: environ(p.c.Environ(), s.environ()), Dir: dir}
	if file, err = agent.LookPath(l.Argv[0], l.Env); err != nil {
		err = &agent.Error{Kind: agent.KindNotFound, Message: fmt.Sprintf(
			"start agent %s: there is no program %q on the PATH: install it, or name it in [agents.%s] command", p.c.ID, p.c.Command[0], p.c.ID)}
	}
	return file, l, err
}

// shut is how the agent is started where a session is confined.
func (p *Provider) shut(ctx context.Context, s *session, dir string) (file string, l agent.Launch, err error) {
	l, err = s.spec.Confine.Wrap(ctx, agent.Launch{Argv: slices.Concat(p.c.Command, s.panes().Args), Env: environ(nil, s.environ()), Dir: dir, Files: s.panes().Files})
	if err == nil && (len(l.Argv) == 0 || !filepath.IsAbs(l.Argv[0])) {
		err = errors.New("the sandbox names no program to start it with")
	}
	if err != nil {
		return "", l, &agent.Error{Kind: agent.KindStart, Message: fmt.Sprintf("start agent %s: %v", p.c.ID, err)}
	}
	return l.Argv[0], l, nil
}

// start starts an agent in a directory, for a session or for none.
func (p *Provider) start(ctx context.Context, dir string, s *session) (*process, error) {
	if s == nil {
		s = &session{p: p}
	}
	how := func() (string, agent.Launch, error) { return p.plain(cmp.Or(p.c.Dir, dir, os.TempDir()), s) }
	if s.spec.Confine != nil {
		how = func() (string, agent.Launch, error) { return p.shut(ctx, s, dir) }
	}
	file, launch, err := how()
	if err != nil {
		return nil, err
	}
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	var ends [6]*os.File // read and write ends of stdin, stdout, stderr
	for i := 0; i < len(ends); i += 2 {
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			closeAll()
			return nil, &agent.Error{Kind: agent.KindStart, Message: fmt.Sprintf("start agent %s: %v", p.c.ID, err)}
		}
		files = append(files, ends[i], ends[i+1])
	}
	cmd := &exec.Cmd{
		Path: file, Args: launch.Argv, Env: launch.Env, Dir: launch.Dir,
		Stdin: ends[0], Stdout: ends[3], Stderr: ends[5],
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if err := cmd.Start(); err != nil {
		closeAll()
		kind := agent.KindStart
		if errors.Is(err, os.ErrNotExist) {
			kind = agent.KindNotFound
		}
		return nil, &agent.Error{Kind: kind, Message: fmt.Sprintf("start agent %s: %v: check [agents.%s] in the configuration", p.c.ID, err, p.c.ID)}
	}
	ends[0].Close()
	ends[3].Close()
	ends[5].Close()
	pr := &process{
		cmd: cmd, in: ends[1], out: ends[2], errors: newStderr(ends[4], p.c.LogFile, p.c.Stderr),
		ended: make(chan struct{}), gone: make(chan struct{}),
	}
	if pr.watcher, err = procgroup.Watch(cmd.Process.Pid); err != nil {
		p.log.Warn("nobody will end the agent if the host dies", "agent", p.c.ID, "err", err)
	}
	go pr.wait()
	return pr, nil
}

// wait reaps the process and ends what is left of its group.
func (pr *process) wait() {
	defer close(pr.gone)
	err := pr.cmd.Wait()
	pr.how = "exit code 0"
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
			pr.how = "signal " + s.Signal().String()
		} else {
			pr.how = "exit code " + strconv.Itoa(s.ExitStatus())
		}
	}
	close(pr.ended)
	time.AfterFunc(lastWords, func() { pr.out.Close() })
	group := -pr.cmd.Process.Pid
	if syscall.Kill(group, syscall.SIGTERM) == nil && !pr.emptyWithin(termTime) {
		syscall.Kill(group, syscall.SIGKILL)
	}
	pr.watcher.Release()
	pr.errors.close(lastWords)
}

// emptyWithin waits for the group of a reaped leader to have no member.
func (pr *process) emptyWithin(d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if syscall.Kill(-pr.cmd.Process.Pid, 0) != nil {
			return true
		}
	}
	return false
}

// stop ends the agent and its group, politely at first, and waits for it. It may
// be called more than once.
func (pr *process) stop() {
	pr.in.Close()
	steps := []struct {
		wait time.Duration
		next syscall.Signal
	}{{quitTime, syscall.SIGTERM}, {termTime, syscall.SIGKILL}, {termTime, syscall.SIGKILL}}
	for _, s := range steps {
		timer := time.NewTimer(s.wait)
		select {
		case <-pr.ended:
			timer.Stop()
			<-pr.gone
			return
		case <-timer.C:
			// Not reaped yet, so the group is still its own.
			syscall.Kill(-pr.cmd.Process.Pid, s.next)
		}
	}
	<-pr.gone
}
