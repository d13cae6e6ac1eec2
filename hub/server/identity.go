package server

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"tandemux/internal/statefile"
)

// identityFile is the name in the state directory.
const identityFile = "identity.json"

// identity is who a hub is to NATS: what its nodes share. Seeds are secret.
type identity struct {
	Version  int    `json:"version"`
	Operator string `json:"operator"` // its JWT, which trusts the accounts
	System   tenant `json:"system"`   // NATS's own account: claims are changed by it
	Fleet    tenant `json:"fleet"`    // the account of hub and hosts
	Key      string `json:"key"`      // seed of the operator
	Route    string `json:"route"`    // what nodes of a cluster say to each other
}

// tenant is an account of NATS.
type tenant struct {
	JWT  string `json:"jwt"` // as it was first
	ID   string `json:"id"`
	Seed string `json:"seed"`
}

// openIdentity reads the identity of a state directory, and makes it where there is none.
func openIdentity(dir string) (*identity, error) {
	path := filepath.Join(dir, identityFile)
	text, err := statefile.Read(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		id, err := newIdentity()
		if err == nil {
			text, err = json.MarshalIndent(id, "", "\t")
		}
		if err == nil {
			err = statefile.Write(path, append(text, '\n'))
		}
		if err != nil {
			return nil, fmt.Errorf("make the hub's keys: %w", err)
		}
		return id, nil
	}
	id := &identity{}
	if err == nil {
		err = json.Unmarshal(text, id)
	}
	if err == nil && (id.Version != 1 || id.Operator == "" || id.Fleet.Seed == "" || id.System.Seed == "") {
		err = errors.New("it is not complete")
	}
	if err != nil {
		return nil, fmt.Errorf("read the hub's keys in %s: %w: repair it; without it no host that joined is let in", path, err)
	}
	return id, nil
}

func newIdentity() (*identity, error) {
	op, opID, opSeed, err := newKey(nkeys.CreateOperator)
	if err != nil {
		return nil, err
	}
	id := &identity{Version: 1, Key: opSeed, Route: rand.Text()}
	account := func(name string, jetstream bool) (tenant, error) {
		_, pub, seed, err := newKey(nkeys.CreateAccount)
		if err != nil {
			return tenant{}, err
		}
		c := jwt.NewAccountClaims(pub)
		c.Name = name
		if jetstream {
			c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1, MaxAckPending: -1}
		}
		text, err := c.Encode(op)
		return tenant{text, pub, seed}, err
	}
	if id.System, err = account("system", false); err != nil {
		return nil, err
	}
	if id.Fleet, err = account("fleet", true); err != nil {
		return nil, err
	}
	c := jwt.NewOperatorClaims(opID)
	c.Name, c.SystemAccount = "tandemux hub", id.System.ID
	id.Operator, err = c.Encode(op)
	return id, err
}

func newKey(create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, public, seed string, err error) {
	if pair, err = create(); err != nil {
		return nil, "", "", err
	}
	if public, err = pair.PublicKey(); err != nil {
		return nil, "", "", err
	}
	s, err := pair.Seed()
	return pair, public, string(s), err
}
