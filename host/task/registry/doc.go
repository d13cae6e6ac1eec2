// Package registry has the rules about what tasks are made of: agents and their definitions, deploys,
// branches, versions, rollback and migration, environments with their variables, projects, API keys,
// and logs. Package store has the records, package access decides who may do what. Every exported
// method with a Principal checks its access.
//
// # Agents
//
// An agent is a Definition: tandemux-agent.toml with the files beside it, a table [agents.NAME] of the
// configuration, or a command line. Deploying it makes an immutable version, whose hash is that of the
// definition and its files. The files are stored read-only under DIR/versions/HASH, where its tasks
// run them. A branch points to one version. The branch main belongs to the environment production, all
// others to preview (U28). Agents of the configuration are deployed when they are first used, and
// again after their table changed.
//
// # Variables
//
// Variables belong to an agent and an environment. A version runs with the variables that were set
// when it was deployed, its snapshot. Later changes take effect with the next deploy, and a rollback
// brings the earlier values back (U31). Values of secrets leave this package only in Launch, for the
// child's environment. Masker removes them from what is logged.
//
// # Keys
//
// A key's secret has 256 random bits, is shown once, and is stored as SHA-256. Authenticate only reads
// memory. Revoking a key or changing its scopes changes the memory first and closes Ended, so that
// open streams end at once (U88).
//
// # Concurrency
//
// Every method may be called from any goroutine. Deploys with files and removals of files exclude each
// other.
//
// # What it doesn't do
//
// It starts nothing, and its only state beyond the store is the index of keys. Namespaces, replicas,
// image builds and groups do not exist (U33, U34, U91, U92, U94).
package registry
