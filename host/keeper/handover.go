package keeper

import (
	"context"
	"fmt"
	"os"
)

// Version is what the two agreed on.
func (c *Client) Version() int { return c.version }

// needs refuses what the keeper's version does not have.
func (c *Client) needs(version int, what string) error {
	if c.version >= version {
		return nil
	}
	return because(ErrUnsupported, "%s: the keeper (pid %d) is of an earlier release and can't; its terminals go on, but the next host knows less of them. `tandemux stop`, which ends them, makes room for a new one", what, c.pid)
}

// Annotate replaces the note of a child: what a later host must know of it.
func (c *Client) Annotate(ctx context.Context, id string, note []byte) error {
	if err := c.needs(notesVersion, "annotate a child"); err != nil {
		return err
	}
	_, err := c.ask(ctx, request{Op: opAnnotate, ID: id, Note: note}, nil)
	return err
}

// Store leaves a file for the next host under a name of 1 to 1100 bytes, in
// place of an earlier one of that name. The keeper has its own descriptor
// afterwards; f stays the caller's. ErrFull when the keeper has no room. On
// Linux the file is one of memory, sealed against shrinking: whoever maps a
// file dies when it is cut short.
func (c *Client) Store(ctx context.Context, name string, f *os.File) error {
	if err := c.needs(notesVersion, "store a file"); err != nil {
		return err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("store %q: %w", name, err)
	}
	var aerr error
	if err := raw.Control(func(fd uintptr) {
		_, aerr = c.askWith(ctx, request{Op: opStore, Name: name, File: true}, int(fd), nil)
	}); err != nil {
		return fmt.Errorf("store %q: %w", name, err)
	}
	return aerr
}

// Fetch gives a stored file, or ErrUnknown. The keeper keeps its own.
func (c *Client) Fetch(ctx context.Context, name string) (*os.File, error) {
	if err := c.needs(notesVersion, "fetch a file"); err != nil {
		return nil, err
	}
	a, err := c.ask(ctx, request{Op: opFetch, Name: name}, nil)
	if err != nil {
		return nil, err
	}
	if a.fd < 0 {
		return nil, fmt.Errorf("the keeper sent no descriptor for %q", name)
	}
	return os.NewFile(uintptr(a.fd), name), nil
}

// Files lists the stored files by name. A keeper of an earlier release has
// none.
func (c *Client) Files(ctx context.Context) ([]FileInfo, error) {
	if c.version < notesVersion {
		return nil, nil
	}
	a, err := c.ask(ctx, request{Op: opFiles}, nil)
	return a.Files, err
}

// Discard drops a stored file; nil when there is none of that name.
func (c *Client) Discard(ctx context.Context, name string) error {
	if c.version < notesVersion {
		return nil
	}
	_, err := c.ask(ctx, request{Op: opDiscard, Name: name}, nil)
	return err
}
