package keeper

import "errors"

// Errors that callers branch on. What Client returns wraps them and says more.
var (
	ErrNoDir         = errors.New("no such directory")
	ErrNoCommand     = errors.New("command not found")
	ErrNotExecutable = errors.New("not executable")
	ErrExists        = errors.New("id in use")
	ErrInvalid       = errors.New("invalid request")
	ErrUnknown       = errors.New("unknown id")
	ErrRunning       = errors.New("still running")
	ErrSuperseded    = errors.New("another host took over")
	ErrVersion       = errors.New("no common protocol version")
)
