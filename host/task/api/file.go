package api

import (
	"context"
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
	"tandemux/host/task/store"
	"tandemux/host/workspace/filetree"
)

const (
	// fileLimit bounds a file in a request, archiveLimit an archive, in bytes. The workspace may have
	// lower limits.
	fileLimit    = 16 << 30
	archiveLimit = 64 << 30
	// maxContent bounds file contents in JSON, in bytes.
	maxContent = 1 << 20
)

var fileRoutes = []Route{
	on("GET /filesystems", "listFilesystems", "List filesystems, oldest first.", func(r *Request, in FilesystemQuery) (Page[store.Filesystem], error) {
		all, next, err := r.Tasks.Agents.Filesystems(r.Context(), r.Who, in.ProjectID, in.page())
		for i := range all {
			r.describe(&all[i])
		}
		return paged(all, next, err)
	}),
	on("POST /filesystems", "createFilesystem", "Make a filesystem in a project.", createFilesystem).creates().once(),
	on("GET /filesystems/{filesystem}", "getFilesystem", "Get a filesystem, by id or name.", func(r *Request, _ none) (store.Filesystem, error) {
		f, err := r.Tasks.Agents.Filesystem(r.Context(), r.Who, access.Read, r.ref())
		r.describe(&f)
		return f, err
	}),
	on("DELETE /filesystems/{filesystem}", "deleteFilesystem", "Delete a filesystem that no task has.", deleteFilesystem),
	on("GET /filesystems/{filesystem}/files", "listFiles", "List files, by path.", withTree(access.Read, listFiles)),
	on("GET /filesystems/{filesystem}/files/{path...}", "getFile", "Get what is known of a file or directory.", withTree(access.Read, getFile)),
	on("DELETE /filesystems/{filesystem}/files/{path...}", "deleteFile", "Remove a file, or a directory with all in it.",
		withTree(access.Update, func(r *Request, t *filetree.Tree, in Base) (Versioned, error) {
			version, err := t.Remove(r.PathValue("path"), in.Version)
			return Versioned{version}, err
		})),
	on("GET /filesystems/{filesystem}/file-download", "downloadFile", "Download one file.\nOf a symlink it is the target.", withTree(access.Read, downloadFile)).bytes("application/octet-stream"),
	on("PUT /filesystems/{filesystem}/file-upload", "uploadFile", `Write one file.
With writeMode=conditional, baseVersion and either expectedVersion or createOnly=* say what must hold. A stale baseVersion is 409, another file version 412, missing conditions are 428. A new file is answered with 201.`,
		withTree(access.Update, uploadFile)).of("application/octet-stream", fileLimit).reads(keyHeader),
	on("GET /filesystems/{filesystem}/archive", "downloadArchive", "Download all files as tar.zst.", withTree(access.Read, func(r *Request, t *filetree.Tree, _ none) (none, error) {
		now, err := t.Summary()
		if err == nil {
			r.W.Header().Set("Archive-Version", now.Version)
			_, err = t.WriteArchive(r.Context(), r)
		}
		return none{}, err
	})).bytes("application/zstd"),
	on("PUT /filesystems/{filesystem}/archive", "uploadArchive", `Replace all files by those of a tar.zst, tar.gz or tar.
An archive with a path that climbs, a device or a hard link that leads out of it is refused as a whole.`,
		withTree(access.Update, func(r *Request, t *filetree.Tree, in Base) (filetree.Synced, error) {
			return t.ReadArchive(r.Context(), r.stream(), in.Version)
		})).of("application/zstd", archiveLimit),
}

// FilesystemQuery selects filesystems.
type FilesystemQuery struct {
	ProjectID string `json:"project_id,omitempty" flag:"project,p" doc:"Of this project, by id or name"`
	Paging
}

