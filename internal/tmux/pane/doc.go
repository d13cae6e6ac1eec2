// Package pane has what programs in a terminal are told so that they take tandemux for
// tmux: the variables TMUX and TMUX_PANE, and the directory on PATH in which `tmux` is this
// program. Package internal/tmux answers what they then ask.
//
// A terminal's number is made from its URI alone, so that nobody keeps a table of them. It
// is pure but for Install, and may be used from any goroutine.
package pane
