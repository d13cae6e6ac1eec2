package filetree

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A pack is a file of contents one after the other; which are whose, manifests say. It
// does not change once a manifest names it. Ten thousand small files are one file to
// write that way; large ones have a pack each, so that their blocks can be shared.

// place is where an entry's contents are.
type place struct {
	pack   uint64
	offset int64
}

const (
	Small    = 1 << 20 // contents below this size share packs, and are moved in one piece
	packFull = 8 << 20 // no more is added to a pack of this size, which goes with the last of its contents
)

func packName(n uint64) string { return fmt.Sprintf("%08x", n) }

// packs adds contents to a directory of packs; goroutines share it. What no manifest
// comes to name is removed with the next change.
type packs struct {
	dir  *Folder
	sync bool // contents outlast a power cut once close returns

	mu   sync.Mutex
	have map[Digest]place // contents that there are
	open []*os.File       // the last is the one that is added to
	at   place            // its end
}

// newPacks adds to a directory in which there are the contents of some entries.
func newPacks(dir *Folder, sync bool, entries []Entry) *packs {
	p := &packs{dir: dir, sync: sync, have: make(map[Digest]place, len(entries))}
	for i := range entries {
		if e := &entries[i]; e.Mode.IsRegular() {
			p.have[e.Sum] = e.at
		}
	}
	return p
}

// known completes an entry whose contents are stored already.
func (p *packs) known(e *Entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.have[e.Sum]
	if ok {
		e.at = at
	}
	return ok
}

func (p *packs) create() (*os.File, place, error) {
	n := rand.Uint64()
	f, err := p.dir.Create(packName(n))
	return f, place{pack: n}, Full(err)
}

// add takes all that r gives, at most limit bytes, as an entry's contents; buf has small
// bytes. Of a file it takes all of it, and holes stay holes.
func (p *packs) add(e *Entry, r io.Reader, limit int64, buf []byte) error {
	n, err := io.ReadFull(r, buf[:Small])
	switch {
	case int64(n) > limit:
		return tooLarge(limit)
	case err == nil:
		return p.addLarge(e, r, limit, buf)
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	e.Sum, e.Size = sumOf(buf[:n]), int64(n)
	if p.known(e) {
		return nil
	}
	f, err := p.reserve(e)
	if err == nil {
		_, err = f.WriteAt(buf[:n], e.at.offset)
	}
	return Full(err)
}

// reserve assigns small contents their place.
func (p *packs) reserve(e *Entry) (*os.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.open) == 0 || p.at.offset > packFull {
		f, at, err := p.create()
		if err != nil {
			return nil, err
		}
		p.open, p.at = append(p.open, f), at
	}
	e.at = p.at
	p.at.offset += e.Size
	p.have[e.Sum] = e.at
	return p.open[len(p.open)-1], nil
}

