package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"tandemux/internal/config/option"
	"tandemux/internal/statefile"
	"tandemux/themes"
)

// Names below the configuration's directory.
const (
	FileName  = "config.toml"
	ThemesDir = "themes" // holds NAME.toml
)

const (
	maxFile   = 1 << 20 // bytes of config.toml
	maxTheme  = 64 << 10
	maxThemes = 200
)

// Load reads the file at path, mostly config.toml, and the themes in a directory;
// neither needs to be there. options are made for the themes. Faults of themes that
// are not chosen are warnings.
func Load(path, dir string, options func([]themes.Theme) []option.Option) []Problem {
	user, problems := LoadThemes(filepath.Join(dir, ThemesDir))
	into := options(user)
	doc, err := readFile(path, maxFile)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) && path == filepath.Join(dir, FileName) {
			return problems
		}
		return append(problems, Problem{File: path, Text: err.Error()})
	}
	faults := Read(doc, into)
	for i := range faults {
		faults[i].File = path
	}
	return append(faults, problems...)
}

// themeName is what a theme's file may be called, so that its name can stand in
// a choice of themes.
var themeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$`) })

// LoadThemes reads the user's themes, which are called what their files are.
// Those that can't be read are left out and reported as warnings, as are
// contrasts that are hard to read.
func LoadThemes(dir string) ([]themes.Theme, []Problem) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Problem{{File: dir, Text: err.Error(), Warn: true}}
	}
	var user []themes.Theme
	var problems []Problem
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".toml")
		if !is {
			continue
		}
		path := filepath.Join(dir, e.Name())
		warn := func(line int, text string) {
			problems = append(problems, Problem{File: path, Line: line, Text: text, Warn: true})
		}
		switch {
		case len(user) == maxThemes:
			warn(0, fmt.Sprintf("at most %d themes are read; this one and those after it are left out", maxThemes))
			return user, problems
		case !themeName().MatchString(name) || name == themes.Auto:
			warn(0, "a theme's name has letters, digits, dots, dashes and underscores only, and isn't auto")
			continue
		}
		doc, err := readFile(path, maxTheme)
		if err != nil {
			warn(0, err.Error())
			continue
		}
		t, err := themes.Load(doc)
		if err != nil {
			at := lines(doc)
			for _, line := range strings.Split(err.Error(), "\n") {
				warn(lineOf(line, at), strings.TrimPrefix(line, "theme: "))
			}
			continue
		}
		t.Name = name
		for _, fault := range t.Faults() {
			warn(0, "hard to read: "+fault)
		}
		user = append(user, t)
	}
	return user, problems
}

// lineOf finds the line that a fault of a theme is about: one that it names, or that of
// a key; 0 when it names none.
func lineOf(text string, at map[string]int) (line int) {
	text = strings.TrimPrefix(text, "theme: ")
	if n, _ := fmt.Sscanf(text, "line %d", &line); n > 0 {
		return line
	}
	keys := append(strings.Split(text, `"`), strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ':' })...)
	for _, table := range [...]string{place("colors", ""), ""} {
		for _, key := range keys {
			if line = at[table+key]; line > 0 {
				return line
			}
		}
	}
	return 0
}

// readFile reads a file of at most so many bytes. The error doesn't name it.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe must not hold us
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, bare(err)
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	if err := statefile.Secure(path); err != nil {
		return nil, err
	}
	doc, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, bare(err)
	}
	if int64(len(doc)) > most {
		return nil, fmt.Errorf("it is longer than the %d bytes that are read", most)
	}
	return doc, nil
}

// bare takes the path off an error.
func bare(err error) error {
	if p, is := errors.AsType[*os.PathError](err); is {
		return fmt.Errorf("%s it: %w", p.Op, p.Err)
	}
	return err
}
