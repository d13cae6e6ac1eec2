package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"

	"tandemux/internal/pgtest"
)

// backend is where a test's records are: a directory's have a database of their own.
type backend struct {
	name string
	url  func(t testing.TB, dir string) string
}

var backends = []backend{
	{"sqlite", func(testing.TB, string) string { return "" }},
	{"postgres", func(t testing.TB, dir string) string {
		sum := fnv.New64a()
		sum.Write([]byte(dir))
		return pgtest.Start(t).Schema(t, fmt.Sprintf("t%x", sum.Sum64()))
	}},
}

// onBoth runs a test on each, at the same time as others.
func onBoth(t *testing.T, test func(t *testing.T, db backend)) {
	t.Parallel()
	for _, db := range backends {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			test(t, db)
		})
	}
}

// open opens a store in a directory, and closes it with the test.
func (b backend) open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir, URL: b.url(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
