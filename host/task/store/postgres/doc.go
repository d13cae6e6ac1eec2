// Package postgres makes a *sql.DB of PostgreSQL. It is the only importer of pgx, and of
// that takes pgconn alone, the wire protocol: pgx's own driver for database/sql makes the
// program 3.8 MB larger, this one 0.9.
//
// # What it does
//
// Statements may have SQLite's parameters (? and ?1). Values go and come as int64,
// float64, string, []byte and nil; a bool goes as 1 or 0. What PostgreSQL's text can't
// hold (NUL, broken UTF-8) becomes U+FFFD. A statement is bounded by Patience, not by its
// context, whose end would cost the connection.
//
// # A lost connection
//
// It is an error of which Lost is true, and nothing is done twice: a transaction whose
// commit was not answered is not tried again. The next statement dials anew; where that
// failed less than a second ago it fails at once, so that many who wait don't wait for
// each other. Gave counts connections: who keeps what a session had looks at it.
//
// # What it doesn't do
//
// It reads all rows of an answer at once, keeps no statements prepared, and takes no
// password from a URL or the environment: only from a password file.
package postgres
