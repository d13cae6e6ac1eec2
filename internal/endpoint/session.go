package endpoint

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/palette"
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
		var ids []string
		for _, s := range found[:min(len(found), 5)] {
			ids = append(ids, LastPart(s.Resource))
		}
		return ahp.SessionSummary{}, fmt.Errorf("%q could be any of %d sessions, such as %s: give one's id", id, len(found), strings.Join(ids, ", "))
	}
	return ahp.SessionSummary{}, ahp.NotFound("no session matches %q; `tandemux session ls` lists them. A task that is over has none: `tandemux task show` says how it ended", id)
}

// UseAgent has the host make an agent available and gives its name there; neither name nor
// command is the first that it has.
func (s *Conn) UseAgent(ctx context.Context, name string, command []string) (string, error) {
	var got ahp.AgentResult
	err := s.Ask(ctx, ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Provider: name, Command: command}, &got)
	if name == "" && len(command) == 0 && ahp.CodeOf(err) == ahp.CodeInvalidParams {
		return "", nil // an older host, which takes its first
	}
	return got.Provider, err
}

// NewTerminal checks what the caller said before the host is bothered.
func NewTerminal(name, cwd, size string, argv []string) (ahp.CreateTerminalParams, error) {
	var p ahp.CreateTerminalParams
	dir, err := filepath.Abs(cwd)
	if errors.Is(err, fs.ErrNotExist) {
		return p, errors.New("the directory that this runs in was removed: cd to another, or name one by --cwd")
	}
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

// clientPrefix begins the ids of our clients, and KindInterface is that of interfaces in a
// terminal.
const (
	clientPrefix  = "tandemux-"
	KindInterface = "tui"
)

// Interface is one of this person's.
type Interface struct{ palette.Client }

// Interfaces are this person's in terminals, by layout.
func (s *Conn) Interfaces(ctx context.Context) (own []Interface, err error) {
	var all palette.Clients
	if err := s.Ask(ctx, palette.MethodClients, ahp.SubscribeParams{Channel: ahp.RootURI}, &all); err != nil {
		return nil, err
	}
	for _, one := range all.Items {
		if strings.HasPrefix(one.ClientID, clientPrefix+KindInterface+"-") {
			own = append(own, Interface{one})
		}
	}
	return own, nil
}

// Name is its id as people give it.
func (i Interface) Name() string { return strings.TrimPrefix(i.ClientID, clientPrefix) }

// On is the name of the layout that it shows.
func (i Interface) On() string { return LastPart(i.Layout) }

// ChooseInterface finds the one that is meant: by its id or how that begins, with or without
// "tui-"; for no id the only one that shows a layout, or for no layout the only one.
func ChooseInterface(all []Interface, id, layout string) (Interface, error) {
	var fits []Interface
	for _, one := range all {
		_, short, _ := strings.Cut(one.Name(), "-")
		switch {
		case id == "" && layout != "" && one.On() != layout:
		case id == "", strings.HasPrefix(one.Name(), id), strings.HasPrefix(short, id), one.ClientID == id:
			fits = append(fits, one)
		}
	}
	if len(fits) == 1 {
		return fits[0], nil
	}
	var there []string
	for _, one := range all {
		there = append(there, one.Name()+" shows "+one.On())
	}
	what := "you have no interface open"
	switch {
	case len(all) == 0:
		return Interface{}, fmt.Errorf("%s", what)
	case len(fits) > 0:
		what = "there are several interfaces"
	case id != "":
		what = fmt.Sprintf("you have no interface %q", id)
	case layout != "":
		what = "none of your interfaces shows layout " + layout
	}
	return Interface{}, fmt.Errorf("%s; say which with --interface: %s", what, strings.Join(there, ", "))
}
