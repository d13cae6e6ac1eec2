package filetree

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"tandemux/internal/fault"
)

// Bounds of a path inside a tree.
const (
	maxPath = 4096 // bytes
	maxName = 255  // bytes of a component
	maxDeep = 200  // components
)

// CheckPath refuses what is no clean, relative path inside a tree: absolute ones,
// empty components, "." and "..", NUL, and what no file system could hold. Any other
// bytes are a name's.
func CheckPath(p string) error {
	switch {
	case p == "":
		return Failf(ErrInvalid, "the path is empty: give one inside of the workspace")
	case len(p) > maxPath:
		return Failf(ErrInvalid, "the path %q is longer than %d bytes", Clip(p), maxPath)
	case p[0] == '/':
		return Failf(ErrInvalid, "the path %q is absolute: give one inside of the workspace", Clip(p))
	case strings.IndexByte(p, 0) >= 0:
		return Failf(ErrInvalid, "the path %q has a NUL byte", Clip(p))
	}
	deep := 0
	for name := range strings.SplitSeq(p, "/") {
		deep++
		switch {
		case name == "" || name == "." || name == "..":
			return Failf(ErrInvalid, "the path %q is not clean: no empty parts, . or ..", Clip(p))
		case len(name) > maxName:
			return Failf(ErrInvalid, "the path %q has a part longer than %d bytes", Clip(p), maxName)
		}
	}
	if deep > maxDeep {
		return Failf(ErrInvalid, "the path %q is deeper than %d directories", Clip(p), maxDeep)
	}
	return nil
}

// Parent gives the directory of a path, "" for the top, and its name there.
func Parent(p string) (dir, name string) {
	dir, name = path.Split(p)
	return strings.TrimSuffix(dir, "/"), name
}

// Under reports whether a path is dir or below it; all are under "".
func Under(p, dir string) bool {
	return dir == "" || p == dir || len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

// IsGit reports whether a path is git's own: a component is ".git", as any file
// system may spell it.
func IsGit(p string) bool {
	for name := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(name, ".git") {
			return true
		}
	}
	return false
}

// maxID bounds ids of filesystems and tasks, in bytes.
const maxID = 64

// CheckID refuses what can't be a directory's name here: ids are 1 to 64 of a–z,
// A–Z, 0–9, "-" and "_", and begin with a letter or a digit.
func CheckID(what, id string) error {
	ok := id != "" && len(id) <= maxID && id[0] != '-' && id[0] != '_'
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
	}
	if !ok {
		return Failf(ErrInvalid, "%s id %q: want 1 to %d letters, digits, - or _, the first a letter or digit", what, Clip(id), maxID)
	}
	return nil
}

// Clip shortens a text that an error quotes.
func Clip(s string) string {
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}

// Listed names the first of some files.
func Listed(paths []string, most int) string {
	var b strings.Builder
	for i, p := range paths[:min(len(paths), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", Clip(p))
	}
	if n := len(paths) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}

// What can be wrong, for errors.Is. The status codes of the answers are those of
// U65 where it names one.
var (
	ErrInvalid      = fault.New(http.StatusBadRequest, "not valid")
	ErrNotFound     = fault.New(http.StatusNotFound, "not found")
	ErrConflict     = fault.New(http.StatusConflict, "conflict")                   // both sides changed, stale version, name taken
	ErrMismatch     = fault.New(http.StatusPreconditionFailed, "version mismatch") // of the file
	ErrPrecondition = fault.New(http.StatusPreconditionRequired, "precondition required")
	ErrTooLarge     = fault.New(http.StatusRequestEntityTooLarge, "too large")
	ErrUnsupported  = fault.New(http.StatusUnprocessableEntity, "not supported") // by this kind of workspace or repository
	ErrFull         = fault.New(http.StatusInsufficientStorage, "no space left")
	ErrDamaged      = fault.New(http.StatusInternalServerError, "damaged")
)

func Failf(kind *fault.Kind, format string, args ...any) error { return kind.Errorf(format, args...) }
