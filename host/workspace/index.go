package workspace

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"time"
)

func sumOf(b []byte) Digest { return sha256.Sum256(b) }

// index knows checksums of files by their stamps. It is a cache: one that is missing
// or damaged is empty.
type index struct {
	files map[string]indexed
}

type indexed struct {
	stamp stamp
	sum   Digest
}

// sum gives a file's checksum if its stamp is what it was.
func (x *index) sum(path string, st stamp) (Digest, bool) {
	if x == nil {
		return Digest{}, false
	}
	e, ok := x.files[path]
	if !ok || e.stamp != st {
		return Digest{}, false
	}
	return e.sum, true
}

// learn takes what a scan, begun at a moment, came to know. A file that changed just
// before could change again within the same tick, and is left out.
func learn(files []found, at time.Time) *index {
	x := &index{make(map[string]indexed, len(files))}
	for i := range files {
		if f := &files[i]; f.known && f.Mode.IsRegular() && f.stamp.settled(at) {
			x.files[f.Path] = indexed{f.stamp, f.Sum}
		}
	}
	return x
}

const indexMagic = "cotty index 1\n"

// save replaces the file.
func (x *index) save(file string) error {
	b := make([]byte, 0, len(indexMagic)+len(x.files)*140)
	b = append(b, indexMagic...)
	b = binary.AppendUvarint(b, uint64(len(x.files)))
	for path, e := range x.files {
		b = appendText(b, path)
		b = append(b, e.sum[:]...)
		b = binary.AppendUvarint(b, uint64(e.stamp.mode))
		b = binary.AppendVarint(b, e.stamp.size)
		b = binary.AppendVarint(b, e.stamp.mtime)
		b = binary.AppendVarint(b, e.stamp.ctime)
		b = binary.AppendUvarint(b, e.stamp.ino)
		b = binary.AppendUvarint(b, e.stamp.dev)
	}
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return replaceFile(file, b, false)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// loadIndex reads the file; whatever is wrong with it, the answer is an index.
func loadIndex(file string) *index {
	x := &index{map[string]indexed{}}
	b, err := os.ReadFile(file)
	if err != nil || len(b) < len(indexMagic)+4 || string(b[:len(indexMagic)]) != indexMagic {
		return x
	}
	body, end := b[:len(b)-4], b[len(b)-4:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(end) {
		return x
	}
	r := &decoder{rest: body[len(indexMagic):]}
	n := r.count(40)
	x.files = make(map[string]indexed, n)
	for range n {
		path := r.text(maxPath)
		var e indexed
		r.bytes(e.sum[:])
		e.stamp.mode = uint32(r.uint())
		e.stamp.size, e.stamp.mtime, e.stamp.ctime = r.int(), r.int(), r.int()
		e.stamp.ino, e.stamp.dev = r.uint(), r.uint()
		x.files[path] = e
	}
	if r.err != nil {
		return &index{map[string]indexed{}}
	}
	return x
}

// replaceFile writes a file of the store's own: the old contents or the new are there,
// whatever happens. With sync they outlast a power cut.
func replaceFile(file string, b []byte, sync bool) error {
	tmp := file + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return full(err)
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp, file)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return full(err)
	}
	return nil
}

// readOptional reads a file that need not be there.
func readOptional(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
