// Package postgres makes a *sql.DB of a PostgreSQL database. Only this package imports pgx, and of
// that only pgconn, the wire protocol: pgx's driver for database/sql makes the program 3.8 MB larger,
// this one 0.9.
//
// # What it does
//
// Statements may have SQLite's parameters (? and ?1). Values are int64, float64, string, []byte and
// nil; a bool is sent as 1 or 0. What PostgreSQL's text can't contain (NUL, invalid UTF-8) becomes
// U+FFFD. A statement is limited by Patience and not by its context, because cancelling would cost the
// connection.
//
// # A lost connection
//
// It is an error for which Lost is true. Nothing is repeated: not even a transaction whose commit was
// not answered. The next statement connects again; if that failed less than a second ago it fails at
// once, so that many callers don't wait one after the other. Gave counts connections, for callers that
// keep a session's state.
//
// # What it doesn't do
//
// It reads all rows of a result at once, prepares no statements, and takes a password only from a
// password file, not from a URL or the environment.
package postgres
