package files

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/ahp/resource"
	"tandemux/internal/fileuri"
)

// Bounds.
const (
	maxFileBytes = 5 << 20 // read at once: 6.7 MiB as base64
	maxEntries   = 20000   // of a directory
	maxURI       = 4096
	maxShown     = 1024 // bytes of a URI in an error
)

func clip(s string) string { return s[:min(len(s), maxShown)] }

// Server serves the files below some directories.
type Server struct {
	hostname string
	roots    []root
	limits   Limits
	own      []string // nothing in these is changed

	writing sync.Mutex   // held from looking at a file until it is changed
	watched atomic.Int64 // directories, by all watches
}

// root is a directory that is served, as it was given and without symbolic links.
type root struct{ given, real string }

// Options are what a Server is of.
type Options struct {
	// Roots are the directories that are served, by absolute paths; those that are not
	// there are left out.
	Roots []string
	// Hostname is this machine's, which file URIs may name.
	Hostname string
	// Own are the host's own directories: clients change nothing there.
	Own    []string
	Limits Limits
}

func New(o Options) *Server {
	s := &Server{hostname: o.Hostname, limits: o.Limits}
	for _, d := range o.Own {
		if r, err := filepath.EvalSymlinks(d); err == nil {
			s.own = append(s.own, r)
		}
	}
	for _, d := range o.Roots {
		if r, err := filepath.EvalSymlinks(d); err == nil && filepath.IsAbs(r) {
			s.roots = append(s.roots, root{filepath.Clean(d), r})
		}
	}
	return s
}

// place is a file within a root: opening rel through the root cannot leave it,
// whatever becomes of the symbolic links on the way.
type place struct {
	root, rel string
}

func (p place) path() string { return filepath.Join(p.root, p.rel) }

