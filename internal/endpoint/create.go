package endpoint

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/fileuri"
)

// NewTerminal checks what the caller said before the host is bothered.
func NewTerminal(name, cwd, size string, argv []string) (ahp.CreateTerminalParams, error) {
	var p ahp.CreateTerminalParams
	dir, err := filepath.Abs(cwd)
	if err != nil {
		return p, fmt.Errorf("find the working directory: %w", err)
	}
	if size != "" {
		if p.Cols, p.Rows, err = cli.Size(size); err != nil {
			return p, err
		}
	}
	p.Channel = NewTerminalURI()
	p.Name, p.Cwd = name, fileuri.Of(dir)
	p.Meta = &ahp.CreateMeta{Name: name, Command: argv, Env: ChildEnv(os.Environ())}
	return p, nil
}

// NewTerminalURI makes an id that is short to type and unique among the
// terminals of a host; the host refuses a taken one.
func NewTerminalURI() ahp.URI {
	return ahp.TerminalScheme + "/" + strings.ToLower(rand.Text()[:8])
}
