package keeper

import (
	"context"
	"fmt"
	"os"
)

// Annotate replaces the note of a child: what a later host must know of it.
func (c *Client) Annotate(ctx context.Context, id string, note []byte) error {
	_, err := c.ask(ctx, request{Op: opAnnotate, ID: id, Note: note}, nil)
	return err
}

// Store leaves a file for the next host under a name of 1 to 1100 bytes, in
// place of an earlier one of that name. The keeper has its own descriptor
// afterwards; f stays the caller's. ErrFull when the keeper has no room. On
// Linux the file is one of memory, sealed against shrinking: whoever maps a
// file dies when it is cut short.
func (c *Client) Store(ctx context.Context, name string, f *os.File) error {
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
	a, err := c.ask(ctx, request{Op: opFetch, Name: name}, nil)
	if err != nil {
		return nil, err
	}
	if a.fd < 0 {
		return nil, fmt.Errorf("the keeper sent no descriptor for %q", name)
	}
	return os.NewFile(uintptr(a.fd), name), nil
}

// Files lists the stored files by name.
func (c *Client) Files(ctx context.Context) ([]FileInfo, error) {
	a, err := c.ask(ctx, request{Op: opFiles}, nil)
	return a.Files, err
}

// Discard drops a stored file; nil when there is none of that name.
func (c *Client) Discard(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opDiscard, Name: name}, nil)
	return err
}
