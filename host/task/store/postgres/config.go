package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Patience bounds a statement, and dialTime the making of a connection.
const (
	Patience = 15 * time.Second
	dialTime = 5 * time.Second
)

// Config is where a database is.
type Config struct {
	// Name is its URL without what nobody else needs to know.
	Name     string
	passfile string
	made     *pgconn.Config
}

// Parse reads a URL: postgres://USER@HOST/DATABASE, with the parameters that libpq
// knows. Beyond this machine the connection is encrypted and the server's certificate
// checked, unless sslmode says otherwise. No error has a password.
func Parse(text string) (Config, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return Config{}, errors.New("it is not a URL such as postgres://me@db.example.org/tandemux")
	}
	if strings.Contains(text, "#") { // pgconn reads what is behind it as more of the host
		return Config{}, errors.New("it has a #, which has no place in a URL of a database: write %23 for one")
	}
	q := u.Query()
	if _, has := u.User.Password(); has || q.Has("password") || q.Has("sslpassword") {
		return Config{}, errors.New("it has a password, which has no place here: put that into ~/.pgpass, or into another file that only you can read and add ?passfile=FILE")
	}
	if !q.Has("sslmode") && !local(cmp.Or(q.Get("host"), u.Hostname())) {
		q.Set("sslmode", "verify-full")
	}
	if !q.Has("application_name") {
		q.Set("application_name", "tandemux")
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq reads no +
	made, err := pgconn.ParseConfig(u.String())
	if err != nil {
		return Config{}, fmt.Errorf("it can't be used: %w", err) // pgconn takes passwords out, and there is none
	}
	made.ConnectTimeout = cmp.Or(made.ConnectTimeout, dialTime)
	shown := url.URL{Scheme: "postgres", User: url.User(made.User), Host: u.Host, Path: "/" + made.Database}
	return Config{shown.String(), q.Get("passfile"), made}, nil
}

// Safe says whether the password is where others could read it.
func (c Config) Safe() error {
	if os.Getenv("PGPASSWORD") != "" {
		return errors.New("PGPASSWORD is set, which programs in terminals could read: put the password into ~/.pgpass in its place, and start the host without it")
	}
	return private(c.passfile)
}

// local says whether a host is on this machine: a socket's directory, or a loopback address.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || host == "localhost" || filepath.IsAbs(host) || err == nil && ip.IsLoopback()
}

// private refuses a password file that others may read, as libpq does; "" is the usual one.
func private(file string) error {
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil //nolint:nilerr // then there is none
		}
		file = filepath.Join(home, ".pgpass")
	}
	info, err := os.Stat(file)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others may read the password file: chmod 600 %s", file)
	}
	return nil
}