// NewFilesystem describes a filesystem to make (U59).
type NewFilesystem struct {
	ProjectID string `json:"project_id" flag:"project,p" doc:"The project that it belongs to, by id or name"`
	Name      string `json:"name,omitempty" flag:"name,n" doc:"Unique in the project; the id when it is absent"`
	Dir       string `json:"dir,omitempty" doc:"A directory of the host's whose files it begins with, absolute; the operator's alone"`
}

// FileQuery selects files.
type FileQuery struct {
	Directory string `json:"directory,omitempty" doc:"Of this directory; the top when absent"`
	Recursive bool   `json:"recursive,omitempty" flag:"recursive,r" doc:"And of all below it"`
	MIME      string `json:"mime_type,omitempty" doc:"Of this type, such as text/markdown or image/*"`
	Paging
}

type contentQuery struct {
	Include bool `json:"include_content,omitempty" doc:"With its contents, if they have at most 1 MiB"`
}

// FilePath names a file. In a query it may have any bytes, percent-encoded.
type FilePath struct {
	Path string `json:"path" doc:"The file's path in the filesystem: src/app.py"`
}

// Base is the version that a change is based on.
type Base struct {
	Version string `json:"baseVersion,omitempty" flag:"base" doc:"The archive_version that the caller knows; another one is a conflict"`
}

