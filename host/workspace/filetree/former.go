package filetree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// formerMagic begins manifests as builds before December 2026 wrote them, under the
// program's former name. They are read until their filesystem changes.
const formerMagic = "cotty manifest 1\n"

// decodeFormer reads such a manifest, without the answers to requests, which are good for a day.
func decodeFormer(b []byte) (*Sheet, error) {
	r := bytes.NewReader(b[len(formerMagic):])
	var failed error
	fail := func(err error) { failed = errors.Join(failed, err) }
	unsigned := func() uint64 {
		n, err := binary.ReadUvarint(r)
		fail(err)
		return n
	}
	signed := func() int64 {
		n, err := binary.ReadVarint(r)
		fail(err)
		return n
	}
	read := func(n uint64) []byte {
		text := make([]byte, min(n, maxPath))
		_, err := io.ReadFull(r, text)
		fail(err)
		return text
	}
	m := &Manifest{version: string(read(unsigned()))}
	read(8) // the size of all contents
	for n := unsigned(); n > 0 && failed == nil; n-- {
		e := Entry{Path: string(read(unsigned())), Mode: fs.FileMode(unsigned()), Size: signed(), Modified: signed()}
		copy(e.Sum[:], read(uint64(len(e.Sum))))
		e.at = place{unsigned(), signed()}
		if e.Path == "" || e.Size < 0 || e.at.offset < 0 {
			fail(io.ErrUnexpectedEOF)
		}
		m.Entries, m.bytes = append(m.Entries, e), m.bytes+e.Size
	}
	if failed != nil {
		return nil, Failf(ErrDamaged, "the manifest is cut off")
	}
	return &Sheet{Manifest: m}, nil
}

// formerTargets completes symlinks, whose targets those builds kept in packs.
func (t *Tree) formerTargets(s *Sheet) error {
	for i := range s.Entries {
		e := &s.Entries[i]
		if !e.IsLink() || e.Target != "" {
			continue
		}
		f, err := os.Open(filepath.Join(t.dir, packsName, packName(e.at.pack)))
		if err != nil {
			return err
		}
		target := make([]byte, min(e.Size, maxPath))
		_, err = f.ReadAt(target, e.at.offset)
		_ = f.Close()
		if err != nil && !errors.Is(err, io.EOF) || sumOf(target) != e.Sum {
			return damaged(e)
		}
		e.Target = string(target)
	}
	return nil
}
