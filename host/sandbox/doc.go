// Package sandbox confines processes with bubblewrap: it limits what a task's agent, its terminals and
// its hooks see of the machine and can do to it (U72–U81, docs/sandbox.md).
//
// # Contents
//
// A sandbox has its own file system: the system's programs and a part of /etc, read-only; /workspace;
// the task's folders in the home directory /root; the agent's code, read-only, at the same paths as
// outside; /tmp; and in /run/tandemux the host's program and the session's socket. It has its own
// namespaces for users, processes, IPC, the host name and cgroups; the network is shared or cut off.
// Of the environment it has only what is injected. It has no capabilities and can't get any, has no
// keyrings, can't type into terminals by ioctl, and, if the kernel has Landlock's scopes, can't reach
// abstract sockets of others or signal them.
//
// # How a process starts
//
//	keeper or host ─▶ tandemux (Main, outside) ─exec▶ bwrap ─▶ tandemux (Main, inside) ─exec▶ the command
//
// Wrap returns the command line of the first of these. The two calls of Main do what bubblewrap has no
// arguments for. The outer one joins the task's cgroup, restricts itself with Landlock, and passes
// bubblewrap's options by a descriptor, so that no value of the environment is in an argv. The
// command's variables have a prefix there, because some (LD_PRELOAD, for example) also affect what
// runs outside; the inner one removes it. The outer bwrap ignores the signals of terminals, so that
// they end the command and not the sandbox around it; the inner Main restores them.
//
// # Lifetime
//
// A sandbox ends with the process that started it: a terminal's with the keeper, so terminals outlive
// the host as all do; an agent's with the host. Everything that is left inside ends with the command.
//
// # Trust
//
// Whoever makes a Spec is trusted. What runs inside is not, and may write anything into shared
// directories. So no mount point is in a directory that is writable inside, unless it exists already
// and is no symbolic link; bubblewrap makes nothing there, because it follows links when it makes
// mount points.
//
// # Concurrency
//
// A Sandbox does not change; its methods may be called from any goroutine.
//
// # What it does not do
//
// It starts nothing, has no state, makes no directories but mount points, and knows no tasks. Whoever
// opens a file that Outside returns has to do so beneath the session's directories (agent.Roots).
package sandbox