type upload struct {
	FilePath
	Mode string `json:"writeMode,omitempty" enum:"overwrite,conditional" doc:"overwrite when absent"`
	Base
	Expected   string `json:"expectedVersion,omitempty" doc:"The file_version that is to be replaced"`
	CreateOnly string `json:"createOnly,omitempty" doc:"*: the file must not be there"`
	Digest     string `json:"digest,omitempty" doc:"What the contents must have: sha256:HEX"`
	Executable bool   `json:"executable,omitempty" doc:"Whether a new file is executable"`
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

// FilePage has a part of a list of files.
type FilePage struct {
	Page[File]
	Archive string `json:"archive_version"`
}

// Versioned is the filesystem's version after a change.
type Versioned struct {
	Version string `json:"archive_version"`
}

// withTree makes a handler from one that works on the tree of a filesystem, for callers that may do
// verb with it.
func withTree[In, Out any](verb access.Verb, handle func(*Request, *filetree.Tree, In) (Out, error)) func(*Request, In) (Out, error) {
	return func(r *Request, in In) (out Out, err error) {
		f, err := r.Tasks.Agents.Filesystem(r.Context(), r.Who, verb, r.ref())
		if err != nil {
			return out, err
		}
		t, err := r.Tasks.Files.Tree(f.ID)
		if err != nil {
			return out, err
		}
		return handle(r, t, in)
	}
}

// describe sets the members of f that are read from the files.
func (r *Request) describe(f *store.Filesystem) {
	t, err := r.Tasks.Files.Tree(f.ID)
	if err != nil {
		return
	}
	if now, err := t.Summary(); err == nil {
		f.Version, f.Files, f.Size = now.Version, int64(now.Entries), now.Bytes
	}
}

func createFilesystem(r *Request, in NewFilesystem) (f store.Filesystem, err error) {
	ctx := r.Context()
	p, err := r.Tasks.Agents.Project(ctx, r.Who, access.Update, in.ProjectID)
	switch {
	case err != nil:
		return f, err
	case in.Dir != "" && r.Who.Kind != access.Operator:
		return f, Errorf(http.StatusForbidden, "only the operator may name a directory of the host's: make an empty filesystem and put an archive into it")
	case in.Name != "":
		if err := access.CheckName("a filesystem", in.Name); err != nil {
			return f, Errorf(http.StatusUnprocessableEntity, "%v", err)
		}
	}
	if f, err = r.Tasks.Store.Filesystems.Create(ctx, store.Filesystem{ProjectID: p.ID, Name: in.Name}); err != nil {
		return f, err
	}
	if _, err := r.Tasks.Files.NewTree(ctx, f.ID, in.Dir); err != nil {
		r.Tasks.Store.Filesystems.Delete(context.WithoutCancel(ctx), f.ID) //nolint:errcheck // the first error says more
		return f, err
	}
	r.describe(&f)
	return f, nil
}

func deleteFilesystem(r *Request, _ none) (none, error) {
	ctx := r.Context()
	f, err := r.Tasks.Agents.Filesystem(ctx, r.Who, access.Delete, r.ref())
	if err == nil {
		// The record is deleted first, because it knows whether a task uses it. A tree without a
		// record is removed when the service is opened.
		err = r.Tasks.Store.Filesystems.Delete(ctx, f.ID)
	}
	if err == nil {
		if err = r.Tasks.Files.RemoveTree(f.ID); errors.Is(err, filetree.ErrNotFound) {
			err = nil
		}
	}
	return none{}, err
}

func fileOf(e filetree.Entry, version string) File {
	f := File{Path: e.Path, Kind: "file", Size: e.Size, Mode: strconv.FormatUint(uint64(e.Mode.Perm()), 8), MIME: e.MIME(), Archive: version}
	if !utf8.ValidString(f.Path) {
		f.PathBase64 = []byte(f.Path)
	}
	if e.Mode.IsDir() {
		f.Kind = "directory"
		return f
	}
	if e.Mode&fs.ModeSymlink != 0 {
		f.Kind = "symlink"
	}
	f.Modified, f.Version = new(e.ModTime().UTC()), e.Version()
	return f
}

func listFiles(_ *Request, t *filetree.Tree, in FileQuery) (page FilePage, err error) {
	got, err := t.List(filetree.ListQuery{Dir: in.Directory, MIME: in.MIME, After: in.Cursor, Recursive: in.Recursive, Limit: in.page().Limit})
	page = FilePage{Page[File]{[]File{}, got.Next}, got.Version}
	for _, e := range got.Entries {
		page.Data = append(page.Data, fileOf(e, got.Version))
	}
	return page, err
}

func getFile(r *Request, t *filetree.Tree, in contentQuery) (f File, err error) {
	m, err := t.Manifest()
	if err != nil {
		return f, err
	}
	e, err := m.Stat(r.PathValue("path"))
	if err != nil {
		return f, err
	}
	if !in.Include || e.Mode.IsDir() {
		return fileOf(e, m.Version()), nil
	}
	if e.Size > maxContent {
		return f, Errorf(http.StatusRequestEntityTooLarge, "the file has %d bytes, more than the %d that are given so: download it", e.Size, maxContent)
	}
	e, body, err := t.Read(r.PathValue("path"))
	if err != nil {
		return f, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxContent+1))
	f = fileOf(e, m.Version())
	if content := string(text); utf8.Valid(text) {
		f.Content = &content
	} else {
		f.Base64 = text
	}
	return f, err
}

func downloadFile(r *Request, t *filetree.Tree, in FilePath) (none, error) {
	e, body, err := t.Read(in.Path)
	if err != nil {
		return none{}, err
	}
	defer body.Close()
	h := r.W.Header()
	h.Set("Content-Length", strconv.FormatInt(e.Size, 10))
	h.Set("ETag", strconv.Quote(e.Version()))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(e.Path)}))
	_, err = io.Copy(r, body)
	return none{}, err
}

func uploadFile(r *Request, t *filetree.Tree, in upload) (filetree.Written, error) {
	w := filetree.Write{
		Path: in.Path, Mode: filetree.WriteMode(in.Mode), Base: in.Version, Expected: in.Expected,
		CreateOnly: in.CreateOnly, Digest: in.Digest, Executable: in.Executable, Body: r.stream(),
	}
	if key := r.Header.Get(keyHeader); key != "" {
		w.Key = r.Who.String() + " " + key // each caller has its own keys
	}
	out, err := t.Write(r.Context(), w)
	if out.Created {
		r.status = http.StatusCreated
	}
	if out.Replay {
		r.W.Header().Set("Idempotency-Replayed", "true")
	}
	return out, err
}
