package sandbox

// Support is what this machine can do for a sandbox.
type Support struct {
	// Err, which wraps ErrUnavailable, says why there can be none and what to do; nil:
	// there can.
	Err error
	// Version is bubblewrap's.
	Version string
	// Missing are sentences about walls and bounds that this machine lacks.
	Missing []string
	// Cgroup says that limits are those of a cgroup, and not of each process.
	Cgroup bool
}
