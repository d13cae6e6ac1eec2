package endpoint

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/daemon"
	"tandemux/internal/fileuri"
	"tandemux/internal/hosts"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/statefile"
	"tandemux/internal/wsrpc"
)

// Environment variables that say which host, and who we are there.
const (
	hostEnv = "TANDEMUX_HOST"
	// tokenEnv holds the token; a token never goes into argv, where other users
	// of the machine could read it.
	tokenEnv = local.TokenEnv
)

// Version is this program's; main sets it before anything else.
var Version = "dev"

// Endpoint is where the host is: this user's own, or the one at --host.
type Endpoint struct {
	Dirs      local.Dirs
	Name      string // in the list of hosts, "" for none
	Hub       bool   // the list says that it is one
	url       string // empty for this user's own
	scheme    string // of url
	host      string // host:port of ws and wss
	token     string
	tokenFrom string // where it comes from, for people
	pin       string // --fingerprint
	SSH       *machine
	debug     bool // say what is asked and answered
	quiet     bool // one of several at once: ask the person nothing
}

// AddFlags gives a command and those below it the flags of placeOf.
func AddFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.String("host", "", "Work on another host, by its name or at `URL`: ssh://[USER@]MACHINE, wss://, ws:// or unix:// (default: $"+hostEnv+")")
	f.String("token-file", "", "`FILE` with the token for wss:// and ws:// (default: the token in $"+tokenEnv+")")
	f.BoolP("debug", "d", false, "Say on standard error what the host is asked, and how it answers")
	f.String("fingerprint", "", "Trust the wss:// host whose certificate has this `SHA256`, now and later")
}

func Of(cmd *cobra.Command) (Endpoint, error) {
	p := Endpoint{Dirs: local.FindDirs(), debug: flagText(cmd, "debug") == "true"}
	address, from := flagText(cmd, "host"), "--host"
	if address == "" {
		address, from = os.Getenv(hostEnv), hostEnv
	}
	file, pin := flagText(cmd, "token-file"), flagText(cmd, "fingerprint")
	if address == hosts.Local {
		address = ""
	}
	if address != "" && !strings.Contains(address, ":") {
		h, err := p.find(address, from)
		if err != nil {
			return p, err
		}
		address, p.Name, p.Hub = h.URL, h.Name, h.Hub
		file = cmp.Or(file, h.TokenFile)
	}
	if address == "" {
		if file != "" || pin != "" {
			return p, cli.Usagef("--token-file and --fingerprint are for a host at --host")
		}
		return p, nil
	}
	if err := p.parse(address, from); err != nil {
		return p, err
	}
	if pin != "" {
		var err error
		if p.pin, err = wsrpc.CheckFingerprint(pin); err != nil {
			return p, cli.Usagef("--fingerprint: %w", err)
		}
		if p.scheme != "wss" {
			return p, cli.Usagef("--fingerprint is for a host at wss://")
		}
	}
	if p.scheme != "ws" && p.scheme != "wss" {
		if file != "" && p.Name == "" {
			return p, cli.Usagef("--token-file is for a host at wss:// or ws://")
		}
		return p, nil
	}
	p.token, p.tokenFrom = os.Getenv(tokenEnv), tokenEnv
	if file == "" {
		return p, nil
	}
	var err error
	p.token, err = readToken(file)
	p.tokenFrom = file
	return p, err
}

func flagText(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func (p *Endpoint) parse(address, from string) error {
	u, err := url.Parse(address)
	if err != nil {
		return cli.Usagef("%s: the address is not a URL: use ssh://MACHINE or wss://MACHINE:PORT", from)
	}
	p.scheme, p.url = u.Scheme, u.String()
	switch u.Scheme {
	case "ssh":
		p.SSH, err = parseMachine(u)
		if err != nil {
			return cli.Usagef("%s: %w", from, err)
		}
		return nil
	case "ws", "wss":
		if u.Query().Has("tkn") || u.User != nil {
			return cli.Usagef("%s: a token on the command line can be read by others; put it into %s or a --token-file", from, tokenEnv)
		}
		if u.Hostname() == "" {
			return cli.Usagef("%s %s: the address names no machine", from, u.Redacted())
		}
		port := cmp.Or(u.Port(), map[string]string{"ws": "80", "wss": "443"}[u.Scheme])
		p.host = net.JoinHostPort(strings.ToLower(u.Hostname()), port)
		return nil
	case "unix":
		return nil
	}
	return cli.Usagef("%s %s: the address starts with ssh://, wss://, ws:// or unix://", from, u.Redacted())
}

// readToken reads a file that nobody else may read.
func readToken(path string) (string, error) {
	text, err := statefile.ReadSecret(path, 4<<10)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("read the token: %s is not a file with one token in it", path)
	}
	return token, nil
}

