package front

import (
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// silent is a connection that says nothing.
type silent struct {
	net.Conn
	from   net.IP
	closed bool
}

func (c *silent) RemoteAddr() net.Addr { return &net.TCPAddr{IP: c.from, Port: 1} }
func (c *silent) Close() error         { c.closed = true; return nil }

// TestCrowdOfNetworks: connections from a network each don't keep others out, whom nobody
// exceeds: what is dropped is the crowd's, also while it goes on to come.
func TestCrowdOfNetworks(t *testing.T) {
	const most = 64
	e := newEntrance(New(Config{Connections: most, HeaderTime: 5 * time.Second, Log: slog.New(slog.DiscardHandler)}), TCP, port7070{})
	networks := 0
	come := func() {
		networks++
		e.count(&silent{from: net.IP{0x20, 1, 0xd, 0xb8, 0, 1, byte(networks >> 8), byte(networks), 15: 1}}, http.StateNew)
	}
	for range 2 * crowded * most {
		come()
	}
	const clients = 100
	lost := 0
	for range clients {
		c := &silent{from: net.IPv4(192, 0, 2, 1)}
		e.count(c, http.StateNew)
		for range most / 4 {
			come()
		}
		if c.closed {
			lost++
		}
		e.count(c, http.StateClosed)
	}
	t.Logf("%d of %d clients were dropped before they said who they are", lost, clients)
	if lost > clients/10 {
		t.Errorf("%d of %d", lost, clients)
	}
}
