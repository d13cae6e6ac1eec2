package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"tandemux/internal/config/strict"
	"tandemux/internal/statefile"
)

const (
	// File is the list's name in the configuration's directory.
	File = "hosts.toml"
	// Local is how this user's own host is called.
	Local = "local"

	maxHosts = 256
	maxName  = 32
	maxURL   = 1024
	maxFile  = 1 << 20
)

// Host is one of the list; its JSON is what `tandemux hosts ls` prints, and stable.
type Host struct {
	Name      string `toml:"name" json:"name" doc:"What --host and HOST:ID take"`
	URL       string `toml:"url" json:"url" doc:"Its address"`
	TokenFile string `toml:"token-file" json:"tokenFile,omitempty" doc:"The file with the token for it"`
	Hub       bool   `toml:"hub" json:"hub,omitempty" doc:"It is a hub: it has tasks, and no terminals"`
}

// taken are names that mean something else in front of a colon, or as --host.
var taken = []string{Local, "ssh", "ws", "wss", "unix", "http", "https", "file", "git", "fs", "worktree", "copy", "none"}

// CheckName says what is wrong with a host's name.
func CheckName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
	switch {
	case name == "" || len(name) > maxName || odd || strings.ContainsRune("._-", rune(name[0])):
		return fmt.Errorf("%q is no name for a host: use up to %d letters, digits, dots, dashes and underscores, the first a letter or digit", name, maxName)
	case slices.Contains(taken, name) || strings.HasPrefix(name, "ahp-") || strings.HasPrefix(name, "x-tandemux-"):
		return fmt.Errorf("%q is no name for a host, as it means something else in tandemux", name)
	}
	return nil
}

func (h Host) check() error {
	if err := CheckName(h.Name); err != nil {
		return err
	}
	for what, text := range map[string]string{"address": h.URL, "token's file": h.TokenFile} {
		if len(text) > maxURL || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("host %s: its %s is too long, or has characters that can't be read", h.Name, what)
		}
	}
	return nil
}

type document struct {
	Host []Host `toml:"host"`
}

// Read gives the hosts of the list, in its order; none where there is no list.
func Read(dir string) ([]Host, error) {
	path := filepath.Join(dir, File)
	text, err := statefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of hosts: %w", err)
	}
	list, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the list of hosts: %s: %w", path, err)
	}
	return list, nil
}

func parse(text []byte) ([]Host, error) {
	var d document
	if err := strict.Decode(text, &d, "a list of hosts"); err != nil {
		return nil, err
	}
	return d.Host, check(d.Host)
}

func check(list []Host) error {
	if len(list) > maxHosts {
		return fmt.Errorf("%d hosts, at most %d are kept", len(list), maxHosts)
	}
	seen := map[string]bool{}
	for _, h := range list {
		if err := h.check(); err != nil {
			return err
		}
		if seen[h.Name] {
			return fmt.Errorf("two hosts are called %s", h.Name)
		}
		seen[h.Name] = true
		if h.URL == "" {
			return fmt.Errorf("host %s has no address", h.Name)
		}
	}
	return nil
}

// Change replaces the list by what of makes of it.
func Change(dir string, of func([]Host) ([]Host, error)) error {
	err := os.MkdirAll(dir, 0o700)
	var lock *os.File
	if err == nil {
		lock, err = os.Open(dir)
	}
	if err == nil {
		defer lock.Close()
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return fmt.Errorf("change the list of hosts: %w", err)
	}
	list, err := Read(dir)
	if err == nil {
		list, err = of(slices.Clone(list))
	}
	if err == nil {
		err = check(list)
	}
	if err != nil {
		return err
	}
	if err := statefile.Write(filepath.Join(dir, File), write(list)); err != nil {
		return fmt.Errorf("change the list of hosts: %w", err)
	}
	return nil
}

func write(list []Host) []byte {
	text := []byte("# Other hosts, for `tandemux hosts`.\n")
	for _, h := range list {
		text = append(text, "\n[[host]]\n"...)
		for _, m := range []struct{ name, value string }{{"name", h.Name}, {"url", h.URL}, {"token-file", h.TokenFile}} {
			if m.value != "" {
				text = fmt.Appendf(text, "%s = %s\n", m.name, strconv.Quote(m.value))
			}
		}
		if h.Hub {
			text = append(text, "hub = true\n"...)
		}
	}
	return text
}

func Find(list []Host, name string) (Host, bool) {
	i := slices.IndexFunc(list, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return list[i], true
}

// Cut parts a text such as HOST:ID, if what stands before its first colon may be a host's
// name.
func Cut(text string) (name, id string, ok bool) {
	name, id, ok = strings.Cut(text, ":")
	if !ok || id == "" || strings.HasPrefix(id, "/") || name != Local && CheckName(name) != nil {
		return "", text, false
	}
	return name, id, true
}
