package main

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
		record *hostRecord
		absent bool
	}{
		"nothing": {nil, true}, "ended": {&hostRecord{Ended: true}, true},
		"watched over": {&hostRecord{Foreground: true}, false}, "both": {&hostRecord{Foreground: true, Ended: true}, true},
	} {
		d := dirs{runtime: t.TempDir(), state: t.TempDir()}
		if c.record == nil {
			os.Remove(d.runtime)
		} else if err := d.putRecord(*c.record); err != nil {
			t.Fatal(err)
		}
		r := &reviver{dirs: d, dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			_, err := (&net.Dialer{}).DialContext(ctx, "unix", d.runtime+"/host.sock")
			return nil, err
		}}
		_, err := r.Dial(t.Context())
		if err == nil || errors.Is(err, client.ErrAbsent) != c.absent || !isNobodyThere(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
