package auth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"tandemux/ahp"
	"tandemux/internal/statefile"
)

const (
	// maxBindings bounds all bindings; one principal may have a quarter of them. Beyond that its own
	// oldest are dropped, so that it can't displace others'.
	maxBindings = 16384
	// maxBindingFile is the size at which the file is rewritten, in bytes.
	maxBindingFile = 8 << 20
)

// ClientIDs remembers which principal a clientId belongs to, across restarts, in the file
// State/clients. Each line is a JSON array [clientId, principal], appended when a clientId is bound.
// If the file is lost, only that is forgotten. The methods must not be called concurrently.
type ClientIDs struct {
	path  string
	file  *os.File // nil if it can't be written
	size  int64
	owner map[string]string   // clientId to principal
	order map[string][]string // by principal, oldest first
}

// OpenClientIDs reads the file. Invalid lines are skipped.
func OpenClientIDs(dir string) (*ClientIDs, error) {
	b := &ClientIDs{path: filepath.Join(dir, "clients"), owner: map[string]string{}, order: map[string][]string{}}
	text, err := statefile.Read(b.path, 2*maxBindingFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, fmt.Errorf("read the clients' names in %s: %w", b.path, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	n := 0
	for lines.Scan() {
		var pair [2]string
		n++
		if json.Unmarshal(lines.Bytes(), &pair) == nil && CheckClientID(pair[0]) == nil && pair[1] != "" {
			b.remember(pair[0], pair[1])
		}
	}
	if n > 2*len(b.owner)+100 {
		return b, b.rewrite()
	}
	return b, b.open()
}

// Owner returns the principal that a clientId is bound to, or "".
func (b *ClientIDs) Owner(clientID string) string { return b.owner[clientID] }

func (b *ClientIDs) open() error {
	f, err := os.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	b.file, b.size = f, info.Size()
	return nil
}

// Bind binds a clientId to a principal, unless it is bound to it already.
func (b *ClientIDs) Bind(id, principal string) error {
	if b.owner[id] == principal {
		return nil
	}
	b.remember(id, principal)
	if b.file == nil {
		return nil // the error was reported when it was opened
	}
	line, err := json.Marshal([2]string{id, principal})
	if err != nil {
		return err
	}
	n, err := b.file.Write(append(line, '\n'))
	b.size += int64(n)
	if err == nil && b.size > maxBindingFile {
		err = b.rewrite()
	}
	return err
}

func (b *ClientIDs) remember(id, principal string) {
	if old, ok := b.owner[id]; ok {
		b.order[old] = slices.DeleteFunc(b.order[old], func(o string) bool { return o == id })
	}
	own := append(b.order[principal], id)
	if len(own) > maxBindings/4 {
		delete(b.owner, own[0])
		own = own[1:]
	}
	b.owner[id], b.order[principal] = principal, own
	if len(b.owner) > maxBindings {
		b.forget()
	}
}

// forget drops the older half of the bindings of the principal with the most.
func (b *ClientIDs) forget() {
	most := ""
	for p, ids := range b.order {
		if len(ids) > len(b.order[most]) {
			most = p
		}
	}
	ids := b.order[most]
	half := (len(ids) + 1) / 2
	for _, id := range ids[:half] {
		delete(b.owner, id)
	}
	b.order[most] = slices.Clone(ids[half:])
	if len(b.order[most]) == 0 {
		delete(b.order, most)
	}
}

// rewrite replaces the file with the current bindings.
func (b *ClientIDs) rewrite() error {
	b.Close()
	var text bytes.Buffer
	for _, ids := range b.order {
		for _, id := range ids {
			line, err := json.Marshal([2]string{id, b.owner[id]})
			if err != nil {
				return err
			}
			text.Write(append(line, '\n'))
		}
	}
	if err := statefile.Write(b.path, text.Bytes()); err != nil {
		return err
	}
	return b.open()
}

func (b *ClientIDs) Close() {
	if b.file != nil {
		b.file.Close()
		b.file = nil
	}
}

// CheckClientID returns an error unless a client's clientId is valid.
func CheckClientID(id string) error {
	switch {
	case id == "":
		return ahp.InvalidParams("clientId: missing")
	case len(id) > maxClientID:
		return ahp.InvalidParams("clientId: longer than %d bytes", maxClientID)
	case strings.ContainsFunc(id, unicode.IsControl):
		return ahp.InvalidParams("clientId: has control characters in it")
	}
	return nil
}
