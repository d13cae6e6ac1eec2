package workspace

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"os"
)

// A synchronisation first notes what it is about to do. If it dies between doing that
// and noting that both sides agree, the next one knows what one side has of the other,
// and takes no change that comes after for one that both made.

const pendingMagic = "cotty pending 1\n"

// intend notes the changes.
func (s *syncing) intend(changes []change, down bool) error {
	if len(changes) == 0 {
		return nil
	}
	var come []Entry
	var leave []string
	for _, c := range changes {
		if c.to != nil {
			come = append(come, *c.to)
		} else {
			leave = append(leave, c.path)
		}
	}
	direction := byte(0)
	if down {
		direction = 1
	}
	b := append([]byte(pendingMagic), direction)
	b = binary.AppendUvarint(b, uint64(len(leave)))
	for _, p := range leave {
		b = appendText(b, p)
	}
	m := newManifest(come).encode(nil)
	b = binary.AppendUvarint(b, uint64(len(m)))
	b = append(b, m...)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return replaceFile(s.w.path(pendingName), b, false)
}

// interrupted reports whether a synchronisation died: then nothing is as unchanged as
// the base says.
func (w *Workspace) interrupted() bool {
	_, err := os.Lstat(w.path(pendingName))
	return err == nil
}

// recover corrects the base by what a synchronisation that died was about to do. What
// the side that it changed has of it, both had.
func (s *syncing) recover(remote *Manifest, local []Entry) {
	changes, down := s.intended()
	if len(changes) == 0 {
		return
	}
	side := entryMap(remote.entries)
	if down {
		side = entryMap(local)
	}
	base := entryMap(s.base.entries)
	for path, to := range changes {
		if equal(side[path], to) {
			base[path] = to
		}
	}
	maps.DeleteFunc(base, func(_ string, e *Entry) bool { return e == nil })
	s.base = agreed(base)
}

// intended reads what intend noted; nothing where there is none, or it is not whole.
func (s *syncing) intended() (changes map[string]*Entry, down bool) {
	b, err := readOptional(s.w.path(pendingName))
	if err != nil || len(b) < len(pendingMagic)+5 || string(b[:len(pendingMagic)]) != pendingMagic {
		return nil, false
	}
	body, end := b[:len(b)-4], b[len(b)-4:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(end) {
		return nil, false
	}
	down = body[len(pendingMagic)] == 1
	d := &decoder{rest: body[len(pendingMagic)+1:]}
	changes = map[string]*Entry{}
	for range d.count(1) {
		changes[d.text(maxPath)] = nil
	}
	m, _, err := decodeManifest([]byte(d.text(len(d.rest))))
	if d.err != nil || err != nil {
		return nil, false
	}
	for i := range m.entries {
		changes[m.entries[i].Path] = &m.entries[i]
	}
	return changes, down
}
