// Package files serves files to clients, for reading only: what lies below one of
// some root directories (docs/protocol.md, What is served). Clients browse them to
// pick a directory for a terminal.
//
// A file is opened beneath its root (os.Root), so that no symbolic link leads out of
// it, whatever happens to the links meanwhile. What lies outside is refused in the
// same words whether it is there or not. Nothing is granted on request, so no refusal
// says what to ask for. Who may ask is not the package's affair.
//
// A Server never changes; its methods may be called from any goroutine.
package files