// addLarge gives contents, whose first bytes have been read, a pack of their own.
func (p *packs) addLarge(e *Entry, r io.Reader, limit int64, first []byte) error {
	dst, at, err := p.create()
	if err != nil {
		return err
	}
	defer dst.Close()
	if src, ok := r.(*os.File); ok {
		var st Stamp
		if st, err = stampOf(int(src.Fd())); err == nil {
			if _, err = src.Seek(0, io.SeekStart); err == nil {
				err = copyContents(dst, src, st.Size)
			}
		}
	} else {
		to := &sparse{f: dst}
		if _, err = to.Write(first); err == nil {
			_, err = io.CopyBuffer(to, struct{ io.Reader }{io.LimitReader(r, limit-int64(len(first))+1)}, first)
		}
		if err == nil {
			err = dst.Truncate(to.at)
		}
	}
	if err != nil {
		return Full(err)
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if e.Sum, e.Size, err = SumFile(dst); err != nil {
		return err
	}
	if e.Size > limit {
		return tooLarge(limit)
	}
	if p.known(e) {
		return nil
	}
	if p.sync {
		err = dst.Sync()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e.at, p.have[e.Sum] = at, at
	return Full(err)
}

// sparse writes a file that is new, with holes where there are blocks of zeros.
type sparse struct {
	f  *os.File
	at int64
}

func (s *sparse) Write(b []byte) (int, error) {
	const block = 4096
	for rest := b; len(rest) > 0; {
		one := rest[:min(block-int(s.at%block), len(rest))]
		if bytes.Count(one, []byte{0}) < len(one) {
			if _, err := s.f.WriteAt(one, s.at); err != nil {
				return 0, err
			}
		}
		s.at += int64(len(one))
		rest = rest[len(one):]
	}
	return len(b), nil
}

// close ends the packs that are being written; the next contents begin another.
func (p *packs) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.open {
		if p.sync {
			err = errors.Join(err, f.Sync())
		}
		err = errors.Join(err, f.Close())
	}
	p.open = nil
	return Full(err)
}

// SumFile reads a file to its end.
func SumFile(r io.Reader) (sum Digest, size int64, err error) {
	h := sha256.New()
	size, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	h.Sum(sum[:0])
	return sum, size, err
}

func tooLarge(limit int64) error {
	return Failf(ErrTooLarge, "the file has more than the %d bytes that it may have", limit)
}

// Source reads contents by their entries.
type Source struct {
	Top    *Folder
	Stored bool // top has packs, whose contents are checked; else the files themselves, as they are now
	// uses, if not nil, counts the entries of each pack. Those of one entry are moved.
	uses map[uint64]int
}

// Open opens a regular file. Of a pack no more than the size is the entry's.
func (s Source) Open(e *Entry) (*os.File, Stamp, error) {
	if s.Stored {
		if e.Size == 0 && e.at.pack == 0 { // as former builds kept what is empty
			f, err := os.Open(os.DevNull)
			return f, Stamp{}, err
		}
		f, st, err := s.Top.open(packName(e.at.pack))
		if err == nil {
			_, err = f.Seek(e.at.offset, io.SeekStart)
		}
		if err != nil {
			err = Failf(ErrDamaged, "%q is missing in the filesystem, which is damaged: %v", Clip(e.Path), err)
		}
		st.Size = e.Size
		return f, st, err
	}
	dir, name := Parent(e.Path)
	d, err := s.Top.Walk(dir)
	if err != nil {
		return nil, Stamp{}, err
	}
	defer d.Close()
	return d.open(name)
}

func (s Source) Target(e *Entry) (string, error) {
	if s.Stored {
		return e.Target, nil
	}
	dir, name := Parent(e.Path)
	d, err := s.Top.Walk(dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return d.readlink(name)
}

// Read reads an entry's contents; those of packs end with ErrDamaged if they are not
// what they were.
func (s Source) Read(e *Entry) (io.ReadCloser, error) {
	f, _, err := s.Open(e)
	if err != nil || !s.Stored {
		return f, err
	}
	return newChecked(f, e), nil
}

// checked reads contents from a pack and ends with ErrDamaged if they are not those of
// the entry.
type checked struct {
	io.Closer
	io.Reader
	hash  hash.Hash
	entry *Entry
}

func newChecked(f *os.File, e *Entry) *checked {
	return &checked{f, io.LimitReader(f, e.Size), sha256.New(), e}
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.hash.Write(b[:n])
	if err == io.EOF && Digest(c.hash.Sum(nil)) != c.entry.Sum { //nolint:errorlint // what Read promises
		return n, damaged(c.entry)
	}
	return n, err
}

func damaged(e *Entry) error {
	return Failf(ErrDamaged, "%q is damaged in the filesystem", Clip(e.Path))
}

// CopyTo makes one file or symlink under a name that must be free; buf has small bytes.
// Stored contents are checked. Of a directory's the entry only says where: mode and time
// are those of now.
func (s Source) CopyTo(d *Folder, name string, e *Entry, buf []byte) (Stamp, error) {
	if e.IsLink() {
		target, err := s.Target(e)
		if err == nil {
			err = Full(pathError("symlink", name, unix.Symlinkat(target, d.fd, name)))
		}
		return Stamp{}, err
	}
	mode, modified := uint32(e.Mode.Perm()), e.Modified
	src, st, err := s.Open(e)
	if err != nil {
		return Stamp{}, err
	}
	defer src.Close()
	if !s.Stored {
		mode, modified = st.mode&0o777, st.mtime
	}
	if e.Size >= Small && s.uses[e.at.pack] == 1 {
		if err := s.Top.Rename(packName(e.at.pack), d, name); err != nil {
			return Stamp{}, err
		}
		return finish(src, d, name, mode, modified)
	}
	dst, err := d.Create(name)
	if err != nil {
		return Stamp{}, Full(err)
	}
	defer dst.Close()
	if err := s.copyContents(dst, src, e, st.Size, buf); err != nil {
		return Stamp{}, Full(err)
	}
	return finish(dst, d, name, mode, modified)
}

func finish(f *os.File, d *Folder, name string, mode uint32, modified int64) (Stamp, error) {
	if err := unix.Fchmod(int(f.Fd()), mode); err != nil {
		return Stamp{}, err
	}
	if err := SetTime(d, name, modified); err != nil {
		return Stamp{}, err
	}
	return stampOf(int(f.Fd()))
}

func (s Source) copyContents(dst, src *os.File, e *Entry, size int64, buf []byte) error {
	if size < Small {
		b := buf[:Small]
		if s.Stored {
			b = buf[:size]
		}
		n, err := io.ReadFull(src, b)
		if err == nil && s.Stored || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if s.Stored && sumOf(buf[:n]) != e.Sum {
				return damaged(e)
			}
			_, err = dst.Write(buf[:n])
			return err
		}
		if err != nil {
			return err
		}
		if _, err := src.Seek(0, io.SeekStart); err != nil { // it has grown
			return err
		}
	}
	err := copyContents(dst, src, size)
	if err != nil || !s.Stored {
		return err
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if sum, _, err := SumFile(dst); err != nil || sum != e.Sum {
		return errors.Join(err, damaged(e))
	}
	return nil
}

// SetTime sets the time of the last change, in nanoseconds since 1970.
func SetTime(d *Folder, name string, modified int64) error {
	ts := unix.NsecToTimespec(modified)
	return unix.UtimesNanoAt(d.fd, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

// Full marks errors of a full disk as ErrFull.
func Full(err error) error {
	if err != nil && (errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)) && !errors.Is(err, ErrFull) {
		return Failf(ErrFull, "there is no space left for the files; free some and try again: %w", err)
	}
	return err
}
