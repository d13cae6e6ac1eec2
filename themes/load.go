package themes

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"tandemux/internal/spelling"
)

//go:embed *.toml
var files embed.FS

// shipped are the themes' names, the default one first.
var shipped = []string{
	"tandemux-dark", "tandemux-light",
	"catppuccin-dark", "catppuccin-light",
	"gruvbox-dark", "gruvbox-light",
	"nord-dark", "nord-light",
	"rose-pine-dark", "rose-pine-light",
	"solarized-dark", "solarized-light",
	"tokyo-night-dark", "tokyo-night-light",
	Terminal,
}

// embedded reads each of the themes that ship when it is first asked for.
var embedded = func() map[string]func() Theme {
	m := make(map[string]func() Theme, len(shipped))
	for _, name := range shipped {
		m[name] = sync.OnceValue(func() Theme {
			doc, err := files.ReadFile(name + ".toml")
			if err != nil {
				panic("themes: " + err.Error()) // A test reads them all.
			}
			t, err := read(doc, func(string, bool) (Theme, error) { return Theme{}, nil })
			if err != nil {
				panic("themes: " + name + ": " + err.Error())
			}
			return t
		})
	}
	return m
}()

// Find gives a theme that ships.
func Find(name string) (Theme, bool) {
	read, ok := embedded[name]
	if !ok {
		return Theme{}, false
	}
	return read(), true
}

const (
	maxDoc  = 64 << 10 // bytes of a user's theme
	maxName = 64       // bytes of its name
)

// Load reads a user's theme:
//
//	name = "mine"
//	base = "tandemux-light"   # what isn't said here; tandemux-dark when left out
//	dark = false           # meant for a dark background; the base's when left out
//
//	[colors]
//	border_focused = "#d33682"
//
// The error names every unknown key, with a suggestion, and every malformed
// colour, one per line.
func Load(doc []byte) (Theme, error) {
	if len(doc) > maxDoc {
		return Theme{}, fmt.Errorf("theme: the file has %d bytes, at most %d are read", len(doc), maxDoc)
	}
	t, err := read(doc, func(name string, given bool) (Theme, error) {
		if !given {
			name = shipped[0]
		}
		base, ok := Find(name)
		if !ok {
			return Theme{}, fmt.Errorf("base: there is no theme %q; there are %s", short(name), strings.Join(shipped, ", "))
		}
		base.Name = "user"
		return base, nil
	})
	if err != nil {
		return Theme{}, fmt.Errorf("theme: %w", err)
	}
	return t, nil
}

// keys are those of a theme's file.
var keys = []string{"name", "base", "dark", "colors"}

// read reads a theme over what base gives for the name in "base".
func read(doc []byte, base func(name string, given bool) (Theme, error)) (Theme, error) {
	var m map[string]any
	if err := toml.Unmarshal(doc, &m); err != nil {
		return Theme{}, positioned(err)
	}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(keys, key) {
			faults = append(faults, unknown(key, keys))
		}
	}
	name, given, err := member[string](m, "base")
	t, errBase := base(name, given)
	faults = append(faults, err, errBase)
	if dark, ok, err := member[bool](m, "dark"); ok || err != nil {
		t.Dark = dark
		faults = append(faults, err)
	}
	if name, ok, err := member[string](m, "name"); ok || err != nil {
		t.Name = name
		if len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			err = errors.New("name: it is too long or has control characters")
		}
		faults = append(faults, err)
	}
	colors, _, err := member[map[string]any](m, "colors")
	faults = append(faults, err)
	for _, key := range slices.Sorted(maps.Keys(colors)) {
		faults = append(faults, t.set(key, colors[key]))
	}
	if err := errors.Join(faults...); err != nil {
		return Theme{}, err
	}
	return t, nil
}

func (t *Theme) set(key string, value any) error {
	k := find(key)
	if k == nil {
		return fmt.Errorf("colors: %w", unknown(key, Tokens()))
	}
	s, ok := value.(string)
	if n, number := value.(int64); number {
		s, ok = fmt.Sprint(n), true
	}
	if !ok {
		return fmt.Errorf("colors: %s must be a text such as %q", key, "#7cc4ff")
	}
	c, err := ParseColor(s)
	if err != nil {
		return fmt.Errorf("colors: %s: %w", key, err)
	}
	*k.of(&t.Colors) = c
	return nil
}

// member gives a key's value; ok is false when it isn't there.
func member[T any](m map[string]any, key string) (v T, ok bool, err error) {
	raw, ok := m[key]
	if !ok {
		return v, false, nil
	}
	v, ok = raw.(T)
	if !ok {
		return v, false, fmt.Errorf("%s must be a %s", key, kindOf[T]())
	}
	return v, true, nil
}

// kindOf names a type as TOML does.
func kindOf[T any]() string {
	var v T
	switch any(v).(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	default:
		return "table"
	}
}

// positioned words a TOML error with its place.
func positioned(err error) error {
	if decode, is := errors.AsType[*toml.DecodeError](err); is {
		line, column := decode.Position()
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return err
}

// unknown says that a key is none of those known, and which one may be meant.
func unknown(key string, known []string) error {
	best := spelling.Closest(key, known)
	if best == "" {
		return fmt.Errorf("there is no key %q", short(key))
	}
	return fmt.Errorf("there is no key %q; did you mean %q?", key, best)
}
