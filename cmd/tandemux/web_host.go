package main

import (
	"context"
	"log/slog"
	"net"

	"tandemux/host"
	"tandemux/host/front"
	"tandemux/host/listen"
	"tandemux/host/web"
	"tandemux/internal/local"
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

// at is an address with the port that a listener got.
func at(addr string, ln net.Listener) string {
	host, _, err := net.SplitHostPort(addr)
	_, port, err2 := net.SplitHostPort(ln.Addr().String())
	if err != nil || err2 != nil {
		return ln.Addr().String()
	}
	return net.JoinHostPort(host, port)
}
