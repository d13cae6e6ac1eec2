package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// TestGiven: a NATS that somebody else runs is used by its URL and credentials; with the
// account's signing key hosts are invited, without it who asks is told what to allow.
func TestGiven(t *testing.T) {
	t.Parallel()
	theirs := open(t, Options{})
	dir := t.TempDir()
	c, err := theirs.issuer.issue("hub", 0)
	if err != nil {
		t.Fatal(err)
	}
	key, err := theirs.issuer.key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	creds, signing := filepath.Join(dir, "hub.creds"), filepath.Join(dir, "key")
	for path, text := range map[string][]byte{creds: []byte(c.Text), signing: key} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grant := Grant{Publish: []string{"said.one"}}
	b, err := Dial(t.Context(), Given{URL: "nats://" + theirs.Addr(), Credentials: creds})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if kv, err := b.Bucket(t.Context(), jetstream.KeyValueConfig{Bucket: "b"}, nil); err != nil {
		t.Error(err)
	} else if _, err := kv.Put(t.Context(), "k", []byte("v")); err != nil {
		t.Error(err)
	}
	if _, err := b.Invite("one", 0, grant); err == nil || !strings.Contains(err.Error(), "publish said.one") {
		t.Errorf("an invitation without a key: %v", err)
	}
	if err := b.Revoke("U"); err == nil || !strings.Contains(err.Error(), "nsc revocations") {
		t.Errorf("revoking there: %v", err)
	}
	signs, err := Dial(t.Context(), Given{URL: "nats://" + theirs.Addr(), Credentials: creds, SigningKey: signing})
	if err != nil {
		t.Fatal(err)
	}
	defer signs.Close()
	one, err := signs.Invite("one", 0, grant)
	if err != nil {
		t.Fatal(err)
	}
	nc, refused := as(t, theirs, one, "one")
	nc.Publish("said.two", nil) //nolint:errcheck // the refusal comes later
	if err := <-refused; err == nil {
		t.Error("it may publish all")
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := pair.Seed()
	if err := os.WriteFile(signing, []byte("no"+string(seed)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), Given{URL: "nats://" + theirs.Addr(), Credentials: creds, SigningKey: signing}); err == nil {
		t.Error("a key that is none is taken")
	}
	for v, ok := range map[string]bool{"2.9.25": false, "2.10.0": true, "2.10.0-beta": true, "2.15.3": true, "3.0.0": true, "": false} {
		if newer(v, leastServer) != ok {
			t.Errorf("version %q", v)
		}
	}
}
