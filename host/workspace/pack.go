package workspace

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// A pack is a file of contents one after the other; which are whose, manifests say. It
// does not change once a manifest names it. Ten thousand small files are one file to
// write that way; large ones have a pack each, so that their blocks can be shared.

// place is where contents are.
type place struct {
	pack   uint64 // 0: nowhere; empty contents need no place
	offset int64
}

const (
	packSmall = 1 << 20  // contents up to this size share packs
	packFull  = 64 << 20 // a shared pack is closed behind this
)

func packName(n uint64) string { return fmt.Sprintf("%08x", n) }

func packNumber(name string) (uint64, bool) {
	n, err := strconv.ParseUint(name, 16, 64)
	return n, err == nil && packName(n) == name
}

// packs numbers the packs of a change and knows which it made.
type packs struct {
	mu   sync.Mutex
	dir  *folder
	last uint64
	made []uint64
}

func (p *packs) create() (*os.File, uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		p.last++
		f, err := p.dir.create(packName(p.last))
		if errors.Is(err, fs.ErrExist) {
			continue // left by a death, removed later
		}
		if err != nil {
			return nil, 0, full(err)
		}
		p.made = append(p.made, p.last)
		return f, p.last, nil
	}
}

// undo removes what was made.
func (p *packs) undo() {
	for _, n := range p.made {
		_ = p.dir.remove(packName(n), false)
	}
	p.made = nil
}

// packer adds contents to packs; one goroutine uses it.
type packer struct {
	packs *packs
	sync  bool // contents outlast a power cut once close returns
	file  *os.File
	out   *bufio.Writer
	at    place
	buf   []byte
	hash  hash.Hash
}

func newPacker(p *packs, sync bool) *packer {
	return &packer{packs: p, sync: sync, hash: sha256.New()}
}

// known finds contents that there are.
type known func(Digest) (place, bool)

// add takes a file's contents, of a size that its stamp says, though it may have
// changed since.
func (p *packer) add(f *os.File, size int64, have known) (Digest, int64, place, error) {
	if size > packSmall {
		return p.addLarge(f, size, have)
	}
	if p.buf == nil {
		p.buf = make([]byte, packSmall+1)
	}
	n, err := io.ReadFull(f, p.buf[:min(size+1, packSmall+1)])
	if err == nil && n <= packSmall { // longer than it was
		var more int
		more, err = io.ReadFull(f, p.buf[n:])
		n += more
	}
	if err == nil {
		return p.addLarge(f, 0, have)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Digest{}, 0, place{}, err
	}
	return p.addBytes(p.buf[:n], have)
}

// addBytes takes contents of at most packSmall bytes.
func (p *packer) addBytes(b []byte, have known) (Digest, int64, place, error) {
	sum := Digest(sha256.Sum256(b))
	if len(b) == 0 {
		return sum, 0, place{}, nil
	}
	if at, ok := have(sum); ok {
		return sum, int64(len(b)), at, nil
	}
	if p.file != nil && p.at.offset > packFull {
		if err := p.close(); err != nil {
			return Digest{}, 0, place{}, err
		}
	}
	if p.file == nil {
		f, n, err := p.packs.create()
		if err != nil {
			return Digest{}, 0, place{}, err
		}
		p.file, p.at = f, place{pack: n}
		p.out = bufio.NewWriterSize(f, 256<<10)
	}
	at := p.at
	if _, err := p.out.Write(b); err != nil {
		return Digest{}, 0, place{}, full(err)
	}
	p.at.offset += int64(len(b))
	return sum, int64(len(b)), at, nil
}

// addLarge gives contents a pack of their own.
func (p *packer) addLarge(f *os.File, size int64, have known) (Digest, int64, place, error) {
	if size == 0 {
		end, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return Digest{}, 0, place{}, err
		}
		size = end
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Digest{}, 0, place{}, err
	}
	dst, n, err := p.packs.create()
	if err != nil {
		return Digest{}, 0, place{}, err
	}
	defer dst.Close()
	if err := copyContents(dst, f, size); err != nil {
		return Digest{}, 0, place{}, full(err)
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return Digest{}, 0, place{}, err
	}
	return p.finish(dst, n, have)
}

