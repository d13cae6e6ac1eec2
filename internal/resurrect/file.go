package resurrect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tandemux/ahp"
	"tandemux/internal/statefile"
)

// FileName is the file's name in the state directory.
const FileName = "layouts.json"

const (
	formatVersion = 1
	// maxFile bounds the file, in bytes, when it is written and read.
	maxFile = 8 << 20
	// maxLayouts and maxTerminals bound what is restored.
	maxLayouts   = 256
	maxTerminals = 512
)

// File is what the file holds.
type File struct {
	Version int       `json:"version"`
	Saved   time.Time `json:"saved"`
	Layouts []Layout  `json:"layouts"`
	// Terminals are those that layouts show, in the host's order.
	Terminals []Terminal `json:"terminals"`
}

// Layout is a layout's document, which this package does not look into.
type Layout struct {
	URI       ahp.URI         `json:"uri"`
	Doc       json.RawMessage `json:"doc"`
	Terminals []ahp.URI       `json:"terminals"`
}

// Terminal is what is needed to create a terminal again.
type Terminal struct {
	URI     ahp.URI  `json:"uri"`
	Name    string   `json:"name,omitempty"` // which somebody gave it
	Title   string   `json:"title,omitempty"`
	Cwd     ahp.URI  `json:"cwd,omitempty"`
	Command []string `json:"command,omitempty"` // argv of what was started, empty for a shell
	// Line is the command that ran in a shell, empty when it waited for one.
	Line string `json:"line,omitempty"`
}

// Read gives what was kept in a state directory; os.ErrNotExist when nothing was.
func Read(dir string) (File, error) {
	var m File
	path := filepath.Join(dir, FileName)
	if err := statefile.ReadJSON(path, maxFile, &m); err != nil {
		return File{}, err
	}
	if m.Version != formatVersion {
		return File{}, fmt.Errorf("read %s: it has version %d, and this program knows %d", path, m.Version, formatVersion)
	}
	if len(m.Layouts) > maxLayouts || len(m.Terminals) > maxTerminals {
		return File{}, fmt.Errorf("read %s: it has more than %d layouts or %d terminals", path, maxLayouts, maxTerminals)
	}
	return m, nil
}

// write puts the file into a directory, whole or not at all.
func (m File) write(dir string) error {
	text, err := json.Marshal(m)
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("they take more than %d bytes", maxFile)
	}
	if err == nil {
		err = statefile.Write(filepath.Join(dir, FileName), text)
	}
	if err != nil {
		return fmt.Errorf("keep the layouts: %w", err)
	}
	return nil
}

// Forget removes what was kept. It is no error if nothing was.
func Forget(dir string) error {
	left, _ := filepath.Glob(filepath.Join(dir, FileName+".*")) // of a process that was killed
	for _, path := range append(left, filepath.Join(dir, FileName)) {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("forget the layouts: %w", err)
		}
	}
	return nil
}
