package host

import (
	"encoding/json"
	"errors"
	"fmt"

	"cotty/ahp"
	"cotty/host/keeper"
	"cotty/host/terminal"
)

var (
	// ErrRunning is returned by Listen when another host of this user has the
	// runtime directory.
	ErrRunning = errors.New("another cotty host is running")

	errClosing = ahp.Internal("the host is stopping")
)

// spawnErrors maps what the keeper says to codes of the wire (ahp.md §7.4).
var spawnErrors = []struct {
	is   error
	code int
}{
	{keeper.ErrNoDir, ahp.CodeNotFound},
	{keeper.ErrNoCommand, ahp.CodeNotFound},
	{keeper.ErrNotExecutable, ahp.CodePermissionDenied},
	{keeper.ErrInvalid, ahp.CodeInvalidParams},
}

// inputRefusals are the reasons of Terminal.Input that are the client's to
// know; all other errors are ours.
var inputRefusals = []error{terminal.ErrInputFull, terminal.ErrExited, terminal.ErrClosed}

// decode reads a request's params; unknown members are ignored.
func decode(raw json.RawMessage, p any) error {
	if len(raw) == 0 {
		return ahp.InvalidParams("params: missing")
	}
	if err := json.Unmarshal(raw, p); err != nil {
		return ahp.InvalidParams("params: %v", err)
	}
	return nil
}

// because words a refusal.
func because(format string, args ...any) string { return fmt.Sprintf(format, args...) }
