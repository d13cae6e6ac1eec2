// Package access decides who may do what with agents, projects and tasks: it has principals, roles,
// scopes, and pure functions for agents and projects (May) and for tasks, which depend on both
// (MayTask, U82).
//
// A principal is the operator (the owner of the host, who may do everything), an API key with its
// scopes, or a task: the programs inside of a task, which may read that task and report about it. A
// scope gives a role on one agent or project or, with the id "*", on all of a kind (U89). Creating one
// needs a scope on "*".
//
// What a principal may not see is Hidden, which is answered with 404, so that ids can't be guessed.
// What it may see but not do is Denied, which is answered with 403.
//
// Everything here is a value or a pure function and may be used from any goroutine. The package knows
// nothing of keys' secrets, of storage or of HTTP. Roles of organizations and namespaces (U85, U90) do
// not exist, because one machine has one of each.
package access
