// Package files serves files to clients: what lies below one of some root directories
// (docs/protocol.md, What is served). They are read, changed and watched.
//
// A file is opened beneath its root (os.Root), so that no symbolic link leads out of
// it, whatever happens to the links meanwhile. What lies outside is refused in the
// same words whether it is there or not. Nothing is granted on request, so no refusal
// says what to ask for. Who may ask is not the package's affair.
//
// What is written or copied gets its name when it is complete; until then it is called
// .tandemux-…, in the same directory, which is held open. A request that fails leaves no such
// file; a host that is killed may. The host's own directories are left alone. What may be
// large is counted before anything is changed.
//
// A Watcher has an inotify instance of its own (on macOS a kqueue), and tells at most ten
// times a second what has changed. Directories are named to the system by their paths: one
// that somebody makes a link in just that instant is noticed afterwards, and not watched on.
//
// A Server's methods may be called from any goroutine; a Watcher belongs to one.
package files
