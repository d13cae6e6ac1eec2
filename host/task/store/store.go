package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"tandemux/host/task/store/postgres"
	"tandemux/internal/fault"
	"tandemux/internal/statefile"
)

// File is the name of the database file.
const File = "tasks.db"

// patience is how long to wait for a database that another process has locked.
const patience = 5 * time.Second

// readers is the number of reading connections.
const readers = 3

type Options struct {
	Dir string       // created with mode 0700 if it does not exist
	URL string       // of a PostgreSQL database; "" means SQLite in Dir
	Log *slog.Logger // nil discards
	Now func() time.Time
}

type Store struct {
	dir, path string
	name      string // the database's name for people
	engine    engine
	log       *slog.Logger
	now       func() time.Time
	lock      *os.File
	seal      *sealer
	notice    string

	tables
	w, r   *sql.DB
	marked atomic.Bool // condemn was called
	sync   syncMode    // of the writing connection; protected by its only slot
	sizes  sizes
	most   bounds
	file   *os.File                 // the database file, never read; closed last, because closing it drops SQLite's locks
	laid   atomic.Pointer[[2]int64] // the sizes of the log and the database for which the reserve is allocated
	life   string                   // identifies this process in reservations and about.life
}

// Open opens the database, and creates or migrates it if needed. A damaged one is renamed; see Notice.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{dir: o.Dir, path: filepath.Join(o.Dir, File), name: filepath.Join(o.Dir, File), log: o.Log, now: o.Now, most: usualBounds, life: rand.Text()}
	s.log = cmp.Or(s.log, slog.New(slog.DiscardHandler))
	if s.now == nil {
		s.now = time.Now
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the tasks' database: %w", err)
	}
	s.tables = s.tablesOf()
	err := choose(s, o.URL)
	if err != nil {
		return nil, err
	}
	if s.lock, err = lockFile(ctx, s.path+".lock"); err != nil {
		return nil, err
	}
	if err = s.engine.open(ctx); err == nil {
		s.seal, err = openSealer(filepath.Join(s.dir, "tasks.key"), s.hasSealed)
	}
	if err == nil {
		err = s.weigh(ctx, s.reading())
	}
	if err == nil {
		err = move(s)
	}
	if err != nil {
		s.Close() //nolint:errcheck // the first error counts
		return nil, err
	}
	return s, nil
}

// engine is what differs between SQLite and PostgreSQL. With q a method is about that connection,
// without it about all that write.
type engine interface {
	open(ctx context.Context) error
	// room returns an error if the disk lacks the space that a change may need.
	room() error
	// ready prepares the writing connection for a transaction of a kind.
	ready(ctx context.Context, q conn, how syncMode) error
	// relieve makes space on a full disk, and reports whether it could.
	relieve(ctx context.Context, q conn) bool
	// version returns the number of the schema, 0 for none; migrations returns the statements up to
	// the newest.
	version(ctx context.Context, q conn) (int, error)
	setVersion(ctx context.Context, q conn, n int) error
	migrations() []string
}

// sqliteEngine is SQLite, with a file on this machine.
type sqliteEngine struct{ *Store }

func (s sqliteEngine) open(ctx context.Context) error {
	reason, err := s.begin(ctx)
	if err != nil && giveUp(s.dir) { // perhaps the disk is full
		if reason, err = s.begin(ctx); err == nil {
			keepSome(s.Store)
		}
	}
	if err == nil && reason != "" {
		if err = s.setAside(reason); err == nil {
			reason, err = s.begin(ctx)
		}
		if err == nil && reason != "" {
			err = Errorf(Damaged, "a new database of tasks at %s is damaged at once (%s); look at the disk", s.path, reason)
		}
	}
	return err
}

