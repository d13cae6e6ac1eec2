package audit

import (
	"log/slog"
	"math/bits"
	"net"
	"path/filepath"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/internal/statefile"

	"golang.org/x/time/rate"
)

// Bounds of the audit log. What is done is noted always; refusals, which anybody
// can cause, only refusalBurst at once and one each refusalEvery after that, so
// that they cannot push out what is worth keeping.
const (
	maxBytes     = 4 << 20 // a file's; one old file is kept
	refusalBurst = 100
	refusalEvery = 10 * time.Second
	// connectEvery is how often a token that connects from the same address is
	// noted, and maxConnects how many are remembered for that.
	connectEvery = time.Hour
	maxConnects  = 1024
	maxReason    = 512  // bytes
	maxDetail    = 1024 // bytes of a channel or a command
)

// Log is the record of who did what to terminals and tokens, and who was
// refused: JSON lines in State/audit.log, 0600. It never holds contents, keys
// or secrets, and nothing in it but letters, digits and the like: control
// characters are escaped. Its methods may be called from any goroutine, also
// under other locks: a line is one write to a local file.
type Log struct {
	log  *slog.Logger
	file *file
	now  func() time.Time

	mu         sync.Mutex
	last       refusal       // the latest refusal; the same one is noted once a second
	credit     *rate.Limiter // refusals that may be noted
	suppressed int           // refusals not noted since the last that was
	connects   map[[2]string]time.Time
}

type refusal struct {
	from, what, channel, reason string
	at                          time.Time
}

// Open opens audit.log in a state directory. The Log can be used also when the error is
// that the directory takes nothing (statefile.Unwritable): its lines are lost until
// Probe succeeds. Any other error comes without a Log.
func Open(dir string, now func() time.Time) (*Log, error) {
	f := &file{path: filepath.Join(dir, "audit.log"), most: maxBytes}
	err := f.open()
	if err != nil && !statefile.Unwritable(err) {
		return nil, err
	}
	return &Log{
		log: slog.New(slog.NewJSONHandler(f, nil)), file: f, now: now,
		credit: rate.NewLimiter(rate.Every(refusalEvery), refusalBurst), connects: map[[2]string]time.Time{},
	}, err
}

// Note writes down what happened without a client asking; args are slog's.
func (a *Log) Note(what string, args ...any) { a.log.Info(what, args...) }

// Did notes something that was done; args are slog's.
func (a *Log) Did(who By, what string, channel ahp.URI, args ...any) {
	a.log.Info(what, append(who.args(channel), args...)...)
}

// Refused notes something that was not allowed.
func (a *Log) Refused(who By, what string, channel ahp.URI, reason string) {
	from := who.Principal
	if who.Client != "" {
		from = who.Client
	}
	a.refusal(refusal{from: from, what: what, channel: channel, reason: reason}, append(who.args(channel), "refused", cut(reason, maxReason))...)
}

// RefusedAgent notes what the agent of a chat was not allowed; kind says what it
// wanted to do and what is what it wanted to do it with.
func (a *Log) RefusedAgent(chat, session ahp.URI, kind, what, reason string) {
	a.refusal(refusal{from: chat, what: kind, reason: reason},
		"session", session, kind, cut(what, maxDetail), "refused", cut(reason, maxReason))
}

// TurnedAway notes a request that did not become a connection.
func (a *Log) TurnedAway(remote, reason string) {
	a.refusal(refusal{what: "connect", reason: reason}, "remote", remote, "refused", reason)
}

// Failed notes an attempt without a valid token: of the failures of one address
// the first, the second, the fourth, the eighth, and so on.
func (a *Log) Failed(remote, reason string, count int) {
	if bits.OnesCount(uint(count)) == 1 {
		a.refusal(refusal{from: remote, what: "login", reason: reason}, "remote", remote, "refused", cut(reason, maxReason), "failures", count)
	}
}

// Connected notes that a principal with a token has connected, seldom when it
// connects often.
func (a *Log) Connected(principal, remote string) {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	key, now := [2]string{principal, host}, a.now()
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
		a.log.Info("connect", "principal", principal, "remote", remote)
	}
}

// refusal notes r unless it was noted just now or there are too many.
func (a *Log) refusal(r refusal, args ...any) {
	r.at = a.now()
	a.mu.Lock()
	last := a.last
	repeated := r.at.Sub(last.at) < time.Second
	last.at = r.at
	repeated = repeated && last == r
	if repeated || !a.credit.AllowN(r.at, 1) {
		a.suppressed++
		a.mu.Unlock()
		return
	}
	a.last = r
	if a.suppressed > 0 {
		args = append(args, "suppressed before", a.suppressed)
		a.suppressed = 0
	}
	a.mu.Unlock()
	a.log.Warn(r.what, args...)
}

// By says who did it.
type By struct {
	Principal, Client string // client is the clientId, empty before initialize
	Person            string // who a hub says it is, empty for all others
}

func (b By) args(channel ahp.URI) []any {
	args := []any{"principal", b.Principal}
	if b.Client != "" {
		args = append(args, "client", b.Client)
	}
	if b.Person != "" {
		args = append(args, "person", b.Person)
	}
	if channel != "" {
		args = append(args, "channel", cut(channel, maxDetail))
	}
	return args
}

func cut(s string, most int) string { return s[:min(len(s), most)] }

// Probe reports whether there is room for lines again.
func (a *Log) Probe() error { return a.file.probe() }

// OnFailure has f called, in a goroutine of its own, when lines are lost because
// they cannot be written. It is set before anything is noted.
func (a *Log) OnFailure(f func(error)) { a.file.failed = f }

// Close closes the file; later lines are lost.
func (a *Log) Close() error { return a.file.Close() }
