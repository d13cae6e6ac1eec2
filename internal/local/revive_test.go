package local

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"

	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
)

// TestAbsentHost: where nothing is left of a host, or it ended on purpose, a client is
// told so; one that somebody watches over may come back.
func TestAbsentHost(t *testing.T) {
	for name, c := range map[string]struct {
		record *Record
		absent bool
	}{
		"nothing": {nil, true}, "ended": {&Record{Ended: true}, true},
		"watched over": {&Record{Foreground: true}, false}, "both": {&Record{Foreground: true, Ended: true}, true},
	} {
		d := Dirs{Runtime: t.TempDir(), State: t.TempDir()}
		if c.record == nil {
			os.Remove(d.Runtime)
		} else if err := d.WriteRecord(*c.record); err != nil {
			t.Fatal(err)
		}
		r := &Reviver{Dirs: d, Connect: func(ctx context.Context) (jsonrpc.Transport, error) {
			_, err := (&net.Dialer{}).DialContext(ctx, "unix", d.Runtime+"/host.sock")
			return nil, err
		}}
		_, err := r.Dial(t.Context())
		if err == nil || errors.Is(err, client.ErrAbsent) != c.absent || !NobodyThere(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
