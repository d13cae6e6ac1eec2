package task

// Caller is who asks, as a front found out.
type Caller struct {
	// ID tells callers apart: "operator", "token:ID", "key:ID", "task:ID".
	ID string
	// Operator is set for the owner of the host, who may do everything.
	Operator bool
	// Scopes are those of a host's token; empty for keys.
	Scopes []string
	// Key is the id of an API key, empty for all others.
	Key string
}

// Service keeps the tasks of a host.
type Service struct{}
