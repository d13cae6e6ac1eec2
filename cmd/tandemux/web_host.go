package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"

	"tandemux/host"
	"tandemux/host/front"
	"tandemux/host/listen"
	"tandemux/host/web"
	"tandemux/internal/apiclient"
	"tandemux/internal/endpoint"
	errkind "tandemux/internal/fault"
	"tandemux/internal/hosts"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/ui/link"
)

// beginWeb has the page for browsers be listened for where it was by the last host.
func beginWeb(ctx context.Context, page *web.Server, h *host.Host, d local.Dirs, log *slog.Logger) {
	h.Warn("the page for browsers", page.Begin(h.Front().Service("web"), func(addr string) (actual string, stop func(), err error) {
		ln, err := listen.Open(addr, d.State, log)
		if err != nil {
			return "", nil, err
		}
		ctx, stop := context.WithCancel(ctx)
		h.Front().Announce(front.TCP, ln)
		go h.Front().Serve(ctx, ln, front.TCP) //nolint:errcheck // ends with ctx
		return at(addr, ln), stop, nil
	}))
}

// othersOf are the hosts that this user has given names, for a page of theirs.
func othersOf(d local.Dirs) web.Others {
	named := func(name string) (endpoint.Endpoint, error) {
		list, err := hosts.Read(d.Config)
		if err != nil {
			return endpoint.Endpoint{}, err
		}
		h, ok := hosts.Find(list, name)
		if !ok {
			return endpoint.Endpoint{}, link.UnknownHostError(name)
		}
		p, err := endpoint.Named(d, h)
		return p.Quiet(), err
	}
	return web.Others{
		List: func() (all []web.Other, err error) {
			list, err := hosts.Read(d.Config)
			for _, h := range list {
				if h.Hub { // which has no terminals
					continue
				}
				all = append(all, web.Other{Name: h.Name, Place: h.URL + " " + h.TokenFile})
			}
			return all, err
		},
		Dial: func(ctx context.Context, name string) (jsonrpc.Transport, error) {
			p, err := named(name)
			if err != nil {
				return nil, err
			}
			return p.Dial(ctx)
		},
		API: func(ctx context.Context, name, method, path string, body io.Reader) (*http.Response, error) {
			p, err := named(name)
			if err != nil {
				return nil, err
			}
			c, err := p.API(ctx, true)
			if err != nil {
				return nil, err
			}
			r := apiclient.Request{Method: method, Path: path}
			if method == http.MethodPost {
				r.Raw, r.Type = body, "application/json"
			}
			got, err := c.Open(ctx, r)
			if e, is := errors.AsType[*apiclient.Error](err); is {
				return nil, errkind.New(e.StatusCode, "refused").Errorf("%w", e)
			}
			return got, p.ExplainAPI(err)
		},
	}
}

// at is an address with the port that a listener got.
func at(addr string, ln net.Listener) string {
	host, _, err := net.SplitHostPort(addr)
	_, port, err2 := net.SplitHostPort(ln.Addr().String())
	if err != nil || err2 != nil {
		return ln.Addr().String()
	}
	return net.JoinHostPort(host, port)
}
