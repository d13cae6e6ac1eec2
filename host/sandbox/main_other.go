//go:build !linux

package sandbox

import (
	"context"
	"fmt"
)

// Main returns false: there are no sandboxes on this system.
func Main([]string) (code int, ours bool) { return 0, false }

// Check returns an error: there are no sandboxes on this system.
func Check(context.Context, string) Support {
	return Support{Err: fmt.Errorf("%w: sandboxes need Linux and bubblewrap", ErrUnavailable)}
}
