package terminals

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// hold keeps a named pipe in reach whose name may go, neither as a reader nor as a writer.
func hold(name string) (*os.File, string, error) {
	f, err := os.OpenFile(name, unix.O_PATH, 0)
	return f, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), err
}
