package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandemux/host/agent"
	"tandemux/host/shell"
	"tandemux/internal/procgroup"
)

const (
	// quitTime is how long an agent may take to end after the end of its stdin, termTime after
	// SIGTERM.
	quitTime = time.Second
	termTime = 3 * time.Second
)

// process is a running agent, the leader of a process group.
type process struct {
	cmd     *exec.Cmd
	in      *os.File
	out     *agent.Output
	errors  *stderr
	watcher *procgroup.Watcher
	ended   chan struct{} // closed when the leader has ended and how is set
	how     string        // "exit code 3", "SIGKILL"
	gone    chan struct{} // closed when the whole group has ended, as far as can be known
}

// foreign are variables of the host's environment by which an agent would think that it runs inside of
// another program.
var foreign = []string{"TANDEMUX_TERMINAL", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "TMUX", "TMUX_PANE", "STY"}

// environ returns the agent's environment: base without foreign, and env, which overrides it.
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

// launch returns how to start the agent in a directory, in the session's confinement if it has one.
// file is the program's path.
func (p *Provider) launch(ctx context.Context, s *session, dir string) (file string, l agent.Launch, err error) {
	w := s.panes()
	l.Argv = slices.Concat(p.c.Command, w.Args)
	if s.spec.Confine == nil {
		l.Env, l.Dir = environ(p.c.Environ(), s.environ()), cmp.Or(p.c.Dir, dir, os.TempDir())
		if file, err = agent.LookPath(l.Argv[0], l.Env); err != nil {
			err = agent.Errorf(agent.KindNotFound,
				"start agent %s: there is no program %q on the PATH: install it, or name it in [agents.%s] command", p.c.ID, p.c.Command[0], p.c.ID)
		}
		return file, l, err
	}
	l.Env, l.Dir, l.Files = environ(nil, s.environ()), dir, w.Files
	l, err = s.spec.Confine.Wrap(ctx, l)
	if err == nil && (len(l.Argv) == 0 || !filepath.IsAbs(l.Argv[0])) {
		err = errors.New("the sandbox names no program to start it with")
	}
	if err != nil {
		return "", l, agent.Errorf(agent.KindStart, "start agent %s: %v", p.c.ID, err)
	}
	return l.Argv[0], l, nil
}

// start starts an agent in a directory. s may be nil.
func (p *Provider) start(ctx context.Context, dir string, s *session) (*process, error) {
	s = cmp.Or(s, &session{p: p})
	file, launch, err := p.launch(ctx, s, dir)
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
			return nil, agent.Errorf(agent.KindStart, "start agent %s: %v", p.c.ID, err)
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
		return nil, agent.Errorf(kind, "start agent %s: %v: check [agents.%s] in the configuration", p.c.ID, err, p.c.ID)
	}
	ends[0].Close()
	ends[3].Close()
	ends[5].Close()
	pr := &process{
		cmd: cmd, in: ends[1], out: agent.NewOutput(ends[2]), errors: newStderr(ends[4], p.c.LogFile, p.c.Stderr),
		ended: make(chan struct{}), gone: make(chan struct{}),
	}
	if pr.watcher, err = procgroup.Watch(cmd.Process.Pid); err != nil {
		p.log.Warn("nobody will end the agent if the host dies", "agent", p.c.ID, "err", err)
	}
	go pr.wait()
	return pr, nil
}

// wait waits for the process and ends what is left of its group.
func (pr *process) wait() {
	defer close(pr.gone)
	pr.how = procgroup.How(pr.cmd.Wait())
	close(pr.ended)
	pr.out.Ended()
	group := -pr.cmd.Process.Pid
	if syscall.Kill(group, syscall.SIGTERM) == nil && !pr.emptyWithin(termTime) {
		syscall.Kill(group, syscall.SIGKILL)
	}
	pr.watcher.Release()
	pr.errors.close()
}

// emptyWithin waits until the group of an ended leader is empty, and reports whether it is.
func (pr *process) emptyWithin(d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if syscall.Kill(-pr.cmd.Process.Pid, 0) != nil {
			return true
		}
	}
	return false
}

