package host

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
	"syscall"
)

const (
	// maxBindings are remembered, and one principal may have maxBindings/4 of
	// them: its own oldest go first, so that it cannot push out others'.
	maxBindings = 16384
	// maxBindingFile is the size at which the file is written anew.
	maxBindingFile = 8 << 20
)

// bindings remember which principal a clientId belongs to, also across
// restarts, in State/clients: one JSON array [clientId, principal] a line,
// appended when a new one is bound. Losing the file costs only that memory. All
// methods are called under h.mu.
type bindings struct {
	path  string
	file  *os.File // nil when it cannot be written
	size  int64
	owner map[string]string   // clientId to principal
	order map[string][]string // by principal, oldest first
}

// openBindings reads the file; lines that make no sense are skipped.
func openBindings(dir string) (*bindings, error) {
	b := &bindings{path: filepath.Join(dir, "clients"), owner: map[string]string{}, order: map[string][]string{}}
	text, err := readPrivate(b.path, 2*maxBindingFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, fmt.Errorf("read the clients' names in %s: %w", b.path, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	n := 0
	for lines.Scan() {
		var pair [2]string
		n++
		if json.Unmarshal(lines.Bytes(), &pair) == nil && checkClientID(pair[0]) == nil && pair[1] != "" {
			b.remember(pair[0], pair[1])
		}
	}
	if n > 2*len(b.owner)+100 {
		return b, b.rewrite()
	}
	return b, b.open()
}

func (b *bindings) open() error {
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

// bind notes a clientId's principal; nothing happens if it is known.
func (b *bindings) bind(id, principal string) error {
	if b.owner[id] == principal {
		return nil
	}
	b.remember(id, principal)
	if b.file == nil {
		return nil // said when it was opened
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

func (b *bindings) remember(id, principal string) {
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

// forget makes room: half of those of the principal that has most.
func (b *bindings) forget() {
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

// rewrite replaces the file by what is remembered.
func (b *bindings) rewrite() error {
	b.close()
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
	if err := writeFile(b.path, text.Bytes()); err != nil {
		return err
	}
	return b.open()
}

func (b *bindings) close() {
	if b.file != nil {
		b.file.Close()
		b.file = nil
	}
}
