package server

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Grant is what a credential may publish and subscribe to. Subjects may have wildcards.
type Grant struct{ Publish, Subscribe []string }

// InboxOf is the prefix of the inboxes of a host: its own, so that no other reads what
// is answered to it.
func InboxOf(host string) string { return "_INBOX_" + host }

// issuer makes credentials of an account.
type issuer struct {
	key     nkeys.KeyPair
	account string
}

// Credential is one that was made: its text is NATS's format of .creds files.
type Credential struct {
	Text string
	// User is the public key, by which it is revoked.
	User string
}

// Bounds of what a host does in NATS.
const (
	maxHostSubs    = 2000
	maxHostPayload = 1 << 20
)

// issue makes a credential; without grants it may do everything in its account.
func (i *issuer) issue(name string, life time.Duration, grants ...Grant) (Credential, error) {
	_, pub, seed, err := newKey(nkeys.CreateUser)
	if err != nil {
		return Credential{}, err
	}
	c := jwt.NewUserClaims(pub)
	c.Name = name
	if id, err := i.key.PublicKey(); err == nil && id != i.account {
		c.IssuerAccount = i.account // the key is one that the account signs with
	}
	if life > 0 {
		c.Expires = time.Now().Add(life).Unix()
	}
	if grants != nil {
		c.Limits.Subs, c.Limits.Payload = maxHostSubs, maxHostPayload
		c.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: time.Minute}
		c.Sub.Allow.Add(InboxOf(name) + ".>")
		for _, g := range grants {
			c.Pub.Allow.Add(g.Publish...)
			c.Sub.Allow.Add(g.Subscribe...)
		}
	}
	text, err := c.Encode(i.key)
	if err != nil {
		return Credential{}, err
	}
	file, err := jwt.FormatUserConfig(text, []byte(seed))
	return Credential{string(file), pub}, err
}

// options are those of a connection with a credential.
func (c Credential) options() (nats.Option, error) {
	user, err := nkeys.ParseDecoratedJWT([]byte(c.Text))
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.ParseDecoratedNKey([]byte(c.Text))
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	return nats.UserJWTAndSeed(user, string(seed)), err
}

// Invite makes the credential of a host of this name, which ends after life (0: never) and
// may do what the grants say.
func (b *Bus) Invite(name string, life time.Duration, grants ...Grant) (Credential, error) {
	if b.issuer == nil {
		var need []string
		for _, g := range grants {
			need = append(need, "publish "+strings.Join(g.Publish, " "), "subscribe "+strings.Join(g.Subscribe, " "))
		}
		return Credential{}, fmt.Errorf("make a credential for %s: this NATS is not the hub's own: give `tandemux hub serve` the account's signing key (--nats-signing-key), or make a user there that may %s, and subscribe %s.>", name, strings.Join(need, ", "), InboxOf(name))
	}
	return b.issuer.issue(name, life, append([]Grant{{}}, grants...)...)
}

// errForeign is the error of who revokes what another NATS let in.
var errForeign = errors.New("this NATS is not the hub's own: its account has to revoke the user there (`nsc revocations add-user`)")

// Revoke ends a credential by its public key: its connections are cut, on every node, and
// it makes none any more.
func (b *Bus) Revoke(user string) error {
	if b.embedded == nil {
		return fmt.Errorf("revoke %s: %w", user, errForeign)
	}
	b.claims.Lock()
	defer b.claims.Unlock()
	text, err := b.resolver.LoadAcc(b.id.Fleet.ID)
	if err != nil {
		return fmt.Errorf("revoke a credential: %w", err)
	}
	c, err := jwt.DecodeAccountClaims(text)
	if err != nil {
		return fmt.Errorf("revoke a credential: %w", err)
	}
	op, err := nkeys.FromSeed([]byte(b.id.Key))
	if err != nil {
		return fmt.Errorf("revoke a credential: %w", err)
	}
	c.Revoke(user)
	// Of two claims the one with the later second is the newer one.
	time.Sleep(time.Until(time.Unix(c.IssuedAt+1, 0)))
	if text, err = c.Encode(op); err != nil {
		return fmt.Errorf("revoke a credential: %w", err)
	}
	reply, err := b.system.Request("$SYS.REQ.CLAIMS.UPDATE", []byte(text), 5*time.Second)
	if err == nil && !strings.Contains(string(reply.Data), `"code":200`) {
		err = fmt.Errorf("NATS says %.200s", reply.Data)
	}
	if err != nil {
		return fmt.Errorf("revoke a credential: %w", err)
	}
	return nil
}