// in does something in the root.
func (p place) in(do func(root *os.Root) error) error {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// open opens a file of any kind without waiting for whoever is at the other end
// of a pipe.
func (p place) open() (f *os.File, err error) {
	err = p.in(func(root *os.Root) (err error) {
		f, err = root.OpenFile(p.rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
		return err
	})
	return f, err
}

func (p place) lstat() (info fs.FileInfo, err error) {
	err = p.in(func(root *os.Root) (err error) {
		info, err = root.Lstat(p.rel)
		return err
	})
	return info, err
}

// below reports whether a clean path is dir or within it.
func below(path, dir string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// locate finds the place that a URI means. With follow set the last link is
// followed as well as those before it. What lies outside the roots is refused
// in the same words whether it is there or not.
func (s *Server) locate(uri ahp.URI, follow bool) (place, error) {
	path, err := s.path(uri)
	if err != nil {
		return place{}, err
	}
	return s.find(path, uri, follow)
}

// path is the one that a URI names.
func (s *Server) path(uri ahp.URI) (string, error) {
	if uri == "" {
		return "", ahp.InvalidParams("uri: missing")
	}
	path, ok := fileuri.Local(uri, s.hostname)
	if !ok || len(uri) > maxURI {
		return "", outside(uri)
	}
	return path, nil
}

// find is locate by the path, which the URI is only named for.
func (s *Server) find(path string, uri ahp.URI, follow bool) (place, error) {
	for _, r := range s.roots {
		rel, ok := below(path, r.real)
		if !ok {
			rel, ok = below(path, r.given)
		}
		if !ok {
			continue
		}
		last := ""
		if !follow && rel != "." {
			rel, last = filepath.Split(rel)
		}
		real, err := filepath.EvalSymlinks(filepath.Join(r.real, rel))
		if err != nil {
			return place{}, unfollowed(r.real, rel, uri, err)
		}
		if rel, ok = below(real, r.real); !ok {
			return place{}, outside(uri)
		}
		return place{root: r.real, rel: filepath.Join(rel, last)}, nil
	}
	return place{}, outside(uri)
}

// unfollowed is what to say of a path that could not be followed: one that leaves
// the root on its way is refused as if it led somewhere, or the answer would
// tell what there is outside.
func unfollowed(root, rel string, uri ahp.URI, err error) error {
	p := place{root: root}
	if statErr := p.in(func(r *os.Root) error { _, err := r.Stat(rel); return err }); statErr != nil {
		err = statErr
	}
	return fileError(uri, err)
}

func outside(uri ahp.URI) error {
	return ahp.PermissionDenied("files: %q is not below a directory that this host serves", clip(uri))
}

// fileError maps what the system says to codes of the wire.
func fileError(uri ahp.URI, err error) error {
	var system syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return ahp.NotFound("files: there is no %q", clip(uri))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ahp.PermissionDenied("files: the system does not allow that with %q", clip(uri))
	case errors.Is(err, syscall.ENOTEMPTY):
		return ahp.Conflict("files: the directory %q is not empty", clip(uri))
	case errors.Is(err, fs.ErrExist):
		return ahp.AlreadyExists("files: there is a %q already", clip(uri))
	case errors.As(err, &system) && system != syscall.ELOOP:
		return ahp.Conflict("files: %q: %v", clip(uri), system)
	case ahp.FromRPC(err) != nil, errors.Is(err, context.Canceled):
		return err
	}
	// A link that leaves the root, or one to itself.
	return outside(uri)
}

// List gives a directory's entries, sorted by name (AHP's resourceList).
func (s *Server) List(uri ahp.URI) (any, error) {
	p, err := s.locate(uri, true)
	if err != nil {
		return nil, err
	}
	f, err := p.open()
	if err != nil {
		return nil, fileError(uri, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return nil, ahp.NotFound("list %q: it is not a directory", clip(uri))
	}
	entries, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fileError(uri, err)
	}
	if len(entries) > maxEntries {
		return nil, ahp.Conflict("list %q: it has more than %d entries, the most that are listed", clip(uri), maxEntries)
	}
	list := make([]resource.Entry, 0, len(entries))
	for _, e := range entries {
		kind := kindOf(e.Type())
		if kind == resource.Symlink { // It counts as what it leads to.
			kind = s.linked(p, e.Name())
		}
		list = append(list, resource.Entry{Name: e.Name(), Type: kind})
	}
	slices.SortFunc(list, func(a, b resource.Entry) int { return strings.Compare(a.Name, b.Name) })
	return resource.ListResult{Entries: list}, nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return resource.Directory
	case m&fs.ModeSymlink != 0:
		return resource.Symlink
	}
	return resource.File
}

// linked is the kind of what a link leads to: a directory only if that is
// served.
func (s *Server) linked(dir place, name string) string {
	p, err := s.locate(fileuri.Of(filepath.Join(dir.path(), name)), true)
	if err != nil {
		return resource.File
	}
	if info, err := p.lstat(); err != nil || !info.IsDir() {
		return resource.File
	}
	return resource.Directory
}

// Read gives a file's contents (AHP's resourceRead): as text when it is text, unless
// encoding asks for base64.
func (s *Server) Read(uri ahp.URI, encoding string) (any, error) {
	if !slices.Contains([]string{"", resource.UTF8, resource.Base64}, encoding) {
		return nil, ahp.InvalidParams("read file: encoding: %q is neither %q nor %q", clip(encoding), resource.UTF8, resource.Base64)
	}
	p, err := s.locate(uri, true)
	if err != nil {
		return nil, err
	}
	data, err := p.read(uri)
	if err != nil {
		return nil, err
	}
	return Contents(p.rel, data, encoding)
}

// Contents is what Read answers of a file with a name and these contents.
func Contents(name string, data []byte, encoding string) (any, error) {
	kind := cmp.Or(contentType(name), bare(http.DetectContentType(data)))
	if encoding != resource.Base64 && isText(data) {
		return resource.ReadResult{Data: string(data), Encoding: resource.UTF8, ContentType: kind}, nil
	}
	return resource.ReadResult{Data: base64.StdEncoding.EncodeToString(data), Encoding: resource.Base64, ContentType: kind}, nil
}

// isText reports whether data is text, and not so full of control characters
// that it would grow beyond bounds on the wire.
func isText(data []byte) bool {
	controls := 0
	for _, b := range data {
		if b == 0 {
			return false
		}
		if b < ' ' && b != '\n' && b != '\t' && b != '\r' || b == 0x7f {
			controls++
		}
	}
	return utf8.Valid(data) && controls <= len(data)/16
}

func (p place) read(uri ahp.URI) ([]byte, error) {
	f, err := p.open()
	if err != nil {
		return nil, fileError(uri, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fileError(uri, err)
	case info.IsDir():
		return nil, ahp.InvalidParams("read %q: it is a directory: list it", clip(uri))
	case !info.Mode().IsRegular():
		return nil, ahp.PermissionDenied("read %q: it is not a file but a device, a pipe or a socket", clip(uri))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fileError(uri, err)
	}
	if len(data) > maxFileBytes {
		return nil, ahp.Conflict("read %q: it has more than %d bytes, the most that is read at once", clip(uri), maxFileBytes)
	}
	return data, nil
}

// contentType goes by the name; empty when that says nothing.
func contentType(name string) string { return bare(mime.TypeByExtension(filepath.Ext(name))) }

// bare is a media type without its parameters, as AHP's clients compare them.
func bare(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}

// Resolve says what a URI stands for (AHP's resourceResolve). With follow set it is
// what a symbolic link leads to.
func (s *Server) Resolve(uri ahp.URI, follow bool) (any, error) {
	p, err := s.locate(uri, follow)
	if err != nil {
		return nil, err
	}
	info, err := p.lstat()
	if err != nil {
		return nil, fileError(uri, err)
	}
	r := resource.ResolveResult{
		URI: fileuri.Of(p.path()), Type: kindOf(info.Mode()), ETag: etag(info),
		MTime: info.ModTime().UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	if info.Mode().IsRegular() {
		r.Size, r.ContentType = new(info.Size()), contentType(p.rel)
	}
	return r, nil
}

// etag changes when the file does, or is another one: a clock may be too coarse.
func etag(info fs.FileInfo) string {
	tag := strconv.FormatInt(info.ModTime().UnixNano(), 36) + "-" + strconv.FormatInt(info.Size(), 36)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		tag += "-" + strconv.FormatUint(st.Ino, 36)
	}
	return tag
}

// Check says why a URI is not served, or nothing there may be changed; a file that is not
// there yet is.
func (s *Server) Check(uri ahp.URI, change bool) error {
	p, err := s.locate(uri, true)
	if ahp.CodeOf(err) == ahp.CodeNotFound {
		var missing string
		p, missing, err = s.room(uri, false)
		p.rel = filepath.Join(p.rel, missing)
	}
	if err == nil && change && s.isOwn(p) {
		err = s.free(p, uri)
	}
	if ahp.CodeOf(err) == ahp.CodeNotFound {
		return nil
	}
	return err
}
