package terminal

import (
	"strings"

	"github.com/charmbracelet/x/termios"
	"golang.org/x/sys/unix"

	"tandemux/host/shell"
)

// WantsInput reports whether a program in the foreground appears to wait for typed input. It
// does if it reads a terminal, or if it waits for any of several files with echo off and
// there is text on the line before the cursor, as line editors do. Without /proc the result
// is false. It may be called from any goroutine.
func (t *Terminal) WantsInput(line string) bool {
	edits := false
	t.exit.raw.Control(func(fd uintptr) {
		mode, err := termios.GetTermios(int(fd))
		edits = err == nil && mode.Lflag&unix.ECHO == 0 && strings.TrimSpace(line) != ""
	})
	return shell.Waits(t.Foreground(), edits)
}
