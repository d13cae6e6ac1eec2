// Package access says who may do what with tasks and what they are made of:
// principals, roles, scopes, and one pure function each for a resource (May)
// and for a task, whose parents are asked both (MayTask, U82).
//
// A principal is the operator (the owner of the host, who may everything), an
// API key with its scopes, or a task: what runs inside of one and may read and
// report on that task alone. A scope gives a role on one agent, one project or,
// with the id "*", on all of a kind (U89); "*" is also what creating takes.
//
// What somebody may not even see doesn't exist for him: the decision is Hidden,
// answered with 404, so that ids can't be tried out. What he sees and may not do
// is Denied, answered with 403.
//
// Everything here is a value or a pure function and may be used from any
// goroutine. It knows nothing of keys' secrets, of storage or of HTTP. Roles of
// organizations and namespaces (U85, U90) are not built: one machine has one.
package access
