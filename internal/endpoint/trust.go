package endpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/wsrpc"
)

// trustName is the file of trusted hosts in the state directory: "HOST:PORT
// FINGERPRINT" a line, the last one of a host counts.
const trustName = "trusted_hosts"

// trusted gives the fingerprint that was trusted for a host; empty for none.
func trusted(d local.Dirs, host string) (string, error) {
	path := filepath.Join(d.State, trustName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the trusted hosts: %w", err)
	}
	found, n := "", 0
	for line := range strings.Lines(string(text)) {
		n++
		name, pin, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != host {
			continue
		}
		if found, err = wsrpc.CheckFingerprint(strings.TrimSpace(pin)); err != nil {
			// Not passed over: another line might hold an older one.
			return "", fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return found, nil
}

func trust(d local.Dirs, host, pin string) error {
	err := os.MkdirAll(d.State, 0o700)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(filepath.Join(d.State, trustName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %s\n", host, pin)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("remember the trusted host: %w", err)
	}
	return nil
}

// pinned dials a wss host by the fingerprint of --fingerprint, which is
// remembered once the host has shown it, or by the one remembered, or, having
// none, as browsers do.
func (p Endpoint) pinned(target wsrpc.Target) (func(context.Context) (jsonrpc.Transport, error), error) {
	known, err := trusted(p.Dirs, p.host)
	if err != nil {
		return nil, err
	}
	target.Fingerprint = known
	if p.pin != "" {
		target.Fingerprint = p.pin
	}
	var once sync.Once
	return func(ctx context.Context) (jsonrpc.Transport, error) {
		t, err := wsrpc.Dial(ctx, target)
		var answered *wsrpc.StatusError
		if p.pin != "" && p.pin != known && (err == nil || errors.As(err, &answered)) {
			var failed error
			once.Do(func() { failed = trust(p.Dirs, p.host, p.pin) })
			if failed != nil && err == nil {
				t.Close(1000, "") //nolint:errcheck // the reason is failed
				return nil, failed
			}
		}
		return t, err
	}, nil
}

// distrusted words an error about a certificate; nil when err is none.
func (p Endpoint) distrusted(err error) error {
	var other *wsrpc.FingerprintError
	var unknown *wsrpc.UntrustedError
	switch {
	case errors.As(err, &other) && p.pin != "":
		return fmt.Errorf("the certificate of %s is %s and not the one of --fingerprint: compare it with what `tandemux doctor` says on that machine", p.url, other.Got)
	case errors.As(err, &other):
		return fmt.Errorf("the certificate of %s has changed: it is %s, and %s was trusted: if `tandemux doctor` on that machine shows the new one, trust it with --fingerprint %s; if not, somebody is in between",
			p.url, other.Got, other.Want, other.Got)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s, %s, is vouched for by nobody this machine knows: if `tandemux doctor` on that machine shows the same, trust it with --fingerprint %s",
			p.url, unknown.Fingerprint, unknown.Fingerprint)
	}
	return nil
}
