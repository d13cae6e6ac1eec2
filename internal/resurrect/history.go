package resurrect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/internal/statefile"
)

// historyDir is the directory of histories in the state directory, 0700; a file
// in it, 0600, is a terminal's text as it was when the file was written last.
const historyDir = "history"

// maxHistory bounds a terminal's file, in bytes: with the line below it, it is
// what createTerminal takes.
const maxHistory = ahp.MaxBefore - 1<<10

// tempSuffix ends the names of files that are being written (statefile.Write).
const tempSuffix = ".new"

// plainName is a last part of a URI that is a file's name as it is.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`) })

// historyName is the name of a terminal's file.
func historyName(uri ahp.URI) string {
	if id, ok := strings.CutPrefix(uri, ahp.TerminalScheme+"/"); ok && plainName().MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(uri))
	return "uri." + hex.EncodeToString(sum[:16])
}

// History is what is kept of what a terminal showed.
type History struct {
	URI   ahp.URI // empty if the layouts don't tell
	Title string
	// Called is the name that somebody gave the terminal, empty for none.
	Called string
	Name   string // of the file
	Size   int64  // in bytes
	Saved  time.Time
}

// Histories lists what is kept in a state directory, the newest first.
func Histories(dir string) ([]History, error) {
	entries, err := os.ReadDir(filepath.Join(dir, historyDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("look at what is kept of terminals: %w", err)
	}
	known := map[string]Terminal{}
	if m, err := Read(dir); err == nil {
		for _, t := range m.Terminals {
			known[historyName(t.URI)] = t
		}
	}
	var all []History
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(e.Name(), tempSuffix) {
			continue // it has just been removed, or is not ours
		}
		t := known[e.Name()]
		all = append(all, History{URI: t.URI, Title: t.Title, Called: t.Name, Name: e.Name(), Size: info.Size(), Saved: info.ModTime()})
	}
	slices.SortFunc(all, func(a, b History) int { return cmp.Or(b.Saved.Compare(a.Saved), strings.Compare(a.Name, b.Name)) })
	return all, nil
}

// ForgetHistory removes what is kept of one terminal, by its History's name.
func ForgetHistory(dir, name string) error {
	if err := os.Remove(filepath.Join(dir, historyDir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget what a terminal showed: %w", err)
	}
	return nil
}

// ForgetHistories removes what is kept of all terminals. It is no error if nothing is.
func ForgetHistories(dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, historyDir)); err != nil {
		return fmt.Errorf("forget what terminals showed: %w", err)
	}
	return nil
}

// readHistory gives what a terminal showed and a line below it that says when; ""
// when nothing is kept.
func readHistory(dir string, uri ahp.URI) (string, error) {
	path := filepath.Join(dir, historyDir, historyName(uri))
	info, err := os.Stat(path)
	var text []byte
	if err == nil {
		text, err = statefile.Read(path, maxHistory)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read what a terminal showed: %w", err)
	case len(text) == 0:
		return "", nil
	}
	shown := strings.TrimRight(strings.ToValidUTF8(string(text), ""), "\n")
	return shown + "\n" + info.ModTime().Local().Format("── until 2006-01-02 15:04 ──") + "\n", nil
}

// writeHistory puts a terminal's text into its file, whole or not at all, and
// removes the oldest files beyond limit bytes.
func writeHistory(dir string, uri ahp.URI, text string, limit int64) error {
	at := filepath.Join(dir, historyDir)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return fmt.Errorf("keep what a terminal shows: %w", err)
	}
	name := historyName(uri)
	if err := statefile.Write(filepath.Join(at, name), []byte(text)); err != nil {
		return fmt.Errorf("keep what a terminal shows: %w", err)
	}
	all, err := Histories(dir)
	if err != nil {
		return err
	}
	for _, h := range all {
		if limit -= h.Size; limit < 0 {
			err = errors.Join(err, ForgetHistory(dir, h.Name))
		}
	}
	return err
}

// keepOnly removes the files of terminals that are not in uris, and what a
// process that was killed had begun to write.
func keepOnly(dir string, uris map[ahp.URI]bool) error {
	entries, err := os.ReadDir(filepath.Join(dir, historyDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at what is kept of terminals: %w", err)
	}
	names := map[string]bool{}
	for uri := range uris {
		names[historyName(uri)] = true
	}
	var failed []error
	for _, e := range entries {
		if !names[e.Name()] {
			failed = append(failed, ForgetHistory(dir, e.Name()))
		}
	}
	return errors.Join(failed...)
}
