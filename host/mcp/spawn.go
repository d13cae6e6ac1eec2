package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"tandemux/ahp"
	"tandemux/host/guard"
	"tandemux/host/pool"
	"tandemux/internal/fileuri"
)

type spawnInput struct {
	program
	Cwd   string `json:"cwd,omitempty" jsonschema:"absolute path of the directory to start in"`
	Title string `json:"title,omitempty" jsonschema:"the terminal's name, which the person reads at the pane and which does for its id; a number is put behind one that another terminal has"`
}

// spawnTerminal is T9. What must not be started, and how much at once, the host
// says (T10–T16).
func spawnTerminal(ctx context.Context, c call, in spawnInput) (terminal, error) {
	argv, err := in.argv()
	if err != nil {
		return terminal{}, err
	}
	uri, err := c.create(ctx, c.host.Claim(), in.Title, in.Cwd, ahp.CreateMeta{Command: argv})
	if err != nil {
		return terminal{}, err
	}
	if ctx.Err() != nil {
		c.tidy(func(ctx context.Context) { c.dispose(ctx, uri) })
	}
	return c.created(ctx, uri)
}

// create starts a terminal with a claim of the agent's.
func (c call) create(ctx context.Context, claim ahp.Claim, title, dir string, meta ahp.CreateMeta) (ahp.URI, error) {
	dir = cmp.Or(dir, c.o.Dir)
	p := ahp.CreateTerminalParams{
		Channel: c.o.NewURI(), Claim: claim, Name: title, Cols: 120, Rows: 40, Meta: &meta,
	}
	if dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("cwd %q is not an absolute path", clip(dir))
		}
		p.Cwd = fileuri.Of(dir)
	}
	err := c.permitted(ctx, "", guard.Text(meta.Command, ""), func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The answer is waited for also when the call is cancelled: the terminal may be there,
		// and whoever asked for it has to end it.
		return c.request(context.WithoutCancel(ctx), ahp.MethodCreateTerminal, p, nil)
	})
	return p.Channel, err
}

// created describes a terminal that was just made; it may have ended already.
func (c call) created(ctx context.Context, uri ahp.URI) (terminal, error) {
	t, err := c.find(ctx, uri)
	switch {
	case err != nil:
		return terminal{}, err
	case t == nil:
		return terminal{}, fmt.Errorf("the terminal %s was started and is gone already", pool.ID(uri))
	}
	return c.describe(t), nil
}

type killOutput struct {
	Terminated bool   `json:"terminated"`
	ID         string `json:"id"`
}

// errKeep is T21, to the letter.
//
//lint:ignore ST1005 the document's text
var errKeep = errors.New("Cannot kill visible or user-owned terminals")

// killTerminal is T19 to T24. What another agent holds is not this one's to
// kill either. The host decides, and notes what it refuses.
func killTerminal(ctx context.Context, c call, in terminalInput) (killOutput, error) {
	t, err := c.find(ctx, in.TerminalID)
	switch {
	case err != nil:
		return killOutput{}, err
	case t == nil:
		return killOutput{true, in.TerminalID}, nil // T22
	}
	err = c.request(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: t.Resource}, nil)
	switch ahp.CodeOf(err) {
	case ahp.CodeNotFound: // ended meanwhile
		err = nil
	case ahp.CodePermissionDenied: // changed hands meanwhile
		err = errKeep
	}
	return killOutput{err == nil, in.TerminalID}, err
}
