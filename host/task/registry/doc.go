// Package registry holds the rules of what tasks are made of: agents and their
// definitions, deploys, branches, versions, rollback and migration, environments
// with their variables, projects, API keys, and logs without secrets. The records
// themselves are package store's, who may do what is package access's; here the
// two meet, and every exported method that takes a Principal asks.
//
// # Agents
//
// An agent is a Definition: tandemux-agent.toml with the files beside it, a table
// [agents.NAME] of the configuration, or a bare command. Registering one makes an
// immutable version, whose hash is that of the definition and its files; the files
// are kept read-only under DIR/versions/HASH, and that is what its tasks run. A
// branch points at one version; main is of the environment production, all others
// of preview (U28). Agents of the configuration are registered when they are first
// asked for, and again when their table changed.
//
// # Variables
//
// Variables belong to an agent and an environment. A version runs with those that
// there were when it was deployed, its snapshot, and never with others: what is
// set later waits for the next deploy, and a rollback brings the earlier values
// back (U31). Values that are secret leave this package in Launch alone, for the
// child's environment, and Masker takes them out of what is logged.
//
// # Keys
//
// Secrets of keys are 256 random bits, shown once, kept as SHA-256. Authenticate
// reads memory; revoking and changing scopes change that first, and close Ended,
// so that open streams end at once (U88).
//
// # Concurrency
//
// Every method may be called from any goroutine. Deploys that bring files and what
// removes files exclude each other.
//
// # What it doesn't do
//
// It starts nothing and holds no state that the store doesn't, but the keys'
// index. Namespaces, replicas, builds of images and groups are not built (U33, U34,
// U91, U92, U94).
package registry
