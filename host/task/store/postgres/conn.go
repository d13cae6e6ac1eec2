package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pool makes the connections of a sql.DB. It implements driver.Connector.
type Pool struct {
	config *pgconn.Config
	began  func(ctx context.Context, q Session) error
	gave   atomic.Int64

	mu     sync.Mutex // Protects following.
	failed error      // why the last connection failed, kept for redial
	when   time.Time
}

// Session is a connection that the sql.DB does not have yet.
type Session struct{ c *conn }

// Value returns the only value of the first row, or nil if there is no row.
func (s Session) Value(ctx context.Context, query string, args ...any) (driver.Value, error) {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	rows, err := s.c.QueryContext(ctx, query, named)
	if err != nil {
		return nil, err
	}
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return row[0], nil
}

// Open returns a pool without connections, of at most most. began is called with each new one.
func Open(c Config, most int, began func(ctx context.Context, s Session) error) (*sql.DB, *Pool) {
	p := &Pool{config: c.made, began: began}
	db := sql.OpenDB(p)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, p
}

// Gave returns how many connections were made.
func (p *Pool) Gave() int64 { return p.gave.Load() }

func (p *Pool) Driver() driver.Driver { return nil }

// redial is how long after a failed attempt no other one is made.
const redial = time.Second

func (p *Pool) Connect(ctx context.Context) (driver.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil && time.Since(p.when) < redial {
		return nil, p.failed
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	pg, err := pgconn.ConnectConfig(ctx, p.config)
	if err != nil {
		p.failed, p.when = &lostError{err}, time.Now()
		return nil, p.failed
	}
	c := &conn{pg: pg, used: time.Now()}
	if p.began != nil {
		if err := p.began(ctx, Session{c}); err != nil {
			c.Close()
			return nil, err
		}
	}
	p.failed = nil
	p.gave.Add(1)
	return c, nil
}

// bounded returns a context that ends only after Patience.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), Patience)
}

type conn struct {
	pg   *pgconn.PgConn
	used time.Time
}

var errPrepared = errors.New("postgres: no statements are prepared")

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errPrepared }
func (c *conn) Begin() (driver.Tx, error)           { return c.BeginTx(context.Background(), driver.TxOptions{}) }

func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return c.pg.Close(ctx)
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.pg.IsClosed() && c.pg.TxStatus() == 'I' }

// ResetSession checks whether a connection that was idle for a while still works, before something is
// done on it that can't be repeated.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.pg.IsClosed() {
		return driver.ErrBadConn
	}
	if time.Since(c.used) < time.Second {
		return nil
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	if c.pg.Ping(ctx) != nil {
		return driver.ErrBadConn
	}
	return nil
}

func (c *conn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if _, err := c.run(ctx, "begin", nil); err != nil {
		return nil, err
	}
	return tx{c}, nil
}

type tx struct{ c *conn }

func (t tx) Commit() error {
	res, err := t.c.run(context.Background(), "commit", nil)
	if err == nil && res.CommandTag.String() != "COMMIT" { // PostgreSQL answers ROLLBACK if a statement failed
		return errors.New("the transaction was undone, because a part of it had failed")
	}
	return err
}

func (t tx) Rollback() error {
	_, err := t.c.run(context.Background(), "rollback", nil)
	return err
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	res, err := c.run(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(res.CommandTag.RowsAffected()), nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	res, err := c.run(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &rows{res: res}, nil
}

// run executes a statement, or several if there are no arguments.
func (c *conn) run(ctx context.Context, query string, args []driver.NamedValue) (*pgconn.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	var last pgconn.Result
	if len(args) == 0 {
		all, err := c.pg.Exec(ctx, query).ReadAll()
		for _, one := range all {
			last = *one
		}
		last.Err = err
	} else {
		values, formats, err := encode(args)
		if err != nil {
			return nil, err
		}
		last = *c.pg.ExecParams(ctx, numbered(query), values, nil, formats, nil).Read()
	}
	c.used = time.Now()
	switch {
	case last.Err == nil:
		return &last, nil
	case !c.pg.IsClosed():
		return nil, last.Err
	case pgconn.SafeToRetry(last.Err): // nothing was sent
		return nil, driver.ErrBadConn
	}
	return nil, &lostError{last.Err}
}

// encode encodes values for the wire protocol: as text, but for bytes.
func encode(args []driver.NamedValue) (values [][]byte, formats []int16, err error) {
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, a := range args {
		switch v := a.Value.(type) {
		case nil:
		case int64:
			values[i] = strconv.AppendInt(nil, v, 10)
		case float64:
			values[i] = strconv.AppendFloat(nil, v, 'g', -1, 64)
		case bool:
			values[i] = []byte("0")
			if v {
				values[i] = []byte("1")
			}
		case string:
			values[i] = []byte(strings.ToValidUTF8(strings.ReplaceAll(v, "\x00", "\uFFFD"), "\uFFFD"))
		case []byte:
			values[i], formats[i] = v, 1
		default:
			return nil, nil, fmt.Errorf("postgres: a value of the kind %T has no form", v)
		}
	}
	return values, formats, nil
}

var known sync.Map // statements by those with SQLite's parameters

// numbered replaces SQLite's parameters in a statement with PostgreSQL's.
func numbered(query string) string {
	if text, ok := known.Load(query); ok {
		return text.(string)
	}
	var b strings.Builder
	quoted, n := false, 0
	for i := 0; i < len(query); i++ {
		switch c := query[i]; {
		case c == '\'':
			quoted = !quoted
			b.WriteByte(c)
		case c == '?' && !quoted && i+1 < len(query) && '0' < query[i+1] && query[i+1] <= '9':
			b.WriteByte('$')
		case c == '?' && !quoted:
			n++
			b.WriteString("$" + strconv.Itoa(n))
		default:
			b.WriteByte(c)
		}
	}
	known.Store(query, b.String())
	return b.String()
}

type rows struct {
	res  *pgconn.Result
	next int
}

func (r *rows) Columns() []string {
	names := make([]string, len(r.res.FieldDescriptions))
	for i, f := range r.res.FieldDescriptions {
		names[i] = f.Name
	}
	return names
}

func (r *rows) Close() error { return nil }

func (r *rows) Next(dest []driver.Value) (err error) {
	if r.next == len(r.res.Rows) {
		return io.EOF
	}
	for i, raw := range r.res.Rows[r.next] {
		if dest[i], err = decode(r.res.FieldDescriptions[i].DataTypeOID, raw); err != nil {
			return err
		}
	}
	r.next++
	return nil
}

// The object ids of the types of results; all others are read as text.
const (
	oidBool    = 16
	oidBytea   = 17
	oidInt8    = 20
	oidInt2    = 21
	oidInt4    = 23
	oidNumeric = 1700 // the type of a sum
)

func decode(oid uint32, raw []byte) (driver.Value, error) {
	if raw == nil {
		return nil, nil
	}
	switch text := string(raw); oid {
	case oidBool:
		return text == "t", nil
	case oidInt2, oidInt4, oidInt8, oidNumeric:
		return strconv.ParseInt(text, 10, 64)
	case oidBytea:
		return hex.DecodeString(strings.TrimPrefix(text, `\x`))
	default:
		return text, nil
	}
}

// lostError says that the server can't be reached, or no longer.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// Lost reports whether an error says that the server can't be reached. The statement may have been
// executed.
func Lost(err error) bool {
	var e *lostError
	return errors.As(err, &e) || errors.Is(err, driver.ErrBadConn)
}

// Code returns PostgreSQL's error code (SQLSTATE), or "" for other errors.
func Code(err error) string {
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		return e.Code
	}
	return ""
}
