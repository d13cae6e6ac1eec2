package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tandemux/internal/statefile"
)

// Environment is a named policy of an agent's (U28): production or preview.
type Environment struct {
	AgentID string          `db:"agent" json:"agent_id"`
	Name    string          `db:"name" json:"name"`
	Sticky  bool            `db:"sticky" json:"sticky" doc:"Running tasks stay on their version when another becomes active"`
	Policy  json.RawMessage `db:"policy" json:"policy,omitempty"`
	Updated time.Time       `db:"updated" json:"updated_at"`
}

// Environments lists an agent's by name.
func (s *Store) Environments(ctx context.Context, agent string) ([]Environment, error) {
	return all[Environment](ctx, s.reading(), "select agent, name, sticky, policy, updated from environments where agent = ? order by name", agent)
}

// needEnvironment makes an agent's environment when there is none of that name.
func (s *Store) needEnvironment(ctx context.Context, tx conn, agent, name string) error {
	return tx.exec(ctx, "insert into environments (agent, name, sticky, policy, updated) values (?, ?, 0, '', ?) on conflict do nothing", agent, name, s.moment().UnixMilli())
}

// Variable is one of an environment's (U96). Those that are secret are never
// shown; all are sealed in the database.
type Variable struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Secret  bool      `json:"secret,omitempty" doc:"Never shown again, and masked in logs"`
	Updated time.Time `json:"updated_at,omitzero" doc:"When it was set; is not taken"`
}

// variable is one as it is kept.
type variable struct {
	Agent       string    `db:"agent"`
	Environment string    `db:"environment"`
	Name        string    `db:"name"`
	Secret      bool      `db:"secret"`
	Sealed      []byte    `db:"sealed"`
	Updated     time.Time `db:"updated"`
}

// place is what the value is sealed for.
func (v variable) place() string { return v.Agent + "/" + v.Environment + "/" + v.Name }

// SetVariables adds or replaces variables, all or none. The environment is made
// when the agent has none of that name yet.
func (s *Store) SetVariables(ctx context.Context, agent, environment string, vars []Variable) error {
	return s.write(ctx, durable, func(tx conn) error {
		if err := s.needEnvironment(ctx, tx, agent, environment); err != nil {
			if _, foreign := constraint(err); foreign {
				return Errorf(NotFound, "there is no agent %.60q", agent)
			}
			return err
		}
		for _, v := range vars {
			if len(v.Value) > MaxValue {
				return Errorf(TooLarge, "the value of %s has %d bytes, more than %d", v.Name, len(v.Value), MaxValue)
			}
			row := variable{Agent: agent, Environment: environment, Name: v.Name, Secret: v.Secret, Updated: s.moment()}
			var err error
			if row.Sealed, err = s.seal.seal(v.Value, row.place()); err == nil {
				err = put(ctx, tx, "variables", 3, row)
			}
			if err != nil {
				return err
			}
		}
		n, err := one[int](ctx, tx, nil, "select count(*) from variables where agent = ? and environment = ?", agent, environment)
		if err == nil && n > MaxVariables {
			err = Errorf(TooLarge, "an environment has %d variables at most", MaxVariables)
		}
		return err
	})
}

// Variables gives an environment's by name, with their values: the caller masks
// what is secret.
func (s *Store) Variables(ctx context.Context, agent, environment string) ([]Variable, error) {
	return s.variables(ctx, s.reading(), agent, environment)
}

func (s *Store) variables(ctx context.Context, q conn, agent, environment string) ([]Variable, error) {
	rows, err := all[variable](ctx, q, "select agent, environment, name, secret, sealed, updated from variables where agent = ? and environment = ? order by name", agent, environment)
	vars := make([]Variable, len(rows))
	for i, r := range rows {
		vars[i] = Variable{Name: r.Name, Secret: r.Secret, Updated: r.Updated}
		if err := s.seal.unseal(r.Sealed, r.place(), &vars[i].Value); err != nil {
			return nil, err
		}
	}
	return vars, err
}

// DeleteVariable removes one.
func (s *Store) DeleteVariable(ctx context.Context, agent, environment, name string) error {
	return s.write(ctx, durable, func(tx conn) error {
		got, err := tx.ExecContext(ctx, "delete from variables where agent = ? and environment = ? and name = ?", agent, environment, name)
		if err != nil {
			return err
		}
		if n, err := got.RowsAffected(); err != nil || n == 0 {
			return Errorf(NotFound, "the environment %s has no variable %.60q", environment, name)
		}
		return nil
	})
}

// Snapshot gives the variables as they were when a version was made (U31), with
// their values.
func (s *Store) Snapshot(ctx context.Context, id string) ([]Variable, error) {
	sealed, err := one[[]byte](ctx, s.reading(), Errorf(NotFound, "there is no snapshot %.60q", id), "select sealed from snapshots where id = ?", id)
	if err != nil {
		return nil, err
	}
	vars := []Variable{}
	return vars, s.seal.unseal(sealed, id, &vars)
}

// sealer encrypts values, so that a copy of the database alone, or of one that
// was moved aside, gives none of them away. The key lies beside it, 0600.
type sealer struct{ aead cipher.AEAD }

const sealKeySize = 32

// openSealer reads the key, or makes one when there is none and nothing was
// sealed with another.
func openSealer(path string, used func() (bool, error)) (*sealer, error) {
	key, err := statefile.Read(path, sealKeySize+1)
	if err == nil && len(key) != sealKeySize {
		err = fmt.Errorf("it is not a file of %d bytes", sealKeySize)
	}
	if errors.Is(err, os.ErrNotExist) {
		had, err := used()
		if err != nil {
			return nil, err
		}
		if had {
			return nil, fmt.Errorf("the key of the variables' values, %s, is gone: put it back, or move %s away and begin anew", path, filepath.Join(filepath.Dir(path), File))
		}
		if key, err = makeKey(path); err != nil {
			return nil, fmt.Errorf("make the key of the variables' values: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("read the key of the variables' values %s: %w", path, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{aead}, nil
}

// makeKey writes a key that is on the disk, whole, before it is used.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, sealKeySize)
	rand.Read(key) //nolint:errcheck // never fails
	if err := statefile.Write(path, key); err != nil {
		return nil, err
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		d.Sync() //nolint:errcheck // not all file systems can
		d.Close()
	}
	return key, nil
}

// seal encrypts a value as JSON; about binds it to its place.
func (s *sealer) seal(v any, about string) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return s.aead.Seal(nil, nil, text, []byte(about)), nil
}

// unseal is its inverse.
func (s *sealer) unseal(sealed []byte, about string, v any) error {
	text, err := s.aead.Open(nil, nil, sealed, []byte(about))
	if err != nil {
		return fmt.Errorf("the value of %s can't be read with the key tasks.key: was one of the files put in from elsewhere?", about)
	}
	return json.Unmarshal(text, v)
}
