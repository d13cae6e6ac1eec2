package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/host/agent/catalog"
	"tandemux/host/task/registry"
	"tandemux/internal/apiclient"
	"tandemux/internal/local"
	"tandemux/internal/taskcmd"
	"tandemux/internal/wsrpc"
)

// taskHost is the host as the commands about tasks see it.
func taskHost() taskcmd.Host {
	return taskcmd.Host{
		Open: func(cmd *cobra.Command) (*apiclient.Client, func(error) error, error) {
			p, err := placeOf(cmd)
			if err != nil {
				return nil, nil, err
			}
			c, err := p.api(cmd.Context())
			return c, p.explainAPI, err
		},
		Elsewhere: func(cmd *cobra.Command) (bool, error) {
			p, err := placeOf(cmd)
			return p.elsewhere(), err
		},
		Configured: func(name string) (registry.Definition, error) {
			s, err := loadSettings(local.FindDirs())
			if err != nil {
				return registry.Definition{}, err
			}
			r, ok := catalog.Named(s.catalog.Rows(), name)
			if !ok || len(r.Command) == 0 {
				return registry.Definition{}, fmt.Errorf("the configuration has no agent %q; `tandemux agents` lists them", name)
			}
			return definitionOf(r), nil
		},
	}
}

// api makes a client of the host's HTTP interface.
func (p place) api(ctx context.Context) (*apiclient.Client, error) {
	o := apiclient.Options{Token: p.token}
	switch p.scheme {
	case "":
		if err := p.dirs.Check(); err != nil {
			return nil, err
		}
		awake, err := p.dirs.Reach(ctx)
		if err != nil {
			return nil, err
		}
		awake.Close()
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			c, err := p.dirs.DialHost(ctx)
			if err != nil && local.NobodyThere(err) && p.dirs.HostDied() { // since it was awake
				return p.dirs.Reach(ctx)
			}
			return c, err
		}
	case "unix":
		o.Dial = unixDialer(strings.TrimPrefix(p.url, "unix://"))
	case "ssh":
		first := true
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			quiet := !first
			first = false
			return p.ssh.dial(ctx, quiet)
		}
	case "ws":
		o.URL = "http://" + p.host
		if p.inTheClear() {
			fmt.Fprintf(os.Stderr, "tandemux: %s is not encrypted: whoever is on the way can read the token and what you send\n", p.url)
		}
	case "wss":
		pin := p.pin
		if pin == "" {
			var err error
			if pin, err = trusted(p.dirs, p.host); err != nil {
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

func unixDialer(path string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
}

// explainAPI says what an error of the interface means and what to do.
func (p place) explainAPI(err error) error {
	var refused *apiclient.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.StatusCode == http.StatusUnauthorized && p.token == "":
		return fmt.Errorf("%s wants to know who you are: put a token or an API key into %s or a --token-file", p.url, tokenEnv)
	}
	return cmp.Or(p.distrusted(err), err)
}
