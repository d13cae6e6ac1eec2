package listen

import (
	"fmt"
	"log/slog"
	"net"

	"tandemux/internal/config/option"
)

// Settings say where else than on its socket a host listens.
type Settings struct {
	Addresses []string // of TCP, such as "127.0.0.1:7070"
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{{
		Name: "listen", Value: &s.Addresses,
		Doc: "Where the host also listens, such as \"127.0.0.1:7070\"; encrypted beyond this machine. Clients need a token: `tandemux token new`.",
		Check: option.Faulty(func() error {
			for _, addr := range s.Addresses {
				if _, err := resolve(addr); err != nil {
					return fmt.Errorf("%q is no address and port", addr)
				}
			}
			return nil
		}),
	}}
}

// Open listens on an address: without encryption on this machine's own, else with the
// certificate that is kept in the directory dir.
func Open(addr, dir string, log *slog.Logger) (net.Listener, error) {
	other, err := OtherMachines(addr)
	if err != nil {
		return nil, err
	}
	if !other {
		return TCP(addr, false)
	}
	c, err := SelfSigned(dir, log)
	if err != nil {
		return nil, err
	}
	return TLS(addr, c)
}