// begin opens SQLite's connections and migrates the schema. reason is set if the database is damaged.
func (s *Store) begin(ctx context.Context) (reason string, err error) {
	if err := makePrivate(s.path); err != nil {
		return "", err
	}
	if s.file, err = os.OpenFile(s.path, os.O_RDWR|syscall.O_NOFOLLOW, 0); err != nil {
		return "", fmt.Errorf("open the tasks' database: %w", err)
	}
	s.w, err = s.pool("immediate", 1, "journal_mode(wal)", "synchronous(normal)", "journal_size_limit(8388608)")
	if err == nil {
		s.r, err = s.pool("deferred", readers, "query_only(1)")
	}
	if err != nil {
		return "", err
	}
	s.sync = relaxed
	reason, err = s.inspect(ctx)
	if err == nil && reason == "" {
		err = s.migrate(ctx)
		if errors.Is(err, Damaged) {
			reason, err = err.Error(), nil
		}
	}
	if err != nil || reason != "" {
		s.w.Close()
		s.r.Close()
		s.file.Close()
	}
	return reason, err
}

// pool returns a pool of connections. Special characters in the path are escaped.
func (s *Store) pool(lock string, most int, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_txlock": {lock}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds())}}
	for _, p := range append(pragmas, "foreign_keys(1)", "cache_size(-1024)", "trusted_schema(0)", "temp_store(memory)") {
		q.Add("_pragma", p)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: s.path}).EscapedPath()}).String()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the tasks' database: %w", err)
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(1)
	return db, nil
}

// Close closes the connections.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.r, s.w} { // the last connection to close cleans the log up
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	for _, f := range []*os.File{s.file, s.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// Notice says for people what was renamed when the store was opened, or "".
func (s *Store) Notice() string { return s.notice }

// reading returns the pool of reading connections.
func (s *Store) reading() conn { return conn{s, s.r} }

// syncMode says what a committed transaction survives.
type syncMode string

const (
	relaxed syncMode = "normal" // the end of the process
	durable syncMode = "full"   // a power failure
)

// write runs do in a transaction, which is undone if do returns an error. It does not use the reserve.
func (s *Store) write(ctx context.Context, how syncMode, do func(tx conn) error) error {
	if err := s.engine.room(); err != nil {
		return err
	}
	return s.transact(ctx, how, do, false)
}

// end runs do in a transaction that may use the reserve. It is for small and rare changes that end
// something. do may be called twice.
func (s *Store) end(ctx context.Context, how syncMode, do func(tx conn) error) error {
	return s.transact(ctx, how, do, true)
}

// transact runs a transaction. again says that on a full disk it is tried again after relieve.
func (s *Store) transact(ctx context.Context, how syncMode, do func(tx conn) error, again bool) error {
	c, err := s.w.Conn(ctx)
	if err != nil {
		return s.explain(err)
	}
	defer c.Close()
	if err := s.engine.ready(ctx, conn{s, c}, how); err != nil {
		return s.explain(err)
	}
	err = s.try(ctx, c, do)
	if again && errors.Is(err, Full) && s.engine.relieve(ctx, conn{s, c}) {
		err = s.try(ctx, c, do)
	}
	return err
}

func (s sqliteEngine) room() error { return s.reserve() }

func (s sqliteEngine) ready(ctx context.Context, q conn, how syncMode) error {
	if s.sync == how {
		return nil
	}
	err := q.exec(ctx, "pragma synchronous = "+string(how))
	if err == nil {
		s.sync = how
	}
	return err
}

// relieve copies the log into the database, so that the log's space can be used again.
func (s sqliteEngine) relieve(ctx context.Context, q conn) bool {
	return q.exec(ctx, "pragma wal_checkpoint(passive)") == nil
}

func (s *Store) try(ctx context.Context, c *sql.Conn, do func(tx conn) error) error {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err)
	}
	if err := do(conn{s, tx}); err != nil {
		tx.Rollback() //nolint:errcheck // the first error counts
		return s.explain(err)
	}
	return s.explain(tx.Commit())
}

// lockFile takes the lock of the process that has the database open.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the tasks' database: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("lock the tasks' database: %w", err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, Errorf(Busy, "another host has the database of tasks open (%s); end it, or give this one a state directory of its own", path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// makePrivate creates the file empty before SQLite does, so that nobody else may read it. Its
// companion files get the same mode.
func makePrivate(path string) error {
	flag := os.O_RDWR | os.O_CREATE
	for _, companion := range []string{"", "-wal", "-shm"} {
		f, err := statefile.Open(path+companion, flag)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("open the tasks' database: %w", err)
		}
		flag = os.O_RDWR
	}
	return nil
}

