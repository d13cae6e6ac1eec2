package host

import (
	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/host/terminal"
)

// spawnErrors maps what the keeper says to codes of the wire (AHP, Error Codes).
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
