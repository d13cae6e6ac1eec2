package filetree

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"tandemux/internal/fault"
)

// WriteArchive writes the current version as tar.zst (U67) and returns that version.
func (t *Tree) WriteArchive(ctx context.Context, w io.Writer) (version string, err error) {
	v, err := t.View()
	if err != nil {
		return "", err
	}
	defer v.Close()
	return v.version, WriteArchive(ctx, w, Part{From: v.Source(), Entries: v.Entries})
}

// PackDir writes a directory as tar.zst, or only the directories in it that are named, and
// gives what it left out: devices, sockets, FIFOs, what can't be read. It needs no Store;
// clients use it.
func PackDir(ctx context.Context, dir string, to io.Writer, names ...string) (skipped []string, err error) {
	var parts []Part
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		top, err := OpenFolder(filepath.Join(dir, name))
		if err != nil {
			return nil, Missing(err, "the directory %s", filepath.Join(dir, name))
		}
		defer top.Close()
		seen, err := Scan(ctx, top, noLimits, nil, nil)
		if err != nil {
			return nil, err
		}
		for _, path := range seen.Skipped {
			skipped = append(skipped, filepath.Join(name, path))
		}
		parts = append(parts, Part{Prefix: name, From: Source{Top: top}, Entries: seen.Files})
	}
	return skipped, WriteArchive(ctx, to, parts...)
}

// noLimits are the limits for what users do with their own files.
var noLimits = Limits{Files: 1 << 30, Bytes: 1 << 62, FileSize: 1 << 62}

func WriteArchive(ctx context.Context, to io.Writer, parts ...Part) error {
	zip, err := zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return errors.Join(WriteTar(ctx, zip, parts...), zip.Close())
}

func WriteTar(ctx context.Context, to io.Writer, parts ...Part) error {
	out := tar.NewWriter(to)
	for _, p := range parts {
		for i := 1; i <= len(p.Prefix); i++ { // the directories that it is in
			if i < len(p.Prefix) && p.Prefix[i] != '/' {
				continue
			}
			if err := addHeader(out, &Entry{Path: p.Prefix[:i], Mode: fs.ModeDir | 0o755}); err != nil {
				return err
			}
		}
		for _, e := range p.Entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := p.archive(out, e); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

func addHeader(to *tar.Writer, e *Entry) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: e.Path, Size: e.Size, Mode: int64(e.Mode.Perm()), ModTime: e.ModTime(), Format: tar.FormatPAX}
	switch {
	case e.Mode.IsDir():
		h.Typeflag, h.Name, h.ModTime = tar.TypeDir, e.Path+"/", time.Unix(0, 0)
	case e.IsLink():
		h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e.Target, 0
	}
	if err := to.WriteHeader(h); err != nil {
		return fmt.Errorf("archive %q: %w", Clip(e.Path), err)
	}
	return nil
}

// archive adds a file of a directory as it is now; a file that vanishes meanwhile is left out.
func (p Part) archive(to *tar.Writer, e Entry) error {
	at := e
	if p.Prefix != "" {
		at.Path = p.Prefix + "/" + e.Path
	}
	if !e.Mode.IsRegular() {
		return addHeader(to, &at)
	}
	f, st, err := p.From.Open(&e)
	if err != nil {
		if !p.From.Stored && (Absent(err) || errors.Is(err, ErrIrregular) || errors.Is(err, fs.ErrPermission)) {
			return nil
		}
		return err
	}
	defer f.Close()
	var body io.Reader = newChecked(f, &e)
	if !p.From.Stored {
		at.Size, at.Modified = st.Size, st.mtime
		at.Mode, _ = st.fileMode()
		// Fill up a file that is cut meanwhile, as its announced size must come.
		body = io.LimitReader(io.MultiReader(f, zeros{}), st.Size)
	}
	if err := addHeader(to, &at); err != nil {
		return err
	}
	_, err = io.Copy(to, body)
	return err
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// unarchiver reads an archive that anybody may have made.
type unarchiver struct {
	ctx    context.Context
	limits Limits
	tar    *tar.Reader
	files  int
	bytes  int64
	close  func()
}

const (
	maxWindow  = 128 << 20 // of zstd, in bytes
	maxDecoder = 256 << 20
)

// openArchive reads tar.zst, tar.gz and tar; which it is, its first bytes say.
func openArchive(ctx context.Context, r io.Reader, limits Limits) (*unarchiver, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, badArchive(err)
	}
	u := &unarchiver{ctx: ctx, limits: limits, close: func() {}}
	var plain io.Reader = in
	switch {
	case string(head) == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDecoder), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, badArchive(err)
		}
		plain, u.close = z, z.Close
	case len(head) > 1 && string(head[:2]) == "\x1f\x8b":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, badArchive(err)
		}
		plain = z
	case len(head) == 0:
		return nil, Failf(ErrInvalid, "the archive is empty; an empty directory's has an end")
	}
	u.tar = tar.NewReader(plain)
	return u, nil
}

func badArchive(err error) error {
	if fault.Status(err) != 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return Failf(ErrInvalid, "the archive can't be read, so nothing of it was taken: %w", err)
}

// item is a file of an archive; link is the path of the one before that a hard link
// names.
type item struct {
	Entry
	link string
	body io.Reader // of regular files
}

