package endpoint

import (
	"context"
	"crypto/rand"
	"encoding/json"
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

// Create makes a terminal. Its error has the exit code of a shell where there is no such
// command, or it can't be run.
func (s *Conn) Create(ctx context.Context, params ahp.CreateTerminalParams) error {
	err := s.Ask(ctx, ahp.MethodCreateTerminal, params, nil)
	if e := ahp.FromRPC(err); e != nil {
		data, _ := e.Data.(json.RawMessage)
		var why ahp.NotStarted
		if json.Unmarshal(data, &why) == nil && why.ExitCode > 0 {
			return cli.StatusError{Code: why.ExitCode, Err: err}
		}
	}
	return err
}

// NewTerminalURI makes an id that is short to type and unique among the
// terminals of a host; the host refuses a taken one.
func NewTerminalURI() ahp.URI {
	return ahp.TerminalScheme + "/" + strings.ToLower(rand.Text()[:8])
}
