package push

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
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
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !isPublic(ip) {
		return errors.New("the endpoint is an address of a private network")
	}
	return nil
}

// reserved are networks that netip has no word for and that lead inside, or nowhere.
var reserved = func() (all []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10", "::/96",
	} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}()

// isPublic reports whether an address is one of the internet's.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// public is a client that reaches public addresses alone, whatever a name leads to, and
// follows nothing.
func public() *http.Client {
	d := &net.Dialer{Timeout: sendTime, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr()) {
			return errors.New("the push service's name leads to a private network")
		}
		return nil
	}}
	return &http.Client{
		Timeout:       sendTime,
		Transport:     &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: sendTime, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 16 << 10, IdleConnTimeout: sendTime},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
