package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
)

// Default is the engine of an empty name.
const Default = "native"

var engines = map[string]func(emulator.Options) emulator.Emulator{
	"native": native.New,
	"vt10x":  vt10x.New,
}

// New makes an emulator of the named engine; an empty name is Default.
func New(name string, o emulator.Options) (emulator.Emulator, error) {
	name = cmp.Or(name, Default)
	create, ok := engines[name]
	if !ok {
		return nil, fmt.Errorf("make emulator: no engine is named %q: use one of %s", name, strings.Join(Names(), ", "))
	}
	return create(o), nil
}

// Names gives the engines' names, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(engines))
}
