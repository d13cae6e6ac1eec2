// Package tmux answers, as `tmux` on a pane's PATH, the commands by which agents put their
// teammates into panes: split-window, send-keys, capture-pane and the like. Sessions are
// layouts, windows tabs, panes panes; a terminal's number follows from its URI (package
// pane), so nothing is kept between two commands.
//
// Two connections are behind it. The person's changes layouts, as `tandemux do` does, and
// never moves the focus, the active tab or the zoom. The other one is of the agent that
// leads: it creates, types into and ends terminals that are claimed by the agent's session,
// and no others. Of the person's panes only the sizes and the order change, in tabs where
// the agent or a teammate is.
//
// parse.go, world.go and format.go are values in, values out. What is not known — a
// command, a flag, a format, an option — fails and says so; a command line that is for
// another tmux is left to that (Elsewhere). It is no server and no client of tmux's
// protocol, knows no configuration file, no key tables, no copy mode, no buffers but the
// clipboard.
package tmux
