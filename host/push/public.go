package push

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"tandemux/host/hooks"
)

// checkEndpoint refuses an address that no push service has.
func checkEndpoint(text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxEndpoint:
		return fmt.Errorf("the endpoint has more than %d bytes", maxEndpoint)
	case err != nil, u.Scheme != "https", u.Hostname() == "", u.User != nil, u.Fragment != "":
		return errors.New("the endpoint is no https address of a push service")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !hooks.IsPublic(ip) {
		return errors.New("the endpoint is an address of a private network")
	}
	return nil
}

// public is a client that reaches public addresses alone.
func public() *http.Client {
	c := hooks.Client(false)
	c.Timeout = sendTime
	return c
}
