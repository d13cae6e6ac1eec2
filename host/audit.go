package host

import (
	"log/slog"
	"math/bits"
	"net"
	"path/filepath"
	"sync"
	"time"

	"tandemux/ahp"
)

// Bounds of the audit log. What is done is noted always; refusals, which anybody
// can cause, only refusalBurst at once and one each refusalEvery after that, so
// that they cannot push out what is worth keeping.
const (
	auditBytes   = 4 << 20 // a file's; one old file is kept
	refusalBurst = 100
	refusalEvery = 10 * time.Second
	// connectEvery is how often a token that connects from the same address is
	// noted, and maxConnects how many are remembered for that.
	connectEvery = time.Hour
	maxConnects  = 1024
	maxReason    = 512
)

// audit is the record of who did what to terminals and tokens, and who was
// refused: JSON lines in State/audit.log, 0600. It never holds contents, keys
// or secrets, and nothing in it but letters, digits and the like: control
// characters are escaped. Its methods may be called from any goroutine, also
// under h.mu: a line is one write to a local file.
type audit struct {
	log  *slog.Logger
	file *auditFile
	now  func() time.Time

	mu         sync.Mutex
	last       refusal   // the latest refusal; the same one is noted once a second
	credit     float64   // refusals that may be noted
	credited   time.Time // when credit was right
	suppressed int       // refusals not noted since the last that was
	connects   map[[2]string]time.Time
}

type refusal struct {
	from, what, channel, reason string
	at                          time.Time
}

func openAudit(dir string, now func() time.Time) (*audit, error) {
	f := &auditFile{path: filepath.Join(dir, "audit.log"), most: auditBytes}
	err := f.open()
	if err != nil && !Unwritable(err) {
		return nil, err
	}
	return &audit{
		log: slog.New(slog.NewJSONHandler(f, nil)), file: f, now: now,
		credit: refusalBurst, credited: now(), connects: map[[2]string]time.Time{},
	}, err
}

// note writes down what happened without a client asking; args are slog's.
func (a *audit) note(what string, args ...any) { a.log.Info(what, args...) }

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
	a.refusal(r, append(a.who(c, channel), "refused", cut(reason, maxReason))...)
}

// turnedAway notes a request that did not become a connection.
func (a *audit) turnedAway(remote, reason string) {
	a.refusal(refusal{what: "connect", reason: reason}, "remote", remote, "refused", reason)
}

// failed notes an attempt without a valid token: of the failures of one address
// the first, the second, the fourth, the eighth, and so on.
func (a *audit) failed(remote, reason string, count int) {
	if bits.OnesCount(uint(count)) == 1 {
		a.refusal(refusal{from: remote, what: "login", reason: reason}, "remote", remote, "refused", cut(reason, maxReason), "failures", count)
	}
}

// connected notes that a token was used, seldom when it is used often.
func (a *audit) connected(p *principal, remote string) {
	if p.token == "" {
		return
	}
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	key, now := [2]string{p.id, host}, a.now()
	a.mu.Lock()
	last, known := a.connects[key]
	recent := known && now.Sub(last) < connectEvery
	if !recent {
		if len(a.connects) >= maxConnects {
			clear(a.connects)
		}
		a.connects[key] = now
	}
	a.mu.Unlock()
	if !recent {
		a.log.Info("connect", "principal", p.id, "remote", remote)
	}
}

// refusal notes r unless it was noted just now or there are too many.
func (a *audit) refusal(r refusal, args ...any) {
	r.at = a.now()
	a.mu.Lock()
	last := a.last
	repeated := r.at.Sub(last.at) < time.Second
	last.at = r.at
	repeated = repeated && last == r
	a.credit = min(refusalBurst, a.credit+float64(r.at.Sub(a.credited))/float64(refusalEvery))
	a.credited = r.at
	if repeated || a.credit < 1 {
		a.suppressed++
		a.mu.Unlock()
		return
	}
	a.credit--
	a.last = r
	if a.suppressed > 0 {
		args = append(args, "suppressed before", a.suppressed)
		a.suppressed = 0
	}
	a.mu.Unlock()
	a.log.Warn(r.what, args...)
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

func clip(s string) string { return cut(s, maxURI) }

func cut(s string, most int) string { return s[:min(len(s), most)] }

func (a *audit) close() error { return a.file.Close() }
