package workspace

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// WriteArchive writes the current version as tar.zst (U67) and gives that version.
func (t *Tree) WriteArchive(ctx context.Context, w io.Writer) (version string, err error) {
	v, err := t.view()
	if err != nil {
		return "", err
	}
	defer v.close()
	a, err := newArchiver(w)
	if err != nil {
		return "", err
	}
	for i := range v.manifest.entries {
		e := &v.manifest.entries[i]
		if err := ctx.Err(); err != nil {
			return "", err
		}
		body, err := v.read(e)
		if err == nil {
			err = a.add(e.Path, e, body)
		}
		if err != nil {
			return "", err
		}
	}
	return v.manifest.version, a.close()
}

// WriteArchive writes what Pull would as tar.zst, and gives the same account of it.
func (w *Workspace) WriteArchive(ctx context.Context, to io.Writer) (Pulled, error) {
	parts, p, done, err := w.parts(ctx)
	if err != nil {
		return Pulled{}, err
	}
	defer done()
	a, err := newArchiver(to)
	if err != nil {
		return Pulled{}, err
	}
	for _, part := range parts {
		if err := a.addPart(ctx, part); err != nil {
			return Pulled{}, err
		}
	}
	return p, a.close()
}

// PackDir writes a directory as tar.zst, and gives what it left out: devices, sockets,
// FIFOs, what can't be read. It needs no Store; clients use it.
func PackDir(ctx context.Context, dir string, to io.Writer) (skipped []string, err error) {
	top, err := openFolder(dir)
	if err != nil {
		return nil, missing(err, "the directory %s", dir)
	}
	defer top.close()
	seen, err := (&scanner{ctx: ctx, limits: noLimits}).scan(top)
	if err != nil {
		return nil, err
	}
	a, err := newArchiver(to)
	if err != nil {
		return nil, err
	}
	part := part{from: dirSource{top}}
	for i := range seen.files {
		part.entries = append(part.entries, seen.files[i].Entry)
	}
	if err := a.addPart(ctx, part); err != nil {
		return nil, err
	}
	return seen.skipped, a.close()
}

// noLimits is for what the user does with his own files.
var noLimits = Limits{Files: 1 << 30, Bytes: 1 << 62, FileSize: 1 << 62}

// archiver writes tar.zst.
type archiver struct {
	zip *zstd.Encoder
	tar *tar.Writer
}

func newArchiver(w io.Writer) (*archiver, error) {
	zip, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &archiver{zip, tar.NewWriter(zip)}, nil
}

func (a *archiver) add(path string, e *Entry, body io.Reader) error {
	h := &tar.Header{Name: path, Mode: int64(e.Mode.Perm()), ModTime: e.ModTime(), Format: tar.FormatPAX}
	switch {
	case e.Mode.IsDir():
		h.Typeflag, h.Name, h.ModTime = tar.TypeDir, path+"/", time.Unix(0, 0)
	case e.Mode&fs.ModeSymlink != 0:
		target, err := io.ReadAll(io.LimitReader(body, maxPath+1))
		if err != nil {
			return err
		}
		h.Typeflag, h.Linkname = tar.TypeSymlink, string(target)
	default:
		h.Typeflag, h.Size = tar.TypeReg, e.Size
	}
	if err := a.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("archive %q: %w", clip(path), err)
	}
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	_, err := io.Copy(a.tar, body)
	return err
}

// addPart adds a directory's files as they are now.
func (a *archiver) addPart(ctx context.Context, p part) error {
	if p.prefix != "" {
		at := ""
		for name := range strings.SplitSeq(p.prefix, "/") {
			at += name
			if err := a.add(at, &Entry{Mode: fs.ModeDir | 0o755}, nil); err != nil {
				return err
			}
			at += "/"
		}
	}
	if len(p.entries) == 0 {
		return nil
	}
	top := p.from.(dirSource).top //nolint:forcetypeassert // only those are archived so
	for i := range p.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.addFile(top, p.prefix, p.entries[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *archiver) addFile(top *folder, prefix string, e Entry) error {
	path := e.Path
	if prefix != "" {
		path = prefix + "/" + path
	}
	if e.Mode.IsDir() {
		return a.add(path, &e, nil)
	}
	dir, name := parent(e.Path)
	d, err := top.walk(dir)
	if absent(err) {
		return nil // it went meanwhile
	}
	if err != nil {
		return err
	}
	defer d.close()
	if e.Mode&fs.ModeSymlink != 0 {
		target, err := d.readlink(name)
		if err != nil {
			return nil //nolint:nilerr // it went meanwhile
		}
		return a.add(path, &e, strings.NewReader(target))
	}
	f, st, err := d.open(name)
	if absent(err) || errors.Is(err, errIrregular) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	e.Size, e.Modified = st.size, st.mtime
	e.Mode, _ = st.fileMode()
	// A file that is cut meanwhile is filled up: what was announced must come.
	return a.add(path, &e, io.LimitReader(io.MultiReader(f, zeros{}), e.Size))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func (a *archiver) close() error {
	if err := a.tar.Close(); err != nil {
		return err
	}
	return a.zip.Close()
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
	head, _ := in.Peek(4)
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
		return nil, failf(ErrInvalid, "the archive is empty; an empty directory's has an end")
	}
	u.tar = tar.NewReader(plain)
	return u, nil
}

func badArchive(err error) error {
	var known *Failure
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Failure{kind: ErrInvalid.(*reason), text: "the archive can't be read, so nothing of it was taken", err: err}
}

// item is a file of an archive; link is the path of the one before that a hard link
// names.
type item struct {
	Entry
	link string
	body io.Reader // of regular files
	text string    // a symlink's target
}

// next gives the next file, io.EOF at the end. The path is clean and stays inside;
// what it may not have is an error.
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
		if err := checkPath(path); err != nil {
			return nil, failf(ErrInvalid, "the archive has a file that can't be in a workspace, so nothing of it was taken: %v", err)
		}
		if u.files++; u.files > u.limits.Files {
			return nil, failf(ErrTooLarge, "the archive has more than %d files", u.limits.Files)
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
			return nil, failf(ErrTooLarge, "the archive has more than %d bytes", u.limits.Bytes)
		}
		it.body = archiveBody{u}
	case tar.TypeDir:
		it.Mode, it.Modified = it.Mode|fs.ModeDir, 0
	case tar.TypeSymlink:
		if h.Linkname == "" || len(h.Linkname) > maxPath || strings.IndexByte(h.Linkname, 0) >= 0 {
			return nil, failf(ErrInvalid, "the archive has a symlink at %q that leads nowhere, so nothing of it was taken", clip(path))
		}
		it.Mode, it.text, it.Size = fs.ModeSymlink|0o777, h.Linkname, int64(len(h.Linkname))
	case tar.TypeLink:
		it.link = archivePath(h.Linkname)
		if err := checkPath(it.link); err != nil {
			return nil, failf(ErrInvalid, "the archive has a hard link at %q that leads out of it, so nothing of it was taken", clip(path))
		}
	default:
		return nil, failf(ErrInvalid, "the archive has a device, socket or FIFO at %q, so nothing of it was taken", clip(path))
	}
	return it, nil
}

// archiveBody words the errors of what follows.
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
