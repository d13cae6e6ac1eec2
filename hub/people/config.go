package people

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tandemux/host/auth"
	"tandemux/hub/front"
	"tandemux/internal/config/strict"
	"tandemux/internal/statefile"
)

// File is the configuration's name, in the directory of config.toml.
const File = "people.toml"

// Config is how people sign in, and what they may do then.
type Config struct {
	// URL is the hub's own, as browsers reach it.
	URL string `toml:"url"`
	// Issuer is the provider; ClientID and SecretFile are what it knows the hub by. A
	// public client has no secret.
	Issuer     string `toml:"issuer"`
	ClientID   string `toml:"client-id"`
	SecretFile string `toml:"client-secret-file"`
	// Ask are scopes to ask the provider for, besides openid, email and profile.
	Ask []string `toml:"ask"`
	// NameClaim and GroupsClaim say where a person's name and groups are.
	NameClaim   string `toml:"name-claim"`
	GroupsClaim string `toml:"groups-claim"`
	// Hours are how long a session lasts.
	Hours int `toml:"hours"`
	// Groups and People give scopes of host/auth to all of a group, and to one person.
	Groups map[string][]string `toml:"groups"`
	People map[string][]string `toml:"people"`

	secret string
}

const (
	maxFile   = 1 << 20
	maxSecret = 4 << 10
	maxHours  = 30 * 24
)

// Read reads the configuration. With os.ErrNotExist there is none, and nobody signs in.
func Read(path string) (Config, error) {
	c := Config{NameClaim: "email", GroupsClaim: "groups", Hours: 12}
	doc, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if len(doc) > maxFile {
		err = errors.New("it is too long")
	}
	if err == nil {
		err = strict.Decode(doc, &c, "the people's file")
	}
	if err == nil {
		err = c.check()
	}
	if err == nil && c.SecretFile != "" {
		if !filepath.IsAbs(c.SecretFile) {
			c.SecretFile = filepath.Join(filepath.Dir(path), c.SecretFile)
		}
		var text []byte
		text, err = statefile.Read(c.SecretFile, maxSecret)
		c.secret = strings.TrimSpace(string(text))
	}
	if err != nil {
		return c, fmt.Errorf("read who may sign in (%s): %w", path, err)
	}
	return c, nil
}

func (c *Config) check() error {
	for _, m := range []struct{ name, value string }{{"url", c.URL}, {"issuer", c.Issuer}} {
		u, err := url.Parse(m.value)
		switch {
		case m.value == "":
			return fmt.Errorf("it has no %s", m.name)
		case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return fmt.Errorf("%s takes an address such as https://example.org, not %.200q", m.name, m.value)
		case u.Scheme == "http" && !loopback(u.Hostname()):
			return fmt.Errorf("%s: beyond this machine only https will do", m.name)
		case m.name == "url" && strings.Trim(u.Path, "/") != "":
			return errors.New("url has a path, but the hub is at the root of its address")
		}
	}
	c.URL = strings.TrimRight(c.URL, "/")
	if c.ClientID == "" {
		return errors.New("it has no client-id")
	}
	if c.Hours < 1 || c.Hours > maxHours {
		return fmt.Errorf("hours is 1 to %d", maxHours)
	}
	for what, table := range map[string]map[string][]string{"groups": c.Groups, "people": c.People} {
		for name, scopes := range table {
			for _, s := range scopes {
				if !slices.Contains(auth.AllScopes, s) {
					return fmt.Errorf("%s.%s: no scope is named %.60q: use %s", what, name, s, strings.Join(auth.AllScopes, ", "))
				}
			}
		}
	}
	return nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Host is the host name in URL, without a port.
func (c *Config) Host() string {
	u, err := url.Parse(c.URL)
	if err != nil {
		return ""
	}
	if host, _, err := net.SplitHostPort(u.Host); err == nil {
		return host
	}
	return u.Host
}

func (c *Config) life() time.Duration { return time.Duration(c.Hours) * time.Hour }

// Scopes are the scopes of a person: those of their name and of all their groups.
func (c *Config) Scopes(name string, groups []string) []string {
	got := map[string]bool{}
	for _, s := range c.People[name] {
		got[s] = true
	}
	for _, g := range groups {
		for _, s := range c.Groups[g] {
			got[s] = true
		}
	}
	return slices.Sorted(maps.Keys(got))
}

const (
	maxName   = 128
	maxGroups = 256
)

// identity takes a person's name and groups out of what a provider says of them. An
// address that it has not verified, or a name that others could take, is none: then the
// provider's own number for the person is their name.
func (c *Config) identity(subject string, claims map[string]any) (name string, groups []string, err error) {
	name, _ = claims[c.NameClaim].(string)
	if verified, told := claims["email_verified"]; c.NameClaim == "email" && told && verified != true && verified != "true" {
		name = ""
	}
	name = cmp.Or(name, subject)
	if !shows(name) || name == front.Operator.Name || strings.HasPrefix(name, "token:") {
		return "", nil, fmt.Errorf("the provider's name for this person is of no use: %.200q", name)
	}
	switch list := claims[c.GroupsClaim].(type) {
	case string:
		groups = []string{list}
	case []any:
		for _, g := range list {
			if text, is := g.(string); is {
				groups = append(groups, text)
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g string) bool { return !shows(g) })
	if len(groups) > maxGroups { // those that mean something here are kept first
		slices.SortStableFunc(groups, func(a, b string) int { return len(c.Groups[b]) - len(c.Groups[a]) })
		groups = groups[:maxGroups]
	}
	return name, groups, nil
}

// shows reports whether a text may be shown as it is.
func shows(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
