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

// Patience bounds a statement, dialTime the connecting.
const (
	Patience = 15 * time.Second
	dialTime = 5 * time.Second
)

// Config is the address of a database.
type Config struct {
	// Name is the URL without user, password and parameters.
	Name     string
	passfile string
	made     *pgconn.Config
}

// Parse reads a URL postgres://USER@HOST/DATABASE with libpq's parameters. Connections to other
// machines are encrypted and the server's certificate is checked, unless sslmode says otherwise.
// Errors never contain a password.
func Parse(text string) (Config, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return Config{}, errors.New("it is not a URL such as postgres://me@db.example.org/tandemux")
	}
	if strings.Contains(text, "#") { // pgconn would read the rest as part of the host
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
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq does not read + as a blank
	made, err := pgconn.ParseConfig(u.String())
	if err != nil {
		return Config{}, fmt.Errorf("it can't be used: %w", err) // pgconn removes passwords, and there is none
	}
	made.ConnectTimeout = cmp.Or(made.ConnectTimeout, dialTime)
	shown := url.URL{Scheme: "postgres", User: url.User(made.User), Host: u.Host, Path: "/" + made.Database}
	return Config{shown.String(), q.Get("passfile"), made}, nil
}

// Safe returns an error if others could read the password.
func (c Config) Safe() error {
	if os.Getenv("PGPASSWORD") != "" {
		return errors.New("PGPASSWORD is set, which programs in terminals could read: put the password into ~/.pgpass in its place, and start the host without it")
	}
	return private(c.passfile)
}

// local reports whether a host is on this machine: a socket's directory, or a loopback address.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || host == "localhost" || filepath.IsAbs(host) || err == nil && ip.IsLoopback()
}

// private returns an error if others may read a password file, as libpq does. "" is the default file.
func private(file string) error {
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil //nolint:nilerr // there is no such file then
		}
		file = filepath.Join(home, ".pgpass")
	}
	info, err := os.Stat(file)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others may read the password file: chmod 600 %s", file)
	}
	return nil
}
