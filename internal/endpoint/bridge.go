package endpoint

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"tandemux/internal/local"
)

// FindRuntimeDir sets XDG_RUNTIME_DIR where the login that ssh made did not, so
// that it is the same as in the user's other sessions.
func FindRuntimeDir() {
	if os.Getenv("XDG_RUNTIME_DIR") != "" {
		return
	}
	dir := "/run/user/" + strconv.Itoa(os.Getuid())
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		os.Setenv("XDG_RUNTIME_DIR", dir)
	}
}

// Bridge carries bytes between a client on in and out, and this user's host,
// starting the latter when none runs. It ends when either side does.
func Bridge(ctx context.Context, d local.Dirs, in io.Reader, out io.Writer) error {
	if err := d.Check(); err != nil {
		return err
	}
	c, err := d.Reach(ctx)
	if err != nil {
		return fmt.Errorf("connect to the host: %w", err)
	}
	defer c.Close()
	// On a line of its own, whatever was printed before us.
	if _, err := fmt.Fprintf(out, "\n%s %d %s\n", bridgeGreeting, bridgeVersion, Version); err != nil {
		return err
	}
	ended := make(chan error, 2)
	carry := func(to io.Writer, from io.Reader) {
		_, err := io.Copy(to, from)
		ended <- err
	}
	go carry(c, in)
	go carry(out, c)
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}
