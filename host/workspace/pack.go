package workspace

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

// place is where contents are.
type place struct {
	pack   uint64
	offset int64
}

const (
	small     = 1 << 20   // contents below this size share packs, and are moved in one piece
	packFull  = 256 << 20 // no more is added to a pack of this size
	packPoor  = 256 << 10 // packs that are smaller are worth being joined
	manyPacks = 64        // when there are so many
)

func packName(n uint64) string { return fmt.Sprintf("%016x", n) }

// packs adds contents to a directory of packs; goroutines share it. What no manifest
// comes to name is removed with the next change.
type packs struct {
	dir  *folder
	sync bool // contents outlast a power cut once close returns

	mu   sync.Mutex
	have map[Digest]place // contents that there are
	open []*os.File       // the last is the one that is added to
	at   place            // its end
}

// newPacks adds to a directory in which there are the contents of some entries.
func newPacks(dir *folder, sync bool, entries []Entry) *packs {
	p := &packs{dir: dir, sync: sync, have: make(map[Digest]place, len(entries))}
	for i := range entries {
		if e := &entries[i]; e.Mode.IsRegular() {
			p.have[e.Sum] = e.at
		}
	}
	return p
}

// known completes an entry whose contents there are.
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
	f, err := p.dir.create(packName(n))
	return f, place{pack: n}, full(err)
}

// add takes all that r gives, at most limit bytes, as an entry's contents; buf has small
// bytes. Of a file it takes all of it, and holes stay holes.
func (p *packs) add(e *Entry, r io.Reader, limit int64, buf []byte) error {
	n, err := io.ReadFull(r, buf[:small])
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
	return full(err)
}

// reserve gives small contents their place.
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
		var st stamp
		if st, err = stampOf(int(src.Fd())); err == nil {
			if _, err = src.Seek(0, io.SeekStart); err == nil {
				err = copyContents(dst, src, st.size)
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
		return full(err)
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if e.Sum, e.Size, err = sumFile(dst); err != nil {
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
	return full(err)
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
	return full(err)
}

// sumFile reads a file to its end.
func sumFile(r io.Reader) (sum Digest, size int64, err error) {
	h := sha256.New()
	size, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	h.Sum(sum[:0])
	return sum, size, err
}

func tooLarge(limit int64) error {
	return failf(ErrTooLarge, "the file has more than the %d bytes that it may have", limit)
}

// source gives contents by entries.
type source struct {
	top    *folder
	stored bool // top has packs, whose contents are checked; else the files themselves, as they are now
	// uses, if not nil, counts the entries of each pack. Those of one entry are moved.
	uses map[uint64]int
}

// open opens a regular file. Of a pack no more than the size is the entry's.
func (s source) open(e *Entry) (*os.File, stamp, error) {
	if s.stored {
		f, st, err := s.top.open(packName(e.at.pack))
		if err == nil {
			_, err = f.Seek(e.at.offset, io.SeekStart)
		}
		if err != nil {
			err = failf(ErrDamaged, "%q is missing in the filesystem, which is damaged: %v", clip(e.Path), err)
		}
		st.size = e.Size
		return f, st, err
	}
	dir, name := parent(e.Path)
	d, err := s.top.walk(dir)
	if err != nil {
		return nil, stamp{}, err
	}
	defer d.close()
	return d.open(name)
}

// target gives a symlink's.
func (s source) target(e *Entry) (string, error) {
	if s.stored {
		return e.target, nil
	}
	dir, name := parent(e.Path)
	d, err := s.top.walk(dir)
	if err != nil {
		return "", err
	}
	defer d.close()
	return d.readlink(name)
}

// read reads an entry's contents; those of packs end with ErrDamaged if they are not
// what they were.
func (s source) read(e *Entry) (io.ReadCloser, error) {
	f, _, err := s.open(e)
	if err != nil || !s.stored {
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
	return failf(ErrDamaged, "%q is damaged in the filesystem", clip(e.Path))
}

// copyTo makes one file or symlink under a name that must be free; buf has small bytes.
// Stored contents are checked. Of a directory's the entry only says where: mode and time
// are those of now.
func (s source) copyTo(d *folder, name string, e *Entry, buf []byte) (stamp, error) {
	if e.isLink() {
		target, err := s.target(e)
		if err == nil {
			err = full(d.symlink(target, name))
		}
		return stamp{}, err
	}
	mode, modified := uint32(e.Mode.Perm()), e.Modified
	src, st, err := s.open(e)
	if err != nil {
		return stamp{}, err
	}
	defer src.Close()
	if !s.stored {
		mode, modified = st.mode&0o777, st.mtime
	}
	if s.uses[e.at.pack] == 1 && e.at.offset == 0 {
		if err := s.top.rename(packName(e.at.pack), d, name); err != nil {
			return stamp{}, err
		}
		return finish(src, d, name, mode, modified)
	}
	dst, err := d.create(name)
	if err != nil {
		return stamp{}, full(err)
	}
	defer dst.Close()
	if err := s.copyContents(dst, src, e, st.size, buf); err != nil {
		return stamp{}, full(err)
	}
	return finish(dst, d, name, mode, modified)
}

// finish gives a new file its mode and time.
func finish(f *os.File, d *folder, name string, mode uint32, modified int64) (stamp, error) {
	if err := unix.Fchmod(int(f.Fd()), mode); err != nil {
		return stamp{}, err
	}
	if err := setTime(d, name, modified); err != nil {
		return stamp{}, err
	}
	return stampOf(int(f.Fd()))
}

func (s source) copyContents(dst, src *os.File, e *Entry, size int64, buf []byte) error {
	if size < small {
		b := buf[:small]
		if s.stored {
			b = buf[:size]
		}
		n, err := io.ReadFull(src, b)
		if err == nil && s.stored || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if s.stored && sumOf(buf[:n]) != e.Sum {
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
	if err != nil || !s.stored {
		return err
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if sum, _, err := sumFile(dst); err != nil || sum != e.Sum {
		return errors.Join(err, damaged(e))
	}
	return nil
}

// setTime sets the time of the last change, in nanoseconds since 1970.
func setTime(d *folder, name string, modified int64) error {
	ts := unix.NsecToTimespec(modified)
	return unix.UtimesNanoAt(d.fd, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

// full gives errors of a full disk their kind.
func full(err error) error {
	if err != nil && (errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)) && !errors.Is(err, ErrFull) {
		return wrap(err, ErrFull, "there is no space left for the files; free some and try again")
	}
	return err
}
