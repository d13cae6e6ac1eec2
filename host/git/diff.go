package git

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tandemux/host/workspace/filetree"
)

type FileDiff struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // the old path, of a rename
	Status  string `json:"status"`         // added, deleted, modified, renamed, mode, type
	Added   int    `json:"added"`          // lines
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`

	Old, New Entry `json:"-"` // what each tree has; without an ID nothing
}

// Entry is what a tree has at a path.
type Entry struct {
	Mode string // as git writes it
	ID   string // the object's
}

// Modes of entries that are no files.
const (
	ModeLink   = "120000"
	ModeModule = "160000" // a submodule; ID is a commit
)

// entry is one of a tree; git has zeros for none.
func entry(mode, id string) Entry {
	if strings.Trim(mode, ":0") == "" {
		return Entry{}
	}
	return Entry{Mode: strings.TrimPrefix(mode, ":"), ID: id}
}

// statusWords are git's letters.
var statusWords = map[byte]string{'A': "added", 'D': "deleted", 'M': "modified", 'R': "renamed", 'T': "type"}

// Diff compares two trees; text, unless nil, gets the unified diff. Only, if not empty,
// restricts it to files and directories.
func (g Git) Diff(ctx context.Context, from, to string, text io.Writer, only ...string) ([]FileDiff, error) {
	// For renames git reads the index, and by it files of the work tree in place of the
	// trees' objects, which somebody may be writing to. An index of no name isn't there.
	g = g.With("GIT_INDEX_FILE=")
	paths := []string{"--"}
	for _, p := range only {
		paths = append(paths, ":(top,literal)"+p)
	}
	args := append([]string{"diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-ext-diff", "--no-textconv", "--abbrev=64", from, to}, paths...)
	out, err := g.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("compare with %s: %w", from, err)
	}
	files, err := parse(Words(out))
	if err != nil {
		return nil, err
	}
	if text != nil {
		args := append([]string{"diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to}, paths...)
		if _, err := g.Into(text).Run(ctx, args...); err != nil {
			return nil, fmt.Errorf("compare with %s: %w", from, err)
		}
	}
	return files, nil
}

// parse reads what --raw -z and --numstat -z print, one after the other.
func parse(words []string) (files []FileDiff, err error) {
	bad := fmt.Errorf("git's comparison is not what it should be: %q", filetree.Clip(strings.Join(words, " ")))
	next := func() string {
		if len(words) == 0 {
			return ""
		}
		word := words[0]
		words = words[1:]
		return word
	}
	at := map[string]int{}
	for len(words) > 0 && strings.HasPrefix(words[0], ":") {
		fields := strings.Fields(next())
		if len(fields) != 5 {
			return nil, bad
		}
		f := FileDiff{Path: next(), Status: statusWords[fields[4][0]], Old: entry(fields[0], fields[2]), New: entry(fields[1], fields[3])}
		if f.Status == "renamed" {
			f.From, f.Path = f.Path, next()
		}
		if f.Status == "modified" && fields[2] == fields[3] {
			f.Status = "mode"
		}
		at[f.Path] = len(files)
		files = append(files, f)
	}
	for len(words) > 0 {
		fields := strings.SplitN(next(), "\t", 3)
		if len(fields) != 3 {
			return nil, bad
		}
		path := fields[2]
		if path == "" { // a rename: both paths follow
			next()
			path = next()
		}
		i, ok := at[path]
		if !ok {
			return nil, bad
		}
		f := &files[i]
		f.Binary = fields[0] == "-"
		f.Added, _ = strconv.Atoi(fields[0])
		f.Deleted, _ = strconv.Atoi(fields[1])
	}
	return files, nil
}

// UndoneRefs are where what was undone is kept.
const UndoneRefs = "refs/tandemux/undone/"

// Undone is a commit that keeps what was undone.
type Undone string

// Ref is where it is kept.
func (u Undone) Ref() string { return UndoneRefs + string(u[:12]) }
