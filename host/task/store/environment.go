package store

import (
	"context"
	"encoding/json"
	"time"
)

// Environment is a named set of rules of an agent (U28): production or preview.
type Environment struct {
	AgentID string          `db:"agent" json:"agent_id"`
	Name    string          `db:"name" json:"name"`
	Sticky  bool            `db:"sticky" json:"sticky" doc:"Running tasks stay on their version when another becomes active"`
	Policy  json.RawMessage `db:"policy" json:"policy,omitempty"`
	Updated time.Time       `db:"updated" json:"updated_at"`
}

// Environments returns an agent's environments, by name.
func (s *Store) Environments(ctx context.Context, agent string) ([]Environment, error) {
	return all[Environment](ctx, s.reading(), "select agent, name, sticky, policy, updated from environments where agent = ? order by name", agent)
}

// needEnvironment makes an agent's environment unless it exists.
func (s *Store) needEnvironment(ctx context.Context, tx conn, agent, name string) error {
	return tx.exec(ctx, "insert into environments (agent, name, sticky, policy, updated) values (?, ?, 0, '', ?) on conflict do nothing", agent, name, s.moment().UnixMilli())
}

// Variable is a variable of an environment (U96). Secret ones are never shown; all are encrypted in
// the database.
type Variable struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Secret  bool      `json:"secret,omitempty" doc:"Never shown again, and masked in logs"`
	Updated time.Time `json:"updated_at,omitzero" doc:"When it was set; is not taken"`
}

// variable is a Variable as it is stored.
type variable struct {
	Agent       string    `db:"agent"`
	Environment string    `db:"environment"`
	Name        string    `db:"name"`
	Secret      bool      `db:"secret"`
	Sealed      []byte    `db:"sealed"`
	Updated     time.Time `db:"updated"`
}

// place returns what a value is encrypted for, so that it can't be moved to another variable.
func (v variable) place() string { return v.Agent + "/" + v.Environment + "/" + v.Name }

// SetVariables adds or replaces variables, either all or, on an error, none. It makes the environment
// if it does not exist.
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

// Variables returns an environment's variables with their values, by name. The caller has to mask
// secret ones.
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

// Snapshot returns the variables as they were when a version was made (U31), with their values.
func (s *Store) Snapshot(ctx context.Context, id string) ([]Variable, error) {
	sealed, err := one[[]byte](ctx, s.reading(), Errorf(NotFound, "there is no snapshot %.60q", id), "select sealed from snapshots where id = ?", id)
	if err != nil {
		return nil, err
	}
	vars := []Variable{}
	return vars, s.seal.unseal(sealed, id, &vars)
}
