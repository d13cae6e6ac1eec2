// Package pgtest runs a PostgreSQL server for tests: one for a test binary, started when
// it is needed first, on loopback and a socket in a directory of its own, and gone with the
// binary however that ends. Tests are skipped where there is no PostgreSQL. Where tests run as
// root it runs as another user, which it insists on.
package pgtest
