package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandemux/host/task/store/postgres"
)

// CheckURL returns an error unless url is "" or a valid URL of a PostgreSQL database.
func CheckURL(url string) error {
	if url == "" {
		return nil
	}
	_, err := postgres.Parse(url)
	return err
}

func choose(s *Store, url string) error {
	if url == "" {
		s.engine = sqliteEngine{s}
		return nil
	}
	c, err := postgres.Parse(url)
	if err != nil {
		return fmt.Errorf("open the tasks' database: its URL: %w", err)
	}
	if err := c.Safe(); err != nil {
		return fmt.Errorf("open the tasks' database: %w", err)
	}
	s.engine, s.name = &postgresEngine{Store: s, config: c}, c.Name
	return nil
}

// postgresEngine is a PostgreSQL server. The writing connection holds an advisory lock while it
// exists, so that no two hosts write. The column about.life says which process wrote last, for which
// the sizes in memory are valid.
type postgresEngine struct {
	*Store
	config postgres.Config
	pool   *postgres.Pool // of the writing connection
	// The fields below are protected by the writing connection's only slot.
	pid  int64 // of the server's process of the last writing connection
	seen int64 // the number of the connection for which sizes were read
	over bool  // the store is open: from now on another host's life is an error
}

func (p *postgresEngine) open(ctx context.Context) error {
	p.w, p.pool = postgres.Open(p.config, 1, p.hold)
	p.r, _ = postgres.Open(p.config, readers, nil)
	if err := p.migrate(ctx); err != nil {
		return fmt.Errorf("open the tasks' database: %w", err)
	}
	err := p.end(ctx, durable, func(tx conn) error { return tx.exec(ctx, "update about set life = ?", p.life) })
	p.over = err == nil
	return err
}

// The lock's key contains the schema, so that several hosts may share a database, each with its own
// search_path.
const (
	theLock   = "1952542819, hashtext(current_schema())"
	lockOwner = `select pid from pg_locks where locktype = 'advisory' and granted and classid = 1952542819
		and objid::bigint = (hashtext(current_schema())::bigint & 4294967295) and database = (select oid from pg_database where datname = current_database())`
)

// hold takes the lock for a new connection. If the server does not know yet that this host's last
// connection is gone, hold ends that.
func (p *postgresEngine) hold(ctx context.Context, q postgres.Session) error {
	schema, err := q.Value(ctx, "select current_schema()")
	if err != nil {
		return err
	}
	if schema == nil {
		return fmt.Errorf("the schema that search_path names is not in %s; create it first", p.name)
	}
	for until := time.Now().Add(patience); ; {
		got, err := q.Value(ctx, "select pg_try_advisory_lock("+theLock+")")
		if err != nil {
			return err
		}
		if got == true {
			break
		}
		owner, err := q.Value(ctx, lockOwner)
		if err == nil && owner != nil && owner == p.pid {
			_, err = q.Value(ctx, "select pg_terminate_backend(?)", owner)
		}
		if err != nil {
			return err
		}
		if time.Now().After(until) {
			return Errorf(Busy, "another host has the database of tasks %s open; end it, or give this one a database or a search_path of its own", p.name)
		}
		time.Sleep(50 * time.Millisecond) // PostgreSQL can't limit the wait for a single lock
	}
	pid, err := q.Value(ctx, "select pg_backend_pid()")
	p.pid, _ = pid.(int64)
	return err
}

// ready makes sure, after a connection was lost, that no other host has written, and reads the sizes
// of streams and logs again, because the last change may or may not have been made.
func (p *postgresEngine) ready(ctx context.Context, q conn, _ syncMode) error {
	gave := p.pool.Gave()
	if p.seen == gave || !p.over {
		p.seen = gave
		return nil
	}
	life, err := one[string](ctx, q, nil, "select life from about")
	if err == nil && life != p.life {
		err = Errorf(Busy, "another host had the database of tasks %s open while this one could not reach it; restart this host", p.name)
	}
	if err == nil {
		err = p.weigh(ctx, q)
	}
	if err == nil {
		p.seen = gave
		p.log.Info("connected to the database of tasks again", "database", p.name)
	}
	return err
}

func (p *postgresEngine) room() error                        { return nil }
func (p *postgresEngine) relieve(context.Context, conn) bool { return false }
func (p *postgresEngine) migrations() []string               { return postgresMigrations() }

func (p *postgresEngine) version(ctx context.Context, tx conn) (int, error) {
	there, err := one[bool](ctx, tx, nil, "select to_regclass('about') is not null")
	if err != nil || !there {
		return 0, err
	}
	return one[int](ctx, tx, nil, "select schema from about")
}

func (p *postgresEngine) setVersion(ctx context.Context, tx conn, n int) error {
	return tx.exec(ctx, "update about set schema = ?", n)
}

// ofPostgres maps beginnings of PostgreSQL's error codes to kinds of errors.
var ofPostgres = []struct {
	code string
	kind func(s *Store, err error) error
}{
	{"53100", func(s *Store, _ error) error { return s.full() }},
	{"54", func(*Store, error) error { return Errorf(TooLarge, "that is more than the database of tasks takes") }},
	{"XX00", func(s *Store, err error) error {
		return Errorf(Damaged, "the database of tasks %s is damaged: %w", s.name, err)
	}},
	{"25006", away},
	{"53", away},
	{"57", away},
	{"08", away},
	{"40", func(s *Store, err error) error {
		return Errorf(Busy, "the database of tasks %s is busy: %w", s.name, err)
	}},
}

func away(s *Store, err error) error {
	return Errorf(Away, "the database of tasks %s can't be reached: %w", s.name, err)
}

// explainPostgres is explain for errors that are not SQLite's.
func explainPostgres(s *Store, err error) error {
	if postgres.Lost(err) {
		return away(s, errors.New(strings.TrimSpace(err.Error())))
	}
	if code := postgres.Code(err); code != "" {
		for _, row := range ofPostgres {
			if strings.HasPrefix(code, row.code) {
				return row.kind(s, err)
			}
		}
	}
	return err
}
