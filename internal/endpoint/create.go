package endpoint

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

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

// CompleteTerminal offers ids with titles, and names, to the shell.
func CompleteTerminal(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	if len(args) == 0 {
		// Completion has nowhere to report an error to.
		_ = WithHost(cmd, Options{}, func(_ context.Context, s *Conn) error {
			for _, t := range s.Terminals() {
				ids = append(ids, LastPart(t.Resource)+"\t"+cli.Short(t.Title))
				if name := NameOf(t); name != "" {
					ids = append(ids, name+"\t"+LastPart(t.Resource)+", "+cli.Short(TitleOf(t)))
				}
			}
			return nil
		})
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
