package desk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandemux/ahp"
	"tandemux/host/git"
	"tandemux/internal/fileuri"
	"tandemux/internal/procgroup"
	"tandemux/ui/segments"
)

const (
	// scriptTime is how long the command of the status line may take, gitTime git.
	scriptTime = 5 * time.Second
	gitTime    = 2 * time.Second
	// closeTime is how long its output may stay open in other processes.
	closeTime = 500 * time.Millisecond
	// maxLine is what is kept of what it prints, maxPrinted what it may print at all, in bytes.
	maxLine    = 4 << 10
	maxPrinted = 64 << 10
)

// here is the path of a directory that is on this machine, "" for others.
func (d Desk) here(dir ahp.URI) string {
	name, _ := os.Hostname()
	path, ok := fileuri.Local(dir, name)
	if !ok || d.place.Elsewhere() {
		return ""
	}
	return path
}

// Script implements segments.Desk. The line runs in the pane's directory, in a process
// group of its own that ends when its time is over.
func (d Desk) Script(ctx context.Context, line string, at segments.Place) string {
	ctx, cancel := context.WithTimeout(ctx, scriptTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	home, _ := os.UserHomeDir()
	for _, dir := range []string{d.here(at.Dir), home, "/"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			cmd.Dir = dir
			break
		}
	}
	cmd.Env = append(cmd.Environ(), "TANDEMUX_LAYOUT="+at.Layout, "TANDEMUX_PANE="+at.Terminal)
	var out, said firstLine
	cmd.Stdout, cmd.Stderr = &out, &said
	err := ended(cmd)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("status-command: stopped after %v", scriptTime)
	case out.text() != "" || err == nil:
		return out.text()
	}
	return "status-command: " + cmp.Or(said.text(), err.Error())
}

// ended runs a program that ends with its context and with us.
func ended(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr, cmd.WaitDelay = procgroup.Dying(), closeTime
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}

// firstLine keeps the beginning of what is written to it. Beyond a bound it is closed.
type firstLine struct {
	kept bytes.Buffer
	n    int
}

func (f *firstLine) Write(p []byte) (int, error) {
	if f.n += len(p); f.n > maxPrinted {
		return 0, io.ErrShortWrite
	}
	f.kept.Write(p[:min(len(p), maxLine-f.kept.Len())])
	return len(p), nil
}

// text is the first line that isn't empty.
func (f *firstLine) text() string {
	line, _, _ := strings.Cut(strings.TrimSpace(f.kept.String()), "\n")
	return strings.TrimSpace(line)
}

func (d Desk) Branch(ctx context.Context, dir ahp.URI) string {
	path := d.here(dir)
	if path == "" {
		return ""
	}
	g := git.Git{Dir: path}
	late, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	// A submodule's own files are not looked at: its configuration isn't turned off.
	out, err := g.Run(late, "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=no", "--ignore-submodules=dirty")
	if late.Err() == nil {
		if err != nil {
			return "" // no repository, or no git
		}
		return branchOf(out)
	}
	if name, err := g.Line(ctx, "symbolic-ref", "--short", "-q", "HEAD"); err == nil {
		return name + "?"
	}
	return ""
}

// branchOf reads git's status: the branch, or the commit of none, and * for changes.
func branchOf(status string) string {
	name, commit, changed := "", "", ""
	for line := range strings.Lines(status) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "# branch.head "); ok {
			name = head
		} else if id, ok := strings.CutPrefix(line, "# branch.oid "); ok {
			commit = id
		} else if line != "" && line[0] != '#' {
			changed = "*"
		}
	}
	if name == "(detached)" {
		name = commit[:min(len(commit), 7)]
	}
	if name == "" {
		return ""
	}
	return name + changed
}

func (d Desk) Battery(ctx context.Context) string {
	if runtime.GOOS != "darwin" {
		return batteryIn("/sys/class/power_supply")
	}
	ctx, cancel := context.WithTimeout(ctx, scriptTime)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "pmset", "-g", "batt")
	cmd.Stdout = &out
	if ended(cmd) != nil {
		return ""
	}
	return pmset(out.String())
}

// full says how full a battery is.
func full(percent int, charging bool) string {
	text := "battery " + strconv.Itoa(percent) + "%"
	if charging {
		text += "+"
	}
	return text
}

// batteryIn reads Linux' power supplies: how full all of this machine's batteries are together.
func batteryIn(dir string) string {
	supplies, _ := os.ReadDir(dir)
	now, most, sum, n, charging := 0, 0, 0, 0, false
	for _, s := range supplies {
		file := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(dir, s.Name(), name)) // what is missing is not known
			return strings.TrimSpace(string(b))
		}
		number := func(name string) int { v, _ := strconv.Atoi(file(name)); return v }
		percent, err := strconv.Atoi(file("capacity"))
		if file("type") != "Battery" || file("scope") == "Device" || file("present") == "0" || err != nil {
			continue // a mouse's, say
		}
		n, sum, charging = n+1, sum+percent, charging || file("status") == "Charging"
		now, most = now+max(number("energy_now"), number("charge_now")), most+max(number("energy_full"), number("charge_full"))
	}
	switch {
	case n == 0:
		return ""
	case n > 1 && most > 0:
		sum, n = 100*now/most, 1
	}
	return full(min(sum/n, 100), charging)
}

var pmsetLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`InternalBattery[^\n]*?(\d{1,3})%; ([a-zA-Z ]+)`) })

// pmset reads what macOS' program of that name says.
func pmset(out string) string {
	m := pmsetLine().FindStringSubmatch(out)
	if m == nil {
		return ""
	}
	percent, _ := strconv.Atoi(m[1]) // three digits
	return full(percent, m[2] == "charging" || m[2] == "finishing charge")
}
