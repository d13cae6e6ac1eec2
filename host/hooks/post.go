package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// refusedError is an answer that another attempt would not change.
type refusedError struct{ status string }

func (e refusedError) Error() string { return "it answered " + e.status }

// Refused reports whether an error of Post's is an answer that another attempt would not
// change.
func Refused(err error) bool {
	_, is := errors.AsType[refusedError](err)
	return is
}

// calls are the POSTs of the owner's hooks, who names any address.
var calls = Client(true)

// dialTime bounds the making of a connection.
const dialTime = 15 * time.Second

// Client is one that follows nothing: what an address redirects to is not what was named.
// Unless it may go inside it reaches public addresses alone, whatever a name leads to.
func Client(inside bool) *http.Client {
	d := &net.Dialer{Timeout: dialTime}
	t := &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: dialTime, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 16 << 10, IdleConnTimeout: dialTime}
	if inside {
		t.Proxy = http.ProxyFromEnvironment
	} else {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !IsPublic(at.Addr()) {
				return errors.New("the name leads to a private network")
			}
			return nil
		}
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Post sends a body to an address, signed if there is a key (U95; Standard Webhooks 1.0.0).
// id is the event's, the same for each attempt. An error does not have the address, which
// may hold a secret.
func Post(ctx context.Context, c *http.Client, to string, key []byte, id string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address can't be used")
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", at)
	if key != nil {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
		r.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	a, err := c.Do(r)
	if err != nil {
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err
		}
		return err
	}
	defer a.Body.Close()
	io.CopyN(io.Discard, a.Body, 4<<10) //nolint:errcheck // so that the connection can be used again
	switch {
	case a.StatusCode < 300:
		return nil
	case a.StatusCode >= 500, a.StatusCode == http.StatusTooManyRequests, a.StatusCode == http.StatusRequestTimeout:
		return fmt.Errorf("it answered %s", a.Status)
	}
	return refusedError{a.Status}
}

const (
	keyPrefix = "whsec_"
	minKey    = 24 // bytes, as Standard Webhooks wants
	maxKey    = 64
)

// NewKey makes a secret.
func NewKey() string {
	var key [32]byte
	rand.Read(key[:]) //nolint:errcheck // never fails
	return keyPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// ParseKey reads a secret: "whsec_" and base64. The error does not have it.
func ParseKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), keyPrefix))
	if err != nil || len(key) < minKey || len(key) > maxKey {
		return nil, fmt.Errorf("a key is %s and %d to %d random bytes in base64", keyPrefix, minKey, maxKey)
	}
	return key, nil
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

// IsPublic reports whether an address is one of the internet's.
func IsPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
}
