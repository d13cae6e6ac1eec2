// Package medium reads the pictures that programs name instead of sending: kitty's
// graphics commands with t=f (a file), t=t (a temporary one, which goes) and t=s (shared
// memory). Who looks on from elsewhere has none of these, so a command becomes one that
// has the data in it (t=d), for viewers and for the host's emulator alike, at its place in
// the output: the host's state never depends on a file that is gone later.
//
// What is read could be read by the program itself: the one in the foreground is of the
// host's user and sees the same files (its mount namespace and root); who makes a Reader
// leaves it out where the terminal is in a sandbox. Only regular files are opened, never
// beneath /proc, /sys or /dev but for /dev/shm; a file that is not temporary must be a
// PNG, so that a program far away, which ssh shows here, gets nothing else onto a screen.
// Only what was read whole is removed, and only what the protocol says: shared memory,
// and files in a directory for temporary ones whose name says that they are for this.
//
// A Reader is guarded by the lock of its terminal's screen. A read that takes too long,
// from a file system that hangs, is given up; few may hang at a time.
package medium
