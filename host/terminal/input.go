package terminal

import (
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/termios"
	"golang.org/x/sys/unix"

	"tandemux/host/shell"
)

// maxAsked bounds the processes that are looked at for one that waits for input.
const maxAsked = 32

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
	asked := []string{fmt.Sprint(t.Foreground())}
	for i := 0; i < len(asked) && i < maxAsked; i++ {
		at := "/proc/" + asked[i]
		switch wait, _ := os.ReadFile(at + "/wchan"); {
		case string(wait) == "n_tty_read", string(wait) == "wait_woken" && shell.ReadsTerminal(at):
			return true
		case edits && (strings.Contains(string(wait), "poll") || strings.Contains(string(wait), "select")):
			return true
		}
		children, _ := os.ReadFile(at + "/task/" + asked[i] + "/children")
		asked = append(asked, strings.Fields(string(children))...)
	}
	return false
}
