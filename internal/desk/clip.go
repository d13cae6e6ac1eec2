package desk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// clipWait is how long a program that sets the clipboard is waited for. Those that
// serve the clipboard do so in a process of their own and end at once; one that was
// told to stay does not end until the clipboard is set by another.
const clipWait = 3 * time.Second

// clipper runs the program that sets the clipboard, once at a time.
type clipper struct {
	mu   sync.Mutex
	last *os.Process // that was still running when it was waited for no longer; nil for none
	wait time.Duration
}

// clip gives text to the program that sets the clipboard, as clipboard.Clipper says. The
// program has no terminal, and outlives the interface if it stays.
func (c *clipper) clip(argv []string, text string) (running bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil {
		_ = c.last.Kill() // what it serves is replaced; it may have ended by now
		c.last = nil
	}
	name := filepath.Base(argv[0])
	// A file rather than a pipe: a process that stays in the background keeps it
	// open.
	stderr, err := os.CreateTemp("", "tandemux-clip-")
	if err != nil {
		return false, fmt.Errorf("run %s: make a file for what it says: %w", name, err)
	}
	defer stderr.Close()
	os.Remove(stderr.Name())
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(text), stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = clipWait // for one that has ended and left its stdin to another that doesn't read
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return false, fmt.Errorf("%s is not there; set copy-command to a program that is", argv[0])
		}
		return false, fmt.Errorf("start %s: %w", name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(c.wait):
		c.last = cmd.Process
		return true, nil
	}
	if err == nil {
		return false, nil
	}
	const most = 200
	said := make([]byte, most)
	n, _ := stderr.ReadAt(said, 0)
	if line, _, _ := bytes.Cut(bytes.TrimSpace(said[:n]), []byte("\n")); len(line) > 0 {
		return false, fmt.Errorf("%s failed: %s", name, line)
	}
	return false, fmt.Errorf("%s failed: %w", name, err)
}

// noCopyCommand is a copy-command that leaves the clipboard to the terminal.
const noCopyCommand = "none"

// copyCommand is the command line of the program that sets the clipboard of this
// machine: set, or the one that is there and has a clipboard to set; nil for none. primary
// sets what the middle button pastes; nil where nothing does.
func copyCommand(set string) (argv, primary []string) {
	switch set {
	case noCopyCommand:
		return nil, nil
	case "":
		for _, known := range []struct {
			here          bool
			argv, primary []string
		}{
			{os.Getenv("WAYLAND_DISPLAY") != "", []string{"wl-copy", "--type", "text/plain;charset=utf-8"}, []string{"wl-copy", "--primary", "--type", "text/plain;charset=utf-8"}},
			{os.Getenv("DISPLAY") != "", []string{"xclip", "-selection", "clipboard", "-in"}, []string{"xclip", "-selection", "primary", "-in"}},
			{os.Getenv("DISPLAY") != "", []string{"xsel", "--clipboard", "--input"}, []string{"xsel", "--primary", "--input"}},
			// Over ssh it would be the clipboard of a Mac that the person isn't at.
			{runtime.GOOS == "darwin" && os.Getenv("SSH_CONNECTION") == "", []string{"pbcopy"}, nil},
		} {
			if _, err := exec.LookPath(known.argv[0]); known.here && err == nil {
				return known.argv, known.primary
			}
		}
		return nil, nil
	}
	return strings.Fields(set), nil
}
