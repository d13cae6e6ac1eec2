//go:build linux

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tandemux/host/agent"
	"tandemux/internal/pty"
)

// console is a sandboxed command on a pty of its own, started as the keeper starts
// it: the leader of a session.
type console struct {
	*output
	cmd *exec.Cmd
	tty *os.File
}

func open(t *testing.T, b *box, argv ...string) *console {
	t.Helper()
	cmd := b.command(agent.Launch{Terminal: true, Env: []string{"TERM=xterm-256color", "PS1=$ "}}, argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	c := &console{&output{t: t}, cmd, tty}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			c.Write(buf[:n]) //nolint:errcheck // memory
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		tty.Close()
		<-done
	})
	return c
}

func (c *console) keys(text string) {
	c.t.Helper()
	if _, err := c.tty.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// TestTerminal: an interactive shell inside has its terminal, with jobs, sizes and
// signals; typing by ioctl is not permitted.
func TestTerminal(t *testing.T) {
	for _, shell := range [][]string{{"bash", "--norc", "-i"}, {"zsh", "-f", "-i"}, {"fish", "--no-config", "-i"}} {
		t.Run(shell[0], func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip(err)
			}
			b := within(t)
			c := open(t, b, shell...)
			c.keys("echo be\"\"gun\r")
			c.waitFor("begun")
			if out := c.String(); strings.Contains(out, "job control") || strings.Contains(out, "can't access tty") {
				t.Errorf("no job control: %q", out)
			}
			c.keys("sleep 1000\r")
			waitFor(t, "the job", func() bool { return c.foreground() != c.cmd.Process.Pid && c.foregroundIs("sleep") })
			c.keys("\x1a")
			waitFor(t, "the shell", func() bool { return !c.foregroundIs("sleep") })
			c.keys("fg\r")
			waitFor(t, "the job again", func() bool { return c.foregroundIs("sleep") })
			c.keys("\x03")
			waitFor(t, "the shell again", func() bool { return !c.foregroundIs("sleep") })
			if err := pty.Setsize(c.tty, &pty.Winsize{Rows: 33, Cols: 101}); err != nil {
				t.Fatal(err)
			}
			c.keys("stty size; tty; echo end\"\"ed\r")
			c.waitFor("33 101")
			c.waitFor("/dev/console")
			c.waitFor("ended")
			c.keys("exit 5\r")
			c.cmd.Wait()
			if code := c.cmd.ProcessState.ExitCode(); code != 5 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// foreground is the terminal's foreground group.
func (c *console) foreground() int {
	pgrp, err := unix.IoctlGetInt(int(c.tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return pgrp
}

func (c *console) foregroundIs(name string) bool {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.foreground()), "comm"))
	return strings.TrimSpace(string(text)) == name
}

// TestInterrupt: a command that is no shell gets ctrl+c itself, and its sandbox does
// not end before it has.
func TestInterrupt(t *testing.T) {
	b := within(t)
	c := open(t, b, "sh", "-c", `trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done`)
	c.waitFor("ready")
	c.keys("\x03")
	c.waitFor("caught")
	c.cmd.Wait()
	if code := c.cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("exit code %d", code)
	}
	c = open(t, b, "sh", "-c", `echo ready; exec sleep 1000`)
	c.waitFor("ready")
	waitFor(t, "sleep", func() bool { return c.has("sleep") })
	c.keys("\x03")
	c.cmd.Wait()
	if code := c.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

func (c *console) has(name string) bool {
	for _, pid := range family(c.cmd.Process.Pid) {
		if text, _ := os.ReadFile(filepath.Join("/proc", pid, "comm")); strings.TrimSpace(string(text)) == name {
			return true
		}
	}
	return false
}

// TestTyping: neither on its own terminal nor on the one of who starts it can a
// process inside type, nor does an agent have a controlling terminal.
func TestTyping(t *testing.T) {
	b := within(t)
	c := open(t, b, "sh", "-c", `/run/tandemux/tandemux probe tty && echo has-a-tty; /run/tandemux/tandemux probe type || echo may-not-type; exec cat`)
	c.waitFor("has-a-tty")
	c.waitFor("may-not-type")
	// An agent whose host was started in a terminal, with its stdin from there.
	w := b.command(agent.Launch{}, "sh", "-c", `/run/tandemux/tandemux probe tty || echo no""-tty; /run/tandemux/tandemux probe type || echo may""-not-type; echo en""ded`)
	outer := exec.Command("/bin/sh", append([]string{"-c", `"$@"; read _`, "sh"}, w.Args...)...)
	outer.Env, outer.Dir = w.Env, w.Dir
	outer.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	tty, err := pty.StartWithSize(outer, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	defer outer.Wait()
	defer outer.Process.Kill()
	text := ""
	buf := make([]byte, 4096)
	for !strings.Contains(text, "ended") {
		n, err := tty.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, text)
		}
		text += string(buf[:n])
	}
	for _, want := range []string{"no-tty", "may-not-type"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}