// sizes has the sizes of bounded tables, so that adding a row needs no count.
type sizes struct {
	mu      sync.Mutex
	streams map[string]extent // by task
	logs    map[string]int64  // by agent
}

// extent is the part of a bounded table that belongs to one task or agent.
type extent struct {
	Of    string `db:"of"`
	Last  int64  `db:"last"`
	Count int64  `db:"count"`
	Bytes int64  `db:"bytes"`
}

// Bounds of what is stored, in bytes if nothing else is said.
const (
	MaxParams  = 256 << 10 // of a task, and its workspace, as JSON
	MaxContent = 1 << 20   // of an event or a message, as JSON
	MaxState   = 1 << 20   // as JSON
	MaxValue   = 64 << 10  // of a variable
	MaxSource  = 256 << 10 // of a definition, as JSON
	MaxLogText = 16 << 10  // of a log line; longer ones are cut
	MaxReply   = 256 << 10 // of an answer that can be replayed
	MaxPart    = 1 << 20   // of an event of a stream, as JSON

	MaxVariables = 200    // of an environment
	MaxKeys      = 1000   // API keys that are not revoked
	MaxStream    = 20_000 // events of a task's stream; the oldest are deleted
	MaxStreamRaw = 32 << 20
	MaxLogs      = 50_000 // log lines of an agent; the oldest are deleted
	MaxPending   = 1000   // events of a task that wait
	MaxPage      = 1000   // rows of a page
)

// bounds are those bounds that tests lower.
type bounds struct{ stream, streamRaw, logs, pending int64 }

var usualBounds = bounds{stream: MaxStream, streamRaw: MaxStreamRaw, logs: MaxLogs, pending: MaxPending}

// The kinds of errors, for errors.Is and Errorf.
var (
	NotFound  = fault.New(http.StatusNotFound, "not found")
	Exists    = fault.New(http.StatusConflict, "exists")                   // a name is taken
	InUse     = fault.New(http.StatusConflict, "in use")                   // something else needs it
	Stale     = fault.New(http.StatusConflict, "stale")                    // it changed since the caller looked
	Invalid   = fault.New(http.StatusUnprocessableEntity, "not valid")     // the values make no sense
	Full      = fault.New(http.StatusInsufficientStorage, "no space left") // the disk is full
	Damaged   = fault.New(http.StatusServiceUnavailable, "damaged")        // the database is damaged
	Busy      = fault.New(http.StatusServiceUnavailable, "busy")           // another process holds it
	Away      = fault.New(http.StatusServiceUnavailable, "not reachable")  // the database's server can't be reached
	TooLarge  = fault.New(http.StatusRequestEntityTooLarge, "too large")
	Forbidden = fault.New(http.StatusForbidden, "forbidden") // the caller may see it, but not do that
)

// Errorf returns an error of a kind. Packages that refuse something because of the records use it too.
func Errorf(kind *fault.Kind, format string, args ...any) error { return kind.Errorf(format, args...) }

// explain returns err with a kind, if it is a database's error that callers should understand.
func (s *Store) explain(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil || fault.Status(err) != 0:
		return err
	case !errors.As(err, &e):
		return explainPostgres(s, err)
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		s.condemn(err)
		return Errorf(Damaged, "the database of tasks %s is damaged; it is moved aside when the host starts again: %w", s.path, err)
	case lib.SQLITE_FULL:
		return s.full()
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return Errorf(Busy, "the database of tasks %s is held by another process", s.path)
	case lib.SQLITE_TOOBIG:
		return Errorf(TooLarge, "that is more than the database of tasks takes")
	}
	return err
}

func (s *Store) full() error {
	return Errorf(Full, "the disk is full: the database of tasks, %s, was not changed", s.name)
}

// constraint reports which kind of constraint an error is about.
func constraint(err error) (unique, foreign bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		code := postgres.Code(err)
		return code == "23505", code == "23503"
	}
	switch e.Code() {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return true, false
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY:
		return false, true
	}
	return false, false
}
