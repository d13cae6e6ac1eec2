package postgres

import (
	"strings"
	"testing"
)

func TestNumbered(t *testing.T) {
	for in, want := range map[string]string{
		"select 1":                          "select 1",
		"a = ? and b = ?":                   "a = $1 and b = $2",
		"a = ?1 or b = ?2 or c = ?1":        "a = $1 or b = $2 or c = $1",
		"a = '?' and b = ? and c = 'it''?'": "a = '?' and b = $1 and c = 'it''?'",
	} {
		if got := numbered(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

func TestBeyondThisMachine(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for url, tls := range map[string]bool{
		"postgres://me@db.example.org/x": true, "postgres://me@192.0.2.1/x": true, "postgres://me@127.0.0.1/x?sslmode=disable": false,
		"postgres://me@/x?host=/run/postgresql": false, "postgres://me@[::1]/x?sslmode=disable": false,
	} {
		c, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.made.TLSConfig; (got != nil) != tls || tls && (got.InsecureSkipVerify || got.ServerName == "" || len(c.made.Fallbacks) > 0) {
			t.Errorf("%s: TLS is %+v, with %d other ways", url, got, len(c.made.Fallbacks))
		}
		if strings.Contains(c.Name, "?") {
			t.Errorf("the name is %s", c.Name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("postgres://me:hunter2@host:5432/x?sslmode=require")
	f.Add("postgres://me@/x?host=/tmp&password=hunter2")
	f.Fuzz(func(t *testing.T, url string) {
		c, err := Parse(url)
		if err == nil && (c.made == nil || c.made.Password != "") {
			t.Errorf("%q gives %+v", url, c.made)
		}
	})
}
