// Package sandbox shuts processes in with bubblewrap: what a task's agent, its
// terminals and its hooks see of the machine, and what they can do to it
// (U72–U81, docs/sandbox.md).
//
// # What is inside
//
// A file system of its own: the system's programs and a part of /etc, read-only;
// /workspace; the task's folders in the home directory /root; the agent's code,
// read-only, at the paths that it has outside; /tmp; and by /run/tandemux the host's
// program and the session's own socket. Namespaces of its own for users, processes,
// IPC, the host's name and cgroups; the network is shared or cut. Nothing of the
// environment but what is injected. No capability, no new ones, no keyrings, no
// typing into terminals by ioctl, and where the kernel has Landlock's scopes no
// abstract sockets of others and no signals to them.
//
// # How a process starts
//
//	keeper or host ─▶ tandemux (Main, outside) ─exec▶ bwrap ─▶ tandemux (Main, inside) ─exec▶ the command
//
// Wrap gives the first of these. Between them they can do what bubblewrap can't be
// told by arguments: the outer one joins the task's cgroup, restricts itself by
// Landlock, and hands bubblewrap its options by a descriptor, so that no value of
// the environment is in an argv. What the environment has for the command is behind
// a mark there (LD_PRELOAD, say, is obeyed by what runs outside as well), and comes
// to itself inside. The outer bwrap ignores the signals of terminals, so that they end
// the command in its own time and not the sandbox around it; the inner one sets them
// back.
//
// # Who dies with whom
//
// A sandbox dies with the process that started it: a terminal's with the keeper, so
// that terminals outlive the host as all do; an agent's with the host. All that is
// left inside ends with the command.
//
// # Trust
//
// Whoever makes a Spec is trusted; what runs inside is not, and writes into shared
// directories as it likes. So no mount point lies in a directory that is writable
// inside, unless it is there already and is no symbolic link; nothing is made there
// by bubblewrap, which follows links when it makes mount points.
//
// # Concurrency
//
// A Sandbox does not change; its methods may be called from any goroutine.
//
// # What it does not do
//
// It starts nothing, keeps no state, makes no directories but mount points, and
// knows no tasks. Whether a file may be opened that Outside names is the opener's
// to see to, beneath the session's directories (agent.Roots).
package sandbox
