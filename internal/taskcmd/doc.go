// Package taskcmd is the commands about tasks, the agents that are deployed for them,
// and their files: task, ws, deploy, versions, rollback, logs, env, keys, projects,
// init and what `tandemux agent` says of deployed agents. Each is a client of the
// host's HTTP interface (docs/http.md) and prints what that answers.
//
// A command is a verb: its flags are the members of a struct that have the tag flag,
// often of the struct that the operation takes. Where it does nothing but an operation
// it is made of that alone (act, listing). Request, Call and List are for other
// clients, too.
//
// The package keeps no state; a command runs in one goroutine.
package taskcmd
