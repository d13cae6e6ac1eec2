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
	"tandemux/internal/config/option"
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

// Renew makes an emulator of the same size as good as new, but for its title; false where its
// size is another. A new one would be 70 KiB of garbage.
func Renew(em emulator.Emulator, cols, rows int) bool {
	c, r := em.Size()
	if c != cols || r != rows {
		return false
	}
	em.Write([]byte("\x18\x1bc")) // what it may be in the middle of ends
	return true
}

// Names gives the engines' names, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(engines))
}

// Settings choose the engine and how much it keeps.
type Settings struct {
	Scrollback int // lines that terminals keep
	Emulator   string

	Checksums, Resize bool // what programs may
}

// Allow is what programs may.
func (s *Settings) Allow() (a emulator.Allowed) {
	if s.Checksums {
		a |= emulator.Checksums
	}
	if s.Resize {
		a |= emulator.Resizes
	}
	return a
}

// History is the scrollback as emulator.Options has it.
func (s *Settings) History() int {
	if s.Scrollback == 0 {
		return -1
	}
	return s.Scrollback
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{
		{
			Name: "scrollback", Value: option.Default(&s.Scrollback, emulator.DefaultHistory), Max: emulator.MaxHistory,
			Doc: "Scrolled-off lines that each terminal keeps. Of long ones it keeps fewer: all have 32 MiB, above 65,536 lines 512 bytes each.",
		},
		{
			Name: "emulator", Value: option.Default(&s.Emulator, Default), Choices: Names(), Needs: option.NewTerminal,
			Doc: "The terminal emulator. vt10x does much less; it is there to compare.",
		},
		{
			Name: "program-checksums", Value: &s.Checksums, Needs: option.NewTerminal,
			Doc: "Programs are told checksums of what their screen shows (DECRQCRA), by which they can read it. For tests of terminals.",
		},
		{
			Name: "program-resize", Value: &s.Resize, Needs: option.NewTerminal,
			Doc: "Programs may set their terminal's size (CSI 8 t, CSI 4 t, DECSLPP, DECSCPP, 132 columns in mode 40), until its pane gets another one.",
		},
	}
}