// addStream takes contents from a reader, at most limit bytes of them.
func (p *packer) addStream(r io.Reader, limit int64, have known) (Digest, int64, place, error) {
	if p.buf == nil {
		p.buf = make([]byte, packSmall+1)
	}
	n, err := io.ReadFull(r, p.buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if int64(n) > limit {
			return Digest{}, 0, place{}, tooLarge(limit)
		}
		return p.addBytes(p.buf[:n], have)
	}
	if err != nil {
		return Digest{}, 0, place{}, err
	}
	dst, number, err := p.packs.create()
	if err != nil {
		return Digest{}, 0, place{}, err
	}
	defer dst.Close()
	if _, err := dst.Write(p.buf[:n]); err != nil {
		return Digest{}, 0, place{}, full(err)
	}
	more, err := io.Copy(dst, io.LimitReader(r, limit-int64(n)+1))
	if err != nil {
		return Digest{}, 0, place{}, full(err)
	}
	if int64(n)+more > limit {
		return Digest{}, 0, place{}, tooLarge(limit)
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return Digest{}, 0, place{}, err
	}
	return p.finish(dst, number, have)
}

func tooLarge(limit int64) error {
	return failf(ErrTooLarge, "the file has more than the %d bytes that it may have", limit)
}

// finish computes the checksum of a pack of one content.
func (p *packer) finish(dst *os.File, n uint64, have known) (Digest, int64, place, error) {
	p.hash.Reset()
	size, err := io.CopyBuffer(struct{ io.Writer }{p.hash}, struct{ io.Reader }{dst}, make([]byte, 256<<10))
	if err != nil {
		return Digest{}, 0, place{}, err
	}
	var sum Digest
	p.hash.Sum(sum[:0])
	if at, ok := have(sum); ok || size == 0 {
		return sum, size, at, nil // the pack is named by nobody, and removed with the next change
	}
	if p.sync {
		err = dst.Sync()
	}
	return sum, size, place{pack: n}, full(err)
}

// close ends the pack that is being written; the packer can go on with another.
func (p *packer) close() error {
	if p.file == nil {
		return nil
	}
	err := p.out.Flush()
	if err == nil && p.sync {
		err = p.file.Sync()
	}
	if e := p.file.Close(); err == nil {
		err = e
	}
	p.file = nil
	return full(err)
}

// shelf has packs open for reading; goroutines share it.
type shelf struct {
	dir  *folder
	mu   sync.Mutex
	open map[uint64]*os.File
}

func newShelf(dir *folder) *shelf { return &shelf{dir: dir, open: map[uint64]*os.File{}} }

func (s *shelf) close() {
	for _, f := range s.open {
		_ = f.Close()
	}
}

// maxOpen bounds how many packs a shelf has open.
const maxOpen = 512

func (s *shelf) pack(n uint64) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[n]; f != nil {
		return f, nil
	}
	f, _, err := s.dir.open(packName(n))
	if err != nil {
		return nil, failf(ErrDamaged, "a pack of the filesystem is missing: %v", err)
	}
	if len(s.open) < maxOpen {
		s.open[n] = f
	}
	return f, nil
}

// section reads an entry's contents; it does not check them.
func (s *shelf) section(e *Entry) (*io.SectionReader, error) {
	if e.at.pack == 0 {
		return io.NewSectionReader(nothing{}, 0, 0), nil
	}
	f, err := s.pack(e.at.pack)
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(f, e.at.offset, e.Size), nil
}

type nothing struct{}

func (nothing) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

// full gives errors of a full disk their kind.
func full(err error) error {
	if err != nil && (errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)) && !errors.Is(err, ErrFull) {
		return &Failure{kind: ErrFull.(*reason), text: "there is no space left for the files; free some and try again", err: err}
	}
	return err
}
