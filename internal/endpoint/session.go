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

// maxSessions bounds how many sessions are looked through.
const maxSessions = 10000

// Sessions are all of the host's, the last modified first.
func (s *Conn) Sessions(ctx context.Context) ([]ahp.SessionSummary, error) {
	var all []ahp.SessionSummary
	p := ahp.ListSessionsParams{Channel: ahp.RootURI}
	for len(all) < maxSessions {
		var page ahp.ListSessionsResult
		if err := s.Ask(ctx, ahp.MethodListSessions, p, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			break
		}
	}
	return all, nil
}

// SessionNamed finds the session that an id means: the URI, its last part, a
// unique prefix of that, or a title.
func (s *Conn) SessionNamed(ctx context.Context, id string) (ahp.SessionSummary, error) {
	all, err := s.Sessions(ctx)
	if err != nil {
		return ahp.SessionSummary{}, err
	}
	found := matching(
		all,
		func(o ahp.SessionSummary) bool { return o.Resource == id },
		func(o ahp.SessionSummary) bool { return LastPart(o.Resource) == id },
		func(o ahp.SessionSummary) bool {
			return id != "" && strings.HasPrefix(LastPart(o.Resource), id)
		},
		func(o ahp.SessionSummary) bool { return id != "" && o.Title == id },
	)
	switch len(found) {
	case 0:
	case 1:
		return found[0], nil
	default:
		return ahp.SessionSummary{}, fmt.Errorf("%q could be any of several sessions; give more of the id", id)
	}
	return ahp.SessionSummary{}, ahp.NotFound("no session matches %q; `tandemux session ls` lists them", id)
}

// UseAgent has the host make an agent available and gives its name there.
func (s *Conn) UseAgent(ctx context.Context, name string, command []string) (string, error) {
	if name == "" && len(command) == 0 {
		return "", nil // the host's first
	}
	var got ahp.AgentResult
	err := s.Ask(ctx, ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Provider: name, Command: command}, &got)
	return got.Provider, err
}

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
