package api

import (
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"
	"unicode/utf8"

	"tandemux/host/task/access"
	"tandemux/host/workspace/filetree"
)

// pathParam names a file; a query has any bytes, percent-encoded.
var (
	pathParam = Param{Name: "path", Required: true, Doc: "The file's path in the filesystem: src/app.py"}
	baseParam = Param{Name: "baseVersion", Doc: "The archive_version that the caller knows; another one is a conflict"}
)

// fileLimit bounds a file that is sent, archiveLimit an archive, in bytes; the
// workspace's own limits may be lower.
const (
	fileLimit    = 16 << 30
	archiveLimit = 64 << 30
)

var fileRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/filesystems/{filesystem}/files", Name: "listFiles", Tag: filesystemTag, Summary: "List files, by path.",
		Params: []Param{
			{Name: "directory", Doc: "Of this directory; the top when absent"},
			{Name: "recursive", Kind: "boolean", Doc: "And of all below it"},
			{Name: "mime_type", Doc: "Of this type, such as text/markdown or image/*"},
			limitParam, cursorParam,
		},
		Result: FilePage{}, Handle: listFiles,
	},
	{
		Method: http.MethodGet, Path: "/filesystems/{filesystem}/files/{path...}", Name: "getFile", Tag: filesystemTag, Summary: "Get what is known of a file or directory.",
		Params: []Param{{Name: "include_content", Kind: "boolean", Doc: "With its contents, if they have at most 1 MiB"}},
		Result: File{}, Errors: []int{http.StatusRequestEntityTooLarge}, Handle: getFile,
	},
	{
		Method: http.MethodDelete, Path: "/filesystems/{filesystem}/files/{path...}", Name: "deleteFile", Tag: filesystemTag,
		Summary: "Remove a file, or a directory with all in it.", Params: []Param{baseParam},
		Result: Versioned{}, Errors: []int{http.StatusConflict, http.StatusInsufficientStorage}, Handle: deleteFile,
	},
	{
		Method: http.MethodGet, Path: "/filesystems/{filesystem}/file-download", Name: "downloadFile", Tag: filesystemTag, Summary: "Download one file.",
		Detail: "Of a symlink it is the target.", Params: []Param{pathParam}, Result: Raw{Type: "application/octet-stream"}, Handle: downloadFile,
	},
	{
		Method: http.MethodPut, Path: "/filesystems/{filesystem}/file-upload", Name: "uploadFile", Tag: filesystemTag, Summary: "Write one file.",
		Detail: "With writeMode=conditional, baseVersion and either expectedVersion or createOnly=* say what must hold. A stale baseVersion is 409, another file version 412, missing conditions are 428.",
		Params: []Param{
			pathParam,
			{Name: "writeMode", Enum: []string{string(filetree.Overwrite), string(filetree.Conditional)}, Doc: "overwrite when absent"},
			baseParam,
			{Name: "expectedVersion", Doc: "The file_version that is to be replaced"},
			{Name: "createOnly", Doc: "*: the file must not be there"},
			{Name: "digest", Doc: "What the contents must have: sha256:HEX"},
			{Name: "executable", Kind: "boolean", Doc: "Whether a new file is executable"},
			idempotencyParam,
		},
		Body: Raw{Type: "application/octet-stream"}, BodyLimit: fileLimit, Result: filetree.Written{}, More: []int{http.StatusCreated},
		Errors: []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusPreconditionRequired, http.StatusInsufficientStorage},
		Handle: uploadFile,
	},
	{
		Method: http.MethodGet, Path: "/filesystems/{filesystem}/archive", Name: "downloadArchive", Tag: filesystemTag, Summary: "Download all files as tar.zst.",
		Result: Raw{Type: "application/zstd"}, Handle: downloadArchive,
	},
	{
		Method: http.MethodPut, Path: "/filesystems/{filesystem}/archive", Name: "uploadArchive", Tag: filesystemTag, Summary: "Replace all files by those of a tar.zst, tar.gz or tar.",
		Detail: "An archive with a path that climbs, a device or a hard link that leads out of it is refused as a whole.",
		Params: []Param{baseParam}, Body: Raw{Type: "application/zstd"}, BodyLimit: archiveLimit, Result: filetree.Synced{},
		Errors: []int{http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage}, Handle: uploadArchive,
	},
}

// File is a file, symlink or directory of a filesystem.
type File struct {
	Path       string     `json:"path" doc:"Bytes that are no UTF-8 are replaced; then path_base64 is there, too"`
	PathBase64 []byte     `json:"path_base64,omitempty" doc:"The path's bytes, in base64"`
	Kind       string     `json:"type" enum:"file,directory,symlink"`
	Size       int64      `json:"size" doc:"In bytes"`
	Mode       string     `json:"mode" doc:"Permission bits, octal"`
	MIME       string     `json:"mime_type"`
	Modified   *time.Time `json:"modified_at,omitempty"`
	Version    string     `json:"file_version,omitempty" doc:"The contents' SHA-256; of directories there is none"`
	Archive    string     `json:"archive_version" doc:"The filesystem's version that this is of"`
	Content    *string    `json:"content,omitempty" doc:"Text, where it is UTF-8"`
	Base64     []byte     `json:"content_base64,omitempty" doc:"Contents that are no UTF-8, in base64"`
}

// FilePage is a part of a list of files.
type FilePage struct {
	Data    []File `json:"data"`
	Next    string `json:"next,omitempty" doc:"The cursor of the rest, absent when there is none"`
	Archive string `json:"archive_version"`
}