// Own reports whether the host is this user's own, which may be started.
func (p Endpoint) Own() bool { return p.url == "" }

// Elsewhere reports whether the host may be on another machine, where this
// one's directories and environment mean nothing.
func (p Endpoint) Elsewhere() bool { return p.url != "" && p.scheme != "unix" }

// Adapt makes a request for a terminal fit for the host's machine: elsewhere it
// gets no environment but the language, and starts in the host's home unless
// --cwd names a directory there.
func (p Endpoint) Adapt(params *ahp.CreateTerminalParams, cwd string) error {
	if !p.Elsewhere() {
		return nil
	}
	meta := ahp.CreateMeta{}
	if params.Meta != nil {
		meta = *params.Meta
	}
	meta.Env = p.ChildEnv(os.Environ())
	params.Meta = &meta
	params.Cwd = ""
	if cwd != "" {
		if !filepath.IsAbs(cwd) {
			return cli.Usagef("--cwd %s: on another machine a directory is named by an absolute path", cwd)
		}
		params.Cwd = fileuri.Of(cwd)
	}
	return nil
}

// ChildEnv is what a terminal of the host inherits from us.
func (p Endpoint) ChildEnv(environ []string) map[string]string {
	env := ChildEnv(environ)
	if !p.Elsewhere() {
		return env
	}
	for name := range env {
		if name != "LANG" && name != "LANGUAGE" && !strings.HasPrefix(name, "LC_") {
			delete(env, name)
		}
	}
	return env
}

// dialer gives the transport function of internal/client.
func (p Endpoint) dialer() (func(context.Context) (jsonrpc.Transport, error), error) {
	target := wsrpc.Target{URL: p.url, Token: p.token}
	if token := p.hubToken(); token != "" {
		target.Header = http.Header{hubTokenHeader: {token}}
	}
	switch p.scheme {
	case "":
		if _, err := p.Dirs.Socket(listen.SocketName); err != nil {
			return nil, err
		}
		target.URL, target.Dial = "ws://localhost/", p.Dirs.DialHost
	case "wss":
		return p.pinned(target)
	case "ssh":
		target.URL = "ws://localhost/"
		target.Dial = p.SSH.dialer(p.quiet)
	}
	return func(ctx context.Context) (jsonrpc.Transport, error) { return wsrpc.Dial(ctx, target) }, nil
}

// hubTokenHeader is hub/front's.
const hubTokenHeader = "Tandemux-Hub-Token"

// hubToken is the session with the hub that the host is reached through, so that it is known
// who asks: of the host in the list that is the hub itself; empty if there is none.
func (p Endpoint) hubToken() string {
	if (p.scheme != "ws" && p.scheme != "wss") || !strings.Contains(p.url, p.scheme+"://") || !strings.Contains(p.url, "/hosts/") {
		return ""
	}
	list, err := hosts.Read(p.Dirs.Config)
	if err != nil {
		return ""
	}
	for _, h := range list {
		var hub Endpoint
		if u, err := url.Parse(h.URL); err != nil || h.TokenFile == "" || strings.Trim(u.Path, "/") != "" {
			continue
		}
		if hub.parse(h.URL, h.Name) != nil || hub.scheme != p.scheme || hub.host != p.host {
			continue
		}
		if token, err := readToken(h.TokenFile); err == nil {
			return token
		}
	}
	return ""
}

// InTheClear reports whether a token would cross a network unencrypted.
func (p Endpoint) InTheClear() bool {
	if p.scheme != "ws" || p.token == "" {
		return false
	}
	name, _, _ := net.SplitHostPort(p.host)
	ip, err := netip.ParseAddr(name)
	return name != "localhost" && (err != nil || !ip.Unmap().IsLoopback())
}

// ChildEnv is what a terminal inherits from the command that creates it. The
// host removes what describes the outer terminal.
func ChildEnv(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, kv := range environ {
		k, v, ok := strings.Cut(kv, "=")
		if ok && k != "" && !strings.HasPrefix(k, "TANDEMUX_PANE") && k != tokenEnv && k != hostEnv && k != daemon.ReadyEnv {
			env[k] = v
		}
	}
	return env
}

// MachineName is what the status line calls the machine that the host runs on.
func (p Endpoint) MachineName() string {
	switch {
	case p.Name != "":
		return p.Name
	case p.SSH != nil:
		return p.SSH.name
	case p.host != "":
		if name, _, err := net.SplitHostPort(p.host); err == nil {
			return name
		}
		return p.host
	}
	name, _ := os.Hostname() // nothing to show is fine
	return name
}
