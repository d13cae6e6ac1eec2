// Command tandemux is the terminal multiplexer: the TUI, the host, the keeper and
// the command line in one binary.
//
// It holds flags and wiring only, one file per command family. Every command
// that talks to the host is a plain AHP client (internal/endpoint); the TUI is one too
// (attach.go adapts internal/client to the interfaces that package ui
// declares). Exit codes: 0 done, 1 failed, 2 wrong usage (internal/cli).
package main
