// Package annotations has the channels of sessions' annotations: comments on files, which
// people leave and the session's agent is given with the next message.
//
// Each session has one, which Open makes and Close forgets; it is journaled from its first
// annotation on. What clients dispatch is judged here: who may drive the session writes, on
// files that are there below the session's directories, within the bounds of this package.
// Control characters are taken out of comments.
//
// An entry that the agent was given says so in its _meta, "tandemux/given", with the turn.
// That is the host's: a client's is taken out, and an entry whose text a client changes is
// given again. A file that goes later leaves its annotations as they are: the agent is told
// that it is gone.
//
// All is guarded by core's lock, but Context, which looks at files.
package annotations
