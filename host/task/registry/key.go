package registry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"sync"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// SecretPrefix begins the secret of every new key, and no token of the host.
const SecretPrefix = "tandemux_sk_"

// touchEvery is the precision of a key's time of last use.
const touchEvery = time.Minute

// keyring has all valid keys in memory, and decides whether a key is valid. It is changed before a
// method that revokes a key returns.
type keyring struct {
	mu     sync.Mutex
	byHash map[[32]byte]*keyEntry
	byID   map[string]*keyEntry
}

type keyEntry struct {
	key   store.APIKey
	ended chan struct{} // closed when the key is revoked or its scopes change
	used  time.Time
}

func (k *keyring) load(ctx context.Context, s *store.Store) error {
	all, err := s.ValidKeys(ctx)
	if err != nil {
		return err
	}
	k.byHash, k.byID = map[[32]byte]*keyEntry{}, map[string]*keyEntry{}
	for _, key := range all {
		k.put(key)
	}
	return nil
}

// put adds a key, or replaces it, which ends what was begun with it.
func (k *keyring) put(key store.APIKey) {
	if len(key.Hash) != sha256.Size {
		return // damaged, so no secret matches
	}
	k.drop(key.ID)
	e := &keyEntry{key: key, ended: make(chan struct{}), used: key.Used}
	k.byHash[[32]byte(key.Hash)], k.byID[key.ID] = e, e
}

func (k *keyring) drop(id string) {
	if e := k.byID[id]; e != nil {
		delete(k.byHash, [32]byte(e.key.Hash))
		delete(k.byID, id)
		close(e.ended)
	}
}

func (e *keyEntry) expired(now time.Time) bool {
	return !e.key.Expires.IsZero() && !now.Before(e.key.Expires)
}

// Authenticate returns the id of the valid key with the secret. It looks secrets up by their SHA-256,
// so its time reveals nothing about them.
func (r *Registry) Authenticate(secret string) (keyID string, ok bool) {
	sum := sha256.Sum256([]byte(secret))
	now := r.o.Now()
	r.keys.mu.Lock()
	e := r.keys.byHash[sum]
	ok = e != nil && !e.expired(now)
	touch := ok && now.Sub(e.used) >= touchEvery
	if touch {
		e.used = now
	}
	if ok {
		keyID = e.key.ID
	}
	r.keys.mu.Unlock()
	if touch {
		if err := r.store.TouchKey(context.Background(), keyID, now); err != nil {
			r.o.Log.Warn("note that a key was used", "key", keyID, "err", err)
		}
	}
	return keyID, ok
}

// Principal returns the principal of a key with its current scopes. ended is closed once the key is
// revoked or its scopes change; what was begun with the key must end then (U88).
func (r *Registry) Principal(keyID string) (who access.Principal, ended <-chan struct{}, ok bool) {
	r.keys.mu.Lock()
	defer r.keys.mu.Unlock()
	e := r.keys.byID[keyID]
	if e == nil || e.expired(r.o.Now()) {
		return access.Principal{}, nil, false
	}
	return access.Principal{Kind: access.Key, ID: e.key.ID, Scopes: e.key.Scopes}, e.ended, true
}

// NewKey describes a key to make.
type NewKey struct {
	Name    string         `json:"name"`
	Scopes  []access.Scope `json:"scopes" doc:"A resource's id may be its name, or * for all"`
	Expires time.Time      `json:"expires_at,omitzero"` // zero: never
}

// MadeKey is a new key with its secret, which is stored nowhere (U87).
type MadeKey struct {
	store.APIKey
	Secret string `json:"api_key" doc:"The secret; it is not shown again"`
}

