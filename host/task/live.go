package task

// live is a task that is not at rest: what its runner knows.
type live struct{}

// sink gets what the host says.
type sink struct{}
