package host

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cotty/ahp"
)

// auditBytes is the size at which the audit log is begun anew; one old file is
// kept.
const auditBytes = 4 << 20

// audit is the record of who did what to terminals and tokens, and who was
// refused: JSON lines in State/audit.log, 0600. It never holds contents, keys
// or secrets. Its methods may be called from any goroutine, also under h.mu:
// a line is one write to a local file.
type audit struct {
	log  *slog.Logger
	file *auditFile
	now  func() time.Time

	mu   sync.Mutex
	last refusal // the latest refusal; the same one is noted once a second
}

type refusal struct {
	from, what, channel, reason string
	at                          time.Time
}

func openAudit(dir string, now func() time.Time) (*audit, error) {
	f := &auditFile{path: filepath.Join(dir, "audit.log")}
	if err := f.open(); err != nil {
		return nil, err
	}
	return &audit{log: slog.New(slog.NewJSONHandler(f, nil)), file: f, now: now}, nil
}

// did notes something that was done; args are slog's.
func (a *audit) did(c *conn, what string, channel ahp.URI, args ...any) {
	a.log.Info(what, append(a.who(c, channel), args...)...)
}

// refused notes something that was not allowed.
func (a *audit) refused(c *conn, what string, channel ahp.URI, reason string) {
	r := refusal{from: c.principal.id, what: what, channel: channel, reason: reason}
	if c.client != nil {
		r.from = c.client.id
	}
	if a.isNew(r) {
		a.log.Warn(what, append(a.who(c, channel), "refused", reason)...)
	}
}

// turnedAway notes a request that did not become a connection.
func (a *audit) turnedAway(remote, reason string) {
	if a.isNew(refusal{what: "connect", reason: reason}) {
		a.log.Warn("connect", "remote", remote, "refused", reason)
	}
}

func (a *audit) isNew(r refusal) bool {
	r.at = a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.last
	recent := r.at.Sub(last.at) < time.Second
	last.at = r.at
	if recent && last == r {
		return false
	}
	a.last = r
	return true
}

func (a *audit) who(c *conn, channel ahp.URI) []any {
	who := []any{"principal", c.principal.id}
	if c.client != nil {
		who = append(who, "client", c.client.id)
	}
	if channel != "" {
		who = append(who, "channel", clip(channel))
	}
	return who
}

func clip(s string) string { return s[:min(len(s), maxURI)] }

func (a *audit) close() error { return a.file.Close() }

// auditFile is a file that starts again when it is full.
type auditFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

func (f *auditFile) open() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write implements io.Writer.
func (f *auditFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return 0, os.ErrClosed
	}
	if f.size+int64(len(line)) > auditBytes {
		f.file.Close()
		f.file = nil
		if err := os.Rename(f.path, f.path+".1"); err != nil {
			return 0, err
		}
		if err := f.open(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	return n, err
}

// Close implements io.Closer.
func (f *auditFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
