package wsrpc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"tandemux/internal/jsonrpc"
)

type Target struct {
	// URL is ws://host:port/path, wss://host:port/path or unix:///path/of/socket.
	URL string
	// Token is sent as Authorization: Bearer; empty for none. It is never part
	// of an error.
	Token string
	// Header has further headers of the request, none by default.
	Header http.Header
	// Fingerprint pins the certificate of a wss URL, in the form of
	// CheckFingerprint; empty means that it is verified as browsers do.
	Fingerprint string
	// Dial, if not nil, makes the connection that the WebSocket runs over; URL
	// is then ws://NAME, for the request alone. What it returns is closed with
	// the transport.
	Dial func(ctx context.Context) (net.Conn, error)
	// ReadLimit bounds a received message in bytes; 0 means ClientReadLimit.
	ReadLimit int64
}

// keepAlive makes the kernel notice within half a minute that a host on the
// other side of a network is gone, as when a laptop has changed networks.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// IsHub is the code of a hub's answer to who takes it for a host.
const IsHub = "is_a_hub"

// StatusError is an HTTP answer other than an upgrade, such as 401 for a wrong
// token.
type StatusError struct {
	Code int
	Body string // the first bytes of the answer's text
}

// Error names the status and the answer's text.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the host answered %d %s", e.Code, http.StatusText(e.Code))
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

// Dial connects. A refusal by the host's HTTP front is a *StatusError; a host
// whose certificate is another than the pinned one, or unknown, a
// *FingerprintError or *UntrustedError; a socket that is not there, or that
// nobody listens on, gives the system's error.
func Dial(ctx context.Context, t Target) (jsonrpc.Transport, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, errors.New("dial host: the address is not a URL")
	}
	network, address := "", ""
	switch u.Scheme {
	case "ws", "wss":
		if u.Host == "" {
			return nil, fmt.Errorf("dial host: %s://… has no host", u.Scheme)
		}
	case "unix":
		if u.Host != "" || u.Path == "" {
			return nil, errors.New("dial host: a unix address is unix:///path/of/socket")
		}
		network, address = "unix", u.Path
		u = &url.URL{Scheme: "ws", Host: "localhost", Path: "/"}
	default:
		return nil, fmt.Errorf("dial host: scheme %q is not ws, wss or unix", u.Scheme)
	}
	var sock *wire
	dial := func(ctx context.Context, n, a string) (net.Conn, error) {
		if t.Dial != nil {
			return t.Dial(ctx)
		}
		d := net.Dialer{KeepAliveConfig: keepAlive}
		return d.DialContext(ctx, cmp.Or(network, n), cmp.Or(address, a))
	}
	// The wire writes frames by itself, so that TLS must be below it.
	connect := func(ctx context.Context, n, a string) (net.Conn, error) {
		conn, err := dial(ctx, n, a)
		if err != nil {
			return nil, err
		}
		sock = newWire(conn, true)
		return sock, nil
	}
	connectTLS := func(ctx context.Context, n, a string) (net.Conn, error) {
		conn, err := dial(ctx, n, a)
		if err != nil {
			return nil, err
		}
		secure := tls.Client(conn, clientTLS(u.Hostname(), t.Fingerprint))
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		sock = newWire(secure, true)
		return sock, nil
	}
	header := http.Header{}
	maps.Copy(header, t.Header)
	if t.Token != "" {
		header.Set("Authorization", "Bearer "+t.Token)
	}
	transport := &http.Transport{
		DialContext:       connect,
		DialTLSContext:    connectTLS,
		DisableKeepAlives: true, // No connection outlives a refusal.
	}
	ws, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport: transport,
			// A redirection must not carry the token to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader:      header,
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, dialError(resp, err)
	}
	return newTransport(ws, sock, cmp.Or(t.ReadLimit, ClientReadLimit)), nil
}

// dialError leaves out the URL, whose query may hold a token.
func dialError(resp *http.Response, err error) error {
	if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
		e := &StatusError{Code: resp.StatusCode}
		if resp.Body != nil {
			b, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
			e.Body = strings.TrimSpace(string(b))
		}
		return fmt.Errorf("dial host: %w", e)
	}
	if ue, is := errors.AsType[*url.Error](err); is {
		err = ue.Err
	}
	return fmt.Errorf("dial host: %w", err)
}

// FingerprintError says that a host shows another certificate than the pinned
// one.
type FingerprintError struct {
	Want, Got string
}

// Error names both fingerprints.
func (e *FingerprintError) Error() string {
	return fmt.Sprintf("the host's certificate is %s and not %s, which is trusted", e.Got, e.Want)
}

// UntrustedError says that a host's certificate is vouched for by nobody whom
// this machine trusts, as when it is self-signed.
type UntrustedError struct {
	Fingerprint string // what to pin, once it is known to be right
	Err         error
}

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("the host's certificate %s is not trusted: %v", e.Fingerprint, e.Err)
}

// Unwrap gives the reason alone.
func (e *UntrustedError) Unwrap() error { return e.Err }

// CheckFingerprint gives the form of a fingerprint that Target takes:
// "sha256:" and 64 lower-case hex digits. It accepts colons between them.
func CheckFingerprint(s string) (string, error) {
	name, digits, _ := strings.Cut(strings.ToLower(s), ":")
	digits = strings.ReplaceAll(digits, ":", "")
	if sum, err := hex.DecodeString(digits); name != "sha256" || err != nil || len(sum) != sha256.Size {
		return "", errors.New(`a fingerprint is "sha256:" and 64 hex digits`)
	}
	return name + ":" + digits, nil
}

// clientTLS verifies the host's certificate: only by the pinned fingerprint, if there
// is one, whatever its name and dates; otherwise as browsers do.
func clientTLS(name, pinned string) *tls.Config {
	return &tls.Config{
		ServerName: name,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		// VerifyConnection does it, so that its error can name what to pin.
		InsecureSkipVerify: true, //nolint:gosec // see above
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the host showed no certificate")
			}
			leaf := s.PeerCertificates[0]
			sum := sha256.Sum256(leaf.Raw)
			got := "sha256:" + hex.EncodeToString(sum[:])
			if pinned != "" {
				if got != pinned {
					return &FingerprintError{Want: pinned, Got: got}
				}
				return nil
			}
			between := x509.NewCertPool()
			for _, c := range s.PeerCertificates[1:] {
				between.AddCert(c)
			}
			if _, err := leaf.Verify(x509.VerifyOptions{DNSName: s.ServerName, Intermediates: between}); err != nil {
				return &UntrustedError{Fingerprint: got, Err: err}
			}
			return nil
		},
	}
}

// ClientTLS is how a host's certificate is checked, for other clients of its
// listener: by a fingerprint, or, pinned being empty, as browsers do.
func ClientTLS(name, pinned string) *tls.Config { return clientTLS(name, pinned) }
