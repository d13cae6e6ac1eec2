package engine

import (
	"tandemux/emulator"
	"tandemux/internal/config/option"
)

// Settings choose the engine and how much it keeps.
type Settings struct {
	Scrollback int // lines that terminals keep
	Emulator   string
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
			Doc: "Scrolled-off lines that each terminal keeps, within 32 MiB up to 65,536 lines and 512 bytes a line beyond.",
		},
		{
			Name: "emulator", Value: option.Default(&s.Emulator, Default), Choices: Names(), Needs: option.NewTerminal,
			Doc: "The terminal emulator. vt10x does much less; it is there to compare.",
		},
	}
}
