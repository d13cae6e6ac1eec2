package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"tandemux/internal/apiclient"
	"tandemux/internal/local"
	"tandemux/internal/wsrpc"
)

// API makes a client of the host's HTTP interface. A quiet one says and asks nothing:
// somebody else has the terminal.
func (p Endpoint) API(ctx context.Context, quiet bool) (*apiclient.Client, error) {
	if u, err := url.Parse(p.url); err == nil && strings.HasPrefix(u.Path, "/hosts/") {
		return nil, fmt.Errorf("%s goes through a hub, which carries no tasks' interface: ask the hub, or the host on its machine", p.url)
	}
	o := apiclient.Options{Token: p.token}
	if p.debug && !quiet {
		o.Debug = debugf
	}
	switch p.scheme {
	case "":
		if err := p.Dirs.Check(); err != nil {
			return nil, err
		}
		awake, err := p.Dirs.Reach(ctx)
		if err != nil {
			return nil, err
		}
		awake.Close()
		o.Away = changeTime // one that died is followed at once; one that was stopped isn't
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			c, err := p.Dirs.DialHost(ctx)
			if err != nil && local.NobodyThere(err) && p.Dirs.HostDied() { // since it was awake
				return p.Dirs.Reach(ctx)
			}
			return c, err
		}
	case "unix":
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimPrefix(p.url, "unix://"))
		}
	case "ssh":
		o.Dial = p.SSH.dialer(quiet)
	case "ws":
		o.URL = "http://" + p.host
		if !quiet && p.InTheClear() {
			fmt.Fprintf(os.Stderr, "tandemux: %s is not encrypted: whoever is on the way can read the token and what you send\n", p.url)
		}
	case "wss":
		pin := p.pin
		if pin == "" {
			var err error
			if pin, err = trusted(p.Dirs, p.host); err != nil {
				return nil, err
			}
		}
		name, _, err := net.SplitHostPort(p.host)
		if err != nil {
			return nil, fmt.Errorf("reach %s: %w", p.url, err)
		}
		o.URL = "https://" + p.host
		o.Transport = &http.Transport{TLSClientConfig: wsrpc.ClientTLS(name, pin), DisableCompression: true}
	}
	return apiclient.New(o), nil
}

// ExplainAPI says what an error of the interface means and what to do.
func (p Endpoint) ExplainAPI(err error) error {
	var refused *apiclient.Error
	var dial *net.OpError
	switch {
	case err == nil:
		return nil
	case p.Own() && errors.As(err, &dial) && dial.Op == "dial" && local.NobodyThere(err):
		return local.ErrNoHost // it was stopped meanwhile
	case errors.As(err, &refused) && refused.StatusCode == http.StatusUnauthorized && p.token == "":
		return fmt.Errorf("%s wants to know who you are: put a token or an API key into %s or a --token-file", p.url, tokenEnv)
	}
	return cmp.Or(p.distrusted(err), p.wrongScheme(err), err)
}