// next returns the next file, or io.EOF at the end. Its path is clean and stays inside; an entry that
// may not be in an archive is an error.
func (u *unarchiver) next() (*item, error) {
	for {
		if err := u.ctx.Err(); err != nil {
			return nil, err
		}
		h, err := u.tar.Next()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, badArchive(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		path := archivePath(h.Name)
		if path == "" && h.Typeflag == tar.TypeDir {
			continue // the top itself
		}
		if err := CheckPath(path); err != nil {
			return nil, Failf(ErrInvalid, "the archive has a file that can't be in a workspace, so nothing of it was taken: %v", err)
		}
		if u.files++; u.files > u.limits.Files {
			return nil, Failf(ErrTooLarge, "the archive has more than %d files", u.limits.Files)
		}
		return u.item(h, path)
	}
}

// archivePath is a tar's name without what tar programs put around it.
func archivePath(name string) string {
	name = strings.TrimSuffix(name, "/")
	for strings.HasPrefix(name, "./") {
		name = strings.TrimLeft(name[2:], "/")
	}
	if name == "." {
		return ""
	}
	return name
}

func (u *unarchiver) item(h *tar.Header, path string) (*item, error) {
	it := &item{Entry: Entry{Path: path, Mode: fs.FileMode(h.Mode & 0o777), Modified: h.ModTime.UnixNano()}}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		if h.Size > u.limits.FileSize {
			return nil, tooLarge(u.limits.FileSize)
		}
		it.Size = h.Size
		if u.bytes += h.Size; u.bytes > u.limits.Bytes {
			return nil, Failf(ErrTooLarge, "the archive has more than %d bytes", u.limits.Bytes)
		}
		it.body = archiveBody{u}
	case tar.TypeDir:
		it.Mode, it.Modified = it.Mode|fs.ModeDir, 0
	case tar.TypeSymlink:
		if h.Linkname == "" || len(h.Linkname) > maxPath || strings.IndexByte(h.Linkname, 0) >= 0 {
			return nil, Failf(ErrInvalid, "the archive has a symlink at %q that leads nowhere, so nothing of it was taken", Clip(path))
		}
		it.Entry.Link(h.Linkname)
	case tar.TypeLink:
		it.link = archivePath(h.Linkname)
		if err := CheckPath(it.link); err != nil {
			return nil, Failf(ErrInvalid, "the archive has a hard link at %q that leads out of it, so nothing of it was taken", Clip(path))
		}
	default:
		return nil, Failf(ErrInvalid, "the archive has a device, socket or FIFO at %q, so nothing of it was taken", Clip(path))
	}
	return it, nil
}

// archiveBody reads a file's contents; errors say that the archive is bad.
type archiveBody struct{ u *unarchiver }

func (b archiveBody) Read(p []byte) (int, error) {
	if err := b.u.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.u.tar.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = badArchive(err)
	}
	return n, err
}

// ReadArchive replaces the tree by a tar.zst (or plain tar, or tar.gz), as one change.
// Base may be empty; an archive with a path that climbs, a device, or a hard link that
// leads out is refused as a whole (ErrInvalid). Symlinks are kept as they are: nothing
// here follows them.
func (t *Tree) ReadArchive(ctx context.Context, r io.Reader, base string) (Synced, error) {
	c, err := t.Prepare()
	if err != nil {
		return Synced{}, err
	}
	defer c.End()
	limits := t.store.Limits
	u, err := openArchive(ctx, &limited{ctx: ctx, r: r, left: limits.Bytes, limit: limits.Bytes}, limits)
	if err != nil {
		return Synced{}, err
	}
	defer u.close()
	entries, err := u.receive(c.Packs, func(*Entry) bool { return false })
	if err != nil {
		return Synced{}, err
	}
	if err := c.Begin(base); err != nil {
		return Synced{}, err
	}
	var out Synced
	WalkThree(c.Entries, entries, nil, func(path string, old, now, _ *Entry) {
		if !Equal(old, now) {
			out.Change(path)
		}
	})
	m, err := c.Commit(entries)
	if err != nil {
		return Synced{}, err
	}
	out.Version = m.version
	return out.Whole(), nil
}

// receive stores an archive's contents and gives its entries, sorted and with all
// directories that they are in. Those that leave names are left out.
func (u *unarchiver) receive(to *packs, leave func(*Entry) bool) ([]Entry, error) {
	all := map[string]Entry{}
	buf := make([]byte, Small)
	for {
		it, err := u.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		e := it.Entry
		switch {
		case leave(&e):
			continue
		case it.link != "":
			first, ok := all[it.link]
			if !ok || !first.Mode.IsRegular() {
				return nil, Failf(ErrInvalid, "the archive has a hard link at %q to a file that is not before it, so nothing of it was taken", Clip(e.Path))
			}
			first.Path = e.Path
			e = first
		case it.body != nil:
			if err := to.add(&e, it.body, u.limits.FileSize, buf); err != nil {
				return nil, err
			}
		}
		all[e.Path] = e
	}
	entries := slices.Collect(maps.Values(all))
	for _, e := range slices.Clone(entries) {
		for dir, _ := Parent(e.Path); dir != ""; dir, _ = Parent(dir) {
			d, ok := all[dir]
			if ok && !d.Mode.IsDir() {
				return nil, Failf(ErrInvalid, "the archive has %q in %q, which is no directory, so nothing of it was taken", Clip(e.Path), Clip(dir))
			}
			if ok {
				break
			}
			d = Entry{Path: dir, Mode: fs.ModeDir | 0o755}
			all[dir] = d
			entries = append(entries, d)
		}
	}
	slices.SortFunc(entries, ComparePaths)
	return entries, nil
}
