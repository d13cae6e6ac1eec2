package listen

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// HostNames are the names that an HTTP request may know a listener by.
type HostNames struct {
	address     net.Addr
	certificate *Certificate // nil unless encrypted
	configured  []string
	hostname    string // the machine's
}

// NamesOf are a listener's, besides those that are configured.
func NamesOf(ln net.Listener, configured []string, hostname string) HostNames {
	n := HostNames{address: ln.Addr(), configured: configured, hostname: hostname}
	if s, ok := ln.(*secureListener); ok {
		n.certificate = s.certificate
	}
	return n
}

// Origin is the Origin of pages from the listener itself, for the Host header of a
// request.
func (n HostNames) Origin(host string) string {
	if n.certificate != nil {
		return "https://" + host
	}
	return "http://" + host
}

// Allow reports whether a Host header names the listener. It keeps out names that an
// attacker's DNS points at us (DNS rebinding).
func (n HostNames) Allow(host string) bool {
	name, port := splitPort(host)
	own, ok := n.address.(*net.TCPAddr)
	if !ok {
		return false
	}
	if want := own.AddrPort().Port(); port != "" && port != strconv.Itoa(int(want)) {
		return false
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	listen := own.AddrPort().Addr().Unmap()
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip == listen ||
			// An address cannot be rebound; listening everywhere, any is ours.
			listen.IsUnspecified()
	}
	named := func(s string) bool { return strings.EqualFold(s, name) }
	switch {
	case name == "localhost" || slices.ContainsFunc(n.configured, named):
		return true
	case name == "" || strings.ContainsAny(name, "*/ "):
		return false
	case n.certificate != nil && n.certificate.isFor(name):
		return true
	}
	// This machine's own name, where others than loopback may connect.
	return !listen.IsLoopback() && (named(n.hostname) || named(n.hostname+".local"))
}

func splitPort(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return host, ""
}
