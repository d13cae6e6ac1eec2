package terminal

import (
	"strings"

	"github.com/charmbracelet/x/termios"
	"golang.org/x/sys/unix"

	"tandemux/host/shell"
)

// WantsInput reports whether a program in the foreground waits for what is typed, as far as
// can be told: it reads a terminal, or waits for any of several things with echo off, behind
// text on the line up to the cursor, as line editors do. It knows nothing where there is no
// /proc. It may be called from any goroutine.
func (t *Terminal) WantsInput(line string) bool {
	edits := false
	t.exit.raw.Control(func(fd uintptr) {
		mode, err := termios.GetTermios(int(fd))
		edits = err == nil && mode.Lflag&unix.ECHO == 0 && strings.TrimSpace(line) != ""
	})
	return shell.Waits(t.Foreground(), edits)
}
