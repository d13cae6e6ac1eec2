package resurrect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/client"
)

// compare is the file without its time.
func (m File) compare() []byte {
	text, _ := json.Marshal(m) // made of what came as JSON
	return text
}

// Restore makes the terminals and layouts of m at a host that has none of them. Terminals
// of other hosts are there.
// Shells are started again in their directories. The program that ran in a shell,
// or instead of one, is started only if again lists its name. The saved text of a
// terminal, if the state directory dir has it, is shown above; with dir "" it is
// not. A terminal that fails does not stop the others; the errors are joined.
func Restore(ctx context.Context, c *client.Client, m File, again []string, dir string) error {
	var failed []error
	made := map[ahp.URI]bool{}
	for _, t := range m.Terminals {
		before := ""
		if dir != "" {
			var err error
			if before, err = readHistory(dir, t.URI); err != nil {
				failed = append(failed, err)
			}
		}
		if err := t.restore(ctx, c, again, before); err != nil {
			failed = append(failed, fmt.Errorf("bring back %q: %w", cmp.Or(t.Name, t.Title), err))
			continue
		}
		made[t.URI] = true
	}
	for _, l := range m.Layouts {
		if !slices.ContainsFunc(l.Terminals, func(uri ahp.URI) bool { return made[uri] || hosted.Host(uri) != "" }) {
			continue
		}
		if err := c.Subscribe(ctx, l.URI); err != nil {
			failed = append(failed, err)
			continue
		}
		if _, err := c.DispatchWait(ctx, l.URI, ahp.LayoutChanged{Rev: 1, Doc: l.Doc, Terminals: l.Terminals}); err != nil {
			failed = append(failed, fmt.Errorf("bring back layout %s: %w", l.URI, err))
		}
	}
	return errors.Join(failed...)
}

func (t Terminal) restore(ctx context.Context, c *client.Client, again []string, before string) error {
	p := ahp.CreateTerminalParams{
		Channel: t.URI, Name: t.Name, Cwd: t.Cwd, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: c.ClientID()},
		Meta: &ahp.CreateMeta{Before: before},
	}
	if len(t.Command) > 0 && listed(t.Command[0], again) {
		p.Meta.Command = t.Command
	}
	err := c.Call(ctx, ahp.MethodCreateTerminal, p, nil)
	if err != nil && t.Cwd != "" { // the directory may be on a disk that is not there yet
		p.Cwd = ""
		err = c.Call(ctx, ahp.MethodCreateTerminal, p, nil)
	}
	if err != nil {
		return err
	}
	if word, _, _ := strings.Cut(strings.TrimSpace(t.Line), " "); t.Line != "" && listed(word, again) {
		// It is answered when the shell has shown its prompt: nobody waits for that.
		go c.Call(context.WithoutCancel(ctx), ahp.MethodRun, ahp.RunParams{Channel: t.URI, Line: t.Line}, nil) //nolint:errcheck // a shell that fails says so itself
	}
	return nil
}

// listed reports whether a program, by its path or name, is among names.
func listed(program string, names []string) bool {
	return slices.Contains(names, program) || slices.Contains(names, filepath.Base(program))
}
