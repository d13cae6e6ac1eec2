package server

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// open starts a hub's NATS for a test.
func open(t *testing.T, o Options) *Bus {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	b, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// as connects with a credential; what is refused comes by the channel.
func as(t *testing.T, b *Bus, c Credential, host string) (*nats.Conn, chan error) {
	t.Helper()
	user, err := c.options()
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 16)
	nc, err := nats.Connect("nats://"+b.Addr(), user, nats.CustomInboxPrefix(InboxOf(host)), nats.NoReconnect(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, refused
}

// TestCredential: a host may do what its grants say; one can't speak for another, nor read
// what is answered to it; a revoked one is cut off at once.
func TestCredential(t *testing.T) {
	t.Parallel()
	b := open(t, Options{})
	if c, err := nats.Connect("nats://" + b.Addr()); err == nil {
		c.Close()
		t.Fatal("the hub's NATS lets in who has no credential")
	}
	grant := func(host string) Grant {
		return Grant{Publish: []string{"said." + host}, Subscribe: []string{"told." + host}}
	}
	one, err := b.Invite("one", 0, grant("one"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.Invite("two", 0, grant("two"))
	if err != nil {
		t.Fatal(err)
	}
	n1, refused := as(t, b, one, "one")
	n2, _ := as(t, b, two, "two")
	heard, err := b.SubscribeSync("said.>")
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"said.two", "told.two", "$JS.API.STREAM.NAMES", "_INBOX_two.x", "$SYS.REQ.CLAIMS.UPDATE"} {
		n1.Publish(subject, []byte("x")) //nolint:errcheck // the refusal comes later
		if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("one publishes %s: %v", subject, err)
		}
	}
	for _, subject := range []string{"said.>", "told.two", "_INBOX_two.>", "_INBOX.>", ">"} {
		if _, err := n1.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("one subscribes to %s: %v", subject, err)
		}
	}
	n1.Publish("said.one", []byte("hello")) //nolint:errcheck // it is heard or not
	if m, err := heard.NextMsg(10 * time.Second); err != nil || m.Subject != "said.one" {
		t.Fatalf("the hub hears %v, %v", m, err)
	}

	cut := make(chan time.Time, 1)
	n1.SetClosedHandler(func(*nats.Conn) { cut <- time.Now() })
	before := time.Now()
	if err := b.Revoke(one.User); err != nil {
		t.Fatal(err)
	}
	select {
	case at := <-cut:
		t.Logf("cut off after %v", at.Sub(before))
	case <-time.After(10 * time.Second):
		t.Fatal("a revoked credential stays connected")
	}
	user, _ := one.options()
	if c, err := nats.Connect("nats://"+b.Addr(), user); err == nil {
		c.Close()
		t.Fatal("a revoked credential is let in again")
	}
	if err := n2.FlushTimeout(10 * time.Second); err != nil {
		t.Errorf("the other's connection: %v", err)
	}
}

// TestRestart: a hub that comes back is the same, knows who was revoked, and has what was
// stored.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	b, err := Start(t.Context(), Options{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := b.Invite("kept", 0)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := b.Invite("gone", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Revoke(gone.User); err != nil {
		t.Fatal(err)
	}
	b.Close()
	b = open(t, Options{Dir: dir})
	as(t, b, kept, "kept")
	user, _ := gone.options()
	if c, err := nats.Connect("nats://"+b.Addr(), user); err == nil {
		c.Close()
		t.Error("a hub that comes back lets in who was revoked")
	}
}