// Versioned is what a change leaves.
type Versioned struct {
	Version string `json:"archive_version"`
}

// maxContent bounds contents that are given as JSON, in bytes.
const maxContent = 1 << 20

func fileOf(e filetree.Entry, version string) File {
	f := File{Path: e.Path, Kind: "file", Size: e.Size, Mode: strconv.FormatUint(uint64(e.Mode.Perm()), 8), MIME: e.MIME(), Archive: version}
	switch {
	case e.Mode.IsDir():
		f.Kind = "directory"
		return f.valid()
	case e.Mode&fs.ModeSymlink != 0:
		f.Kind = "symlink"
	}
	at := e.ModTime().UTC()
	f.Modified, f.Version = &at, e.Version()
	return f.valid()
}

func (f File) valid() File {
	if !utf8.ValidString(f.Path) {
		f.PathBase64 = []byte(f.Path)
	}
	return f
}

// isGone reports whether an error is about what there is not.
func isGone(err error) bool { return errors.Is(err, filetree.ErrNotFound) }

func listFiles(r *Request) (any, error) {
	_, t, err := r.filesystem(access.Read)
	if err != nil {
		return nil, err
	}
	q := filetree.ListQuery{Dir: r.Text("directory"), MIME: r.Text("mime_type"), After: r.Text("cursor"), Recursive: r.Bool("recursive"), Limit: r.Limit()}
	list, err := t.List(q)
	if err != nil {
		return nil, err
	}
	page := FilePage{Data: []File{}, Next: list.Next, Archive: list.Version}
	for _, e := range list.Entries {
		page.Data = append(page.Data, fileOf(e, list.Version))
	}
	return page, nil
}

func getFile(r *Request) (any, error) {
	_, t, err := r.filesystem(access.Read)
	if err != nil {
		return nil, err
	}
	m, err := t.Manifest()
	if err != nil {
		return nil, err
	}
	e, err := m.Stat(r.Part("path"))
	if err != nil {
		return nil, err
	}
	f := fileOf(e, m.Version())
	if !r.Bool("include_content") || e.Mode.IsDir() {
		return f, nil
	}
	if e.Size > maxContent {
		return nil, Errorf(http.StatusRequestEntityTooLarge, "the file has %d bytes, more than the %d that are given so: download it", e.Size, maxContent)
	}
	e, body, err := t.Read(r.Part("path"))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxContent+1))
	if err != nil {
		return nil, err
	}
	f = fileOf(e, m.Version())
	if utf8.Valid(text) {
		content := string(text)
		f.Content = &content
	} else {
		f.Base64 = text
	}
	return f, nil
}

func deleteFile(r *Request) (any, error) {
	_, t, err := r.filesystem(access.Update)
	if err != nil {
		return nil, err
	}
	version, err := t.Remove(r.Context(), r.Part("path"), r.Text("baseVersion"))
	return Versioned{version}, err
}

func downloadFile(r *Request) (any, error) {
	_, t, err := r.filesystem(access.Read)
	if err != nil {
		return nil, err
	}
	e, body, err := t.Read(r.Text("path"))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	h := r.W.Header()
	h.Set("Content-Type", "application/octet-stream") // no browser shows what an agent wrote
	h.Set("Content-Length", strconv.FormatInt(e.Size, 10))
	h.Set("ETag", strconv.Quote(e.Version()))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(e.Path)}))
	return r.stream(body)
}

// stream writes bytes. What goes wrong behind the first of them can only be told by
// ending the connection.
func (r *Request) stream(body io.Reader) (any, error) {
	if _, err := io.Copy(r.W, body); err != nil {
		panic(http.ErrAbortHandler)
	}
	return Streamed, nil
}

func uploadFile(r *Request) (any, error) {
	_, t, err := r.filesystem(access.Update)
	if err != nil {
		return nil, err
	}
	w := filetree.Write{
		Path: r.Text("path"), Mode: filetree.WriteMode(r.Text("writeMode")), Base: r.Text("baseVersion"), Expected: r.Text("expectedVersion"),
		CreateOnly: r.Text("createOnly"), Digest: r.Text("digest"), Executable: r.Bool("executable"), Body: r.Stream(),
	}
	if key := r.Text(idempotencyParam.Name); key != "" {
		w.Key = r.Who.String() + " " + key // a key is its sender's
	}
	out, err := t.Write(r.Context(), w)
	if err != nil {
		return nil, err
	}
	a := Answer{Status: http.StatusOK, Body: out, Header: map[string]string{}}
	if out.Created {
		a.Status = http.StatusCreated
	}
	if out.Replay {
		a.Header["Idempotency-Replayed"] = "true"
	}
	return a, nil
}

func downloadArchive(r *Request) (any, error) {
	_, t, err := r.filesystem(access.Read)
	if err != nil {
		return nil, err
	}
	now, err := t.Summary()
	if err != nil {
		return nil, err
	}
	h := r.W.Header()
	h.Set("Content-Type", "application/zstd")
	h.Set("Archive-Version", now.Version)
	if _, err := t.WriteArchive(r.Context(), r.W); err != nil {
		panic(http.ErrAbortHandler)
	}
	return Streamed, nil
}

func uploadArchive(r *Request) (any, error) {
	_, t, err := r.filesystem(access.Update)
	if err != nil {
		return nil, err
	}
	return t.ReadArchive(r.Context(), r.Stream(), r.Text("baseVersion"))
}