// stop ends the agent and its group, first by closing its stdin, and waits for the end. It may be
// called more than once.
func (pr *process) stop() {
	pr.in.Close()
	steps := []struct {
		wait time.Duration
		next syscall.Signal
	}{{quitTime, syscall.SIGTERM}, {termTime, syscall.SIGKILL}, {termTime, syscall.SIGKILL}}
	for _, s := range steps {
		select {
		case <-pr.ended:
			<-pr.gone
			return
		case <-time.After(s.wait):
			// The leader is not reaped yet, so its group's id is still its own.
			syscall.Kill(-pr.cmd.Process.Pid, s.next)
		}
	}
	<-pr.gone
}

// Panes says how to make an agent run its commands with a tool of the host's (agent.Server.Commands),
// or in a shell that has the host run them, so that each command has a terminal.
type Panes struct {
	Args  []string        // appended to its command
	Env   []agent.Var     // overridden by its configured environment
	Meta  json.RawMessage // _meta of session/new
	Files []string        // directories of the host that Args and Env name
	// Shell is the program for $SHELL; "" leaves it unchanged.
	Shell string
}

// panes returns Panes for the session's agent, or the zero value if the agent does not get such a
// tool.
func (s *session) panes() Panes {
	if s.p.c.Panes == nil || s.ownShell || s.p.c.Panes.Shell != "" && s.spec.Confine != nil || !slices.ContainsFunc(s.spec.Servers, func(m agent.Server) bool { return m.Commands != "" }) {
		return Panes{}
	}
	return *s.p.c.Panes
}

// environ returns the variables that are set in the agent's environment.
func (s *session) environ() []agent.Var {
	w := s.panes()
	if s.spec.Confine != nil {
		return slices.Concat(w.Env, s.p.c.Env)
	}
	if w.Shell != "" {
		w.Env = slices.Concat(w.Env, []agent.Var{{Name: "SHELL", Value: w.Shell}, {Name: agent.SessionEnv, Value: s.spec.Session}, {Name: agent.ChatEnv, Value: s.spec.Chat}})
	}
	return slices.Concat(w.Env, s.p.c.Env, s.spec.Env)
}

// host is what is known about a call of the host's tool for commands; nil for other tools.
type host struct {
	tool    string
	command string
	input   json.RawMessage // {"command": …}, as for agents' own shells
}

// hostArgs are the arguments of that tool or of agents' own shells, or an object that contains them.
type hostArgs struct {
	Line       string          `json:"line"`
	Command    json.RawMessage `json:"command"`
	Cwd        string          `json:"cwd"`
	TerminalID string          `json:"terminalId"`
	Arguments  *hostArgs       `json:"arguments"`
}

// hostCommand makes a call of the host's tool look like the command that it runs. Agents have several
// names for such a tool.
func (s *session) hostCommand(c *call) {
	for _, m := range s.spec.Servers {
		names := []string{
			"mcp__" + m.Name + "__" + m.Commands, "mcp_" + m.Name + "_" + m.Commands, m.Name + "_" + m.Commands,
			m.Commands + " (" + m.Name + " MCP Server)", "Tool: " + m.Name + "/" + m.Commands,
		}
		if c.host == nil && m.Commands != "" && (slices.Contains(names, c.Name) || slices.Contains(names, c.Title)) {
			c.host = &host{tool: m.Commands}
		}
	}
	if c.host == nil {
		return
	}
	c.host.read(c.Input)
	for _, i := range c.items { // some agents have the arguments as text when they ask
		if i.Content != nil && c.host.input == nil {
			c.host.read(json.RawMessage(i.Content.Text))
		}
	}
	if c.host.input != nil && !c.Status.Over() {
		c.items = nil // it only repeats the arguments
	}
	c.Name, c.Kind, c.Title, c.Input = c.host.tool, "execute", clip(cmp.Or(c.host.command, c.host.tool), maxTitle), c.host.input
}

// read reads the arguments, if raw has them.
func (h *host) read(raw json.RawMessage) {
	var in hostArgs
	if json.Unmarshal(raw, &in) != nil {
		return
	}
	if in.Arguments != nil {
		in = *in.Arguments
	}
	command := in.Line
	var argv []string
	if json.Unmarshal(in.Command, &argv) == nil && command == "" {
		command = shell.Quote(argv, "") // in the form with which permissions are compared
	} else if command == "" {
		json.Unmarshal(in.Command, &command) //nolint:errcheck // without it there is no command
	}
	if command == "" {
		return
	}
	all := map[string]string{"command": command}
	for name, value := range map[string]string{"cwd": in.Cwd, "terminalId": in.TerminalID} {
		if value != "" {
			all[name] = value
		}
	}
	h.command = command
	h.input, _ = json.Marshal(all)
}