func (r *Registry) CreateKey(ctx context.Context, who access.Principal, n NewKey) (MadeKey, error) {
	if err := operate(who, "make keys"); err != nil {
		return MadeKey{}, err
	}
	if err := access.CheckName("a key", n.Name); err != nil {
		return MadeKey{}, store.Errorf(store.Invalid, "%w", err)
	}
	if !n.Expires.IsZero() && !n.Expires.After(r.o.Now()) {
		return MadeKey{}, store.Errorf(store.Invalid, "the key would have expired at %s", n.Expires.Format(time.RFC3339))
	}
	scopes, err := r.scopes(ctx, n.Scopes)
	if err != nil {
		return MadeKey{}, err
	}
	var raw [32]byte
	rand.Read(raw[:]) //nolint:errcheck // never fails
	secret := SecretPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	sum := sha256.Sum256([]byte(secret))
	r.keys.mu.Lock() // so that no revocation comes between
	defer r.keys.mu.Unlock()
	k, err := r.store.CreateKey(ctx, store.APIKey{Name: n.Name, Hash: sum[:], Scopes: scopes, Author: who.String(), Expires: n.Expires})
	if err != nil {
		return MadeKey{}, err
	}
	r.keys.put(k)
	return MadeKey{k, secret}, nil
}

// scopes checks scopes and replaces names in them by ids.
func (r *Registry) scopes(ctx context.Context, scopes []access.Scope) ([]access.Scope, error) {
	if len(scopes) == 0 {
		return nil, store.Errorf(store.Invalid, "a key needs scopes, such as agent:*:executor")
	}
	if len(scopes) > access.MaxScopes {
		return nil, store.Errorf(store.Invalid, "a key has %d scopes, more than %d", len(scopes), access.MaxScopes)
	}
	resolved := []access.Scope{}
	for _, s := range scopes {
		if err := s.Check(); err != nil {
			return nil, store.Errorf(store.Invalid, "%w", err)
		}
		if s.ID != access.All {
			var err error
			switch s.Kind {
			case access.Agent:
				var a store.Agent
				a, err = r.store.Agents.Find(ctx, s.ID)
				s.ID = a.ID
			case access.Project:
				var p store.Project
				p, err = r.store.Projects.Find(ctx, s.ID)
				s.ID = p.ID
			}
			if errors.Is(err, store.NotFound) {
				err = store.Errorf(store.Invalid, "%w", err)
			}
			if err != nil {
				return nil, err
			}
		}
		if !slices.Contains(resolved, s) {
			resolved = append(resolved, s)
		}
	}
	return resolved, nil
}

// Keys lists all keys, including revoked ones.
func (r *Registry) Keys(ctx context.Context, who access.Principal, p store.Page) ([]store.APIKey, string, error) {
	if err := operate(who, "list keys"); err != nil {
		return nil, "", err
	}
	return r.store.Keys.List(ctx, nil, p)
}

func (r *Registry) Key(ctx context.Context, who access.Principal, ref string) (store.APIKey, error) {
	if err := operate(who, "look at keys"); err != nil {
		return store.APIKey{}, err
	}
	return r.store.Key(ctx, ref)
}

// RevokeKey revokes a key at once: from now on it authenticates nobody, and what was begun with it
// ends (U88). If that can't be stored, the key is still revoked until this process ends.
func (r *Registry) RevokeKey(ctx context.Context, who access.Principal, ref string) (store.APIKey, error) {
	k, err := r.Key(ctx, who, ref)
	if err != nil {
		return k, err
	}
	if !k.Revoked.IsZero() {
		return k, nil
	}
	r.keys.mu.Lock()
	defer r.keys.mu.Unlock()
	r.keys.drop(k.ID)
	return r.store.Keys.Edit(context.WithoutCancel(ctx), k.ID, func(k *store.APIKey) error {
		k.Revoked, k.Scopes = r.o.Now(), []access.Scope{}
		return nil
	})
}

// SetScopes replaces a key's scopes. What was begun with the key ends, so that it begins again with
// the new scopes.
func (r *Registry) SetScopes(ctx context.Context, who access.Principal, ref string, scopes []access.Scope) (store.APIKey, error) {
	k, err := r.Key(ctx, who, ref)
	if err != nil {
		return k, err
	}
	if scopes, err = r.scopes(ctx, scopes); err != nil {
		return k, err
	}
	r.keys.mu.Lock()
	defer r.keys.mu.Unlock()
	k, err = r.store.Keys.Edit(ctx, k.ID, func(k *store.APIKey) error {
		if !k.Revoked.IsZero() {
			return store.Errorf(store.Stale, "the key %s was revoked", k.Name)
		}
		k.Scopes = scopes
		return nil
	})
	if err == nil {
		r.keys.put(k)
	}
	return k, err
}
