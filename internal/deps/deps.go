// Package deps pins the modules while packages are being written; it goes away.
package deps

import (
	_ "charm.land/bubbles/v2/textinput"
	_ "charm.land/bubbletea/v2"
	_ "charm.land/fang/v2"
	_ "charm.land/lipgloss/v2"
	_ "github.com/adrg/xdg"
	_ "github.com/charmbracelet/ultraviolet"
	_ "github.com/charmbracelet/ultraviolet/screen"
	_ "github.com/charmbracelet/x/ansi"
	_ "github.com/charmbracelet/x/term"
	_ "github.com/clipperhouse/displaywidth"
	_ "github.com/clipperhouse/uax29/v2/graphemes"
	_ "github.com/coder/websocket"
	_ "github.com/creack/pty"
	_ "github.com/fsnotify/fsnotify"
	_ "github.com/hinshun/vt10x"
	_ "github.com/pelletier/go-toml/v2"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/txtar"
)
