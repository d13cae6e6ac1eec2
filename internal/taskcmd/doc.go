// Package taskcmd is the commands about tasks, the agents that are deployed for them,
// and their files: task, ws, deploy, versions, rollback, logs, env, keys, projects,
// init and what `tandemux agents` says of deployed agents. Each is a client of the
// host's HTTP interface (docs/tasks.md) and prints what that answers.
//
// What it needs of the host is in Host; how one is reached or started is the
// caller's. The package keeps no state; a command runs in one goroutine.
package taskcmd
