package local

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/client"
	"tandemux/internal/daemon"
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
		d := Dirs{Dirs: daemon.Dirs{Runtime: t.TempDir(), State: t.TempDir()}}
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

// TestRelativeRuntimeDir: host and clients run in different directories, so a relative one is
// none, as the XDG standard says.
func TestRelativeRuntimeDir(t *testing.T) {
	for _, dir := range []string{"", "rel", "./rel"} {
		t.Setenv("XDG_RUNTIME_DIR", dir)
		if got := FindDirs().Runtime; !filepath.IsAbs(got) || !strings.HasPrefix(got, os.TempDir()) {
			t.Errorf("XDG_RUNTIME_DIR=%q: %s", dir, got)
		}
	}
}

// TestCrashLogIsPrivate: nothing is started whose last words others could have changed, or
// would go where a link leads.
func TestCrashLogIsPrivate(t *testing.T) {
	d := Dirs{Dirs: daemon.Dirs{Runtime: t.TempDir(), State: t.TempDir()}}
	program, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	path := filepath.Join(d.State, "crash.log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(program, "host"); err == nil || !strings.Contains(err.Error(), "`chmod go-w "+path+"`") {
		t.Errorf("a file that others can write: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", path); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(program, "host"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link: %v", err)
	}
}

// TestSmallKeeper: the keeper is the small program that is installed beside this one,
// and is told its directories.
func TestSmallKeeper(t *testing.T) {
	self, err := Program()
	if err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(filepath.Dir(self), "tandemux-keeper")
	if err := os.WriteFile(small, []byte("#!/bin/sh\necho \"$0 $*, $GOMAXPROCS\" >&3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(small)
	t.Setenv("GOMAXPROCS", "7")
	d := Dirs{Dirs: daemon.Dirs{Runtime: "/run/somewhere", State: t.TempDir()}}
	if err := d.Start(nil, "keeper"); err == nil || err.Error() != small+" keeper /run/somewhere "+d.State+", 7" {
		t.Errorf("started: %v", err)
	}
}
