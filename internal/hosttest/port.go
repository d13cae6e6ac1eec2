package hosttest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort is a port that nobody listens at, below those that systems give to whoever asks for
// any: what is started with it, and again, is likely to find it free. Any goroutine may call it.
func FreePort() (port string, err error) {
	for range 100 {
		port = strconv.Itoa(20000 + rand.IntN(12000))
		var l net.Listener
		if l, err = net.Listen("tcp", ":"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", errors.Join(errors.New("find a free port"), err)
}
