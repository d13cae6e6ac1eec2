package pane

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandemux/ahp"
)

// Dir is the directory, below the runtime directory, that comes first on PATH.
const Dir = "tmux"

// again stands in the URI of a terminal before how often its pane's program was replaced.
// Ids that are made by chance don't have it.
const again = "~"

// numberBits keeps numbers exact where they are read as floating point.
const numberBits = 48

// Number is what tmux would call a thing by a sigil and a number: "%7" for a pane. It is
// the same for all programs that one pane has had.
func Number(sigil, name string) string {
	h := fnv.New64a()
	first, _, _ := strings.Cut(name, again)
	h.Write([]byte(first))
	return sigil + strconv.FormatUint(h.Sum64()>>(64-numberBits), 10)
}

// Next is the URI of the terminal that comes in another one's place in its pane.
func Next(uri ahp.URI) ahp.URI {
	first, n, _ := strings.Cut(uri, again)
	times, _ := strconv.Atoi(n)
	return first + again + strconv.Itoa(times+1)
}

// Environ gives the variables of a terminal's program; path is its PATH without them.
func Environ(runtime, socket string, uri ahp.URI, path string) map[string]string {
	dir := filepath.Join(runtime, Dir)
	if path != "" {
		path = string(filepath.ListSeparator) + path
	}
	return map[string]string{
		// As tmux has it: the socket, the server's process, the session.
		"TMUX":      fmt.Sprintf("%s,%d,0", socket, os.Getpid()),
		"TMUX_PANE": Number("%", uri),
		"PATH":      dir + path,
	}
}

// Install has `tmux` in Dir be a program.
func Install(runtime, program string) error {
	dir := filepath.Join(runtime, Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of tmux for agents: %w", err)
	}
	fresh := filepath.Join(dir, ".tmux")
	os.Remove(fresh) // of a host that died
	if err := os.Symlink(program, fresh); err != nil {
		return fmt.Errorf("lay tmux for agents: %w", err)
	}
	if err := os.Rename(fresh, filepath.Join(dir, "tmux")); err != nil {
		return fmt.Errorf("lay tmux for agents: %w", err)
	}
	return nil
}
