package local

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/adrg/xdg"

	"tandemux/internal/daemon"
)

// Dirs are the places of one user's tandemux.
type Dirs struct {
	daemon.Dirs
	Config string // config.toml, themes
}

// FindDirs follows the XDG base directories. Without XDG_RUNTIME_DIR the
// sockets live in a directory of this user's own below the temporary one.
func FindDirs() Dirs {
	xdg.Reload()
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if runtime == "" {
		runtime = filepath.Join(os.TempDir(), "tandemux-"+strconv.Itoa(os.Getuid()))
	} else {
		runtime = filepath.Join(runtime, "tandemux")
	}
	return Dirs{
		Dirs:   daemon.Dirs{Runtime: runtime, State: filepath.Join(xdg.StateHome, "tandemux")},
		Config: filepath.Join(xdg.ConfigHome, "tandemux"),
	}
}
