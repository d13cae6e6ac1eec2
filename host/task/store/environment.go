package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// Environment is a named policy of an agent's (U28): production or preview.
type Environment struct {
	AgentID string          `json:"agent_id"`
	Name    string          `json:"name"`
	Sticky  bool            `json:"sticky" doc:"Running tasks stay on their version when another becomes active"`
	Policy  json.RawMessage `json:"policy,omitempty"`
	Updated time.Time       `json:"updated_at"`
}

const environmentColumns = "agent, name, sticky, policy, updated"

func (e *Environment) row() []any {
	return []any{&e.AgentID, &e.Name, &e.Sticky, doc{&e.Policy}, at{&e.Updated}}
}

func putEnvironment(ctx context.Context, tx *sql.Tx, e *Environment) error {
	_, err := tx.ExecContext(ctx, "insert or replace into environments ("+environmentColumns+") values ("+places(5)+")", e.row()...)
	return err
}

// Environments lists an agent's by name.
func (s *Store) Environments(ctx context.Context, agent string) ([]Environment, error) {
	found, err := all[Environment](ctx, s.r, "select "+environmentColumns+" from environments where agent = ? order by name", agent)
	return found, s.explain(err)
}

// Environment finds one.
func (s *Store) Environment(ctx context.Context, agent, name string) (Environment, error) {
	e, err := one[Environment](ctx, s.r, Errorf(NotFound, "the agent has no environment %.60q", name),
		"select "+environmentColumns+" from environments where agent = ? and name = ?", agent, name)
	return e, s.explain(err)
}

// Variable is one of an environment's (U96). Those that are secret are never
// shown; all are sealed in the database.
type Variable struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Secret  bool      `json:"secret"`
	Updated time.Time `json:"updated_at"`
}

// place is what a variable's value is sealed for.
func place(agent, environment, name string) string { return agent + "/" + environment + "/" + name }

// SetVariables adds or replaces variables, all or none. The environment is made
// when the agent has none of that name yet.
func (s *Store) SetVariables(ctx context.Context, agent, environment string, vars []Variable) error {
	return s.write(ctx, durable, func(tx *sql.Tx) error {
		now := s.moment()
		if _, err := tx.ExecContext(ctx, "insert or ignore into environments (agent, name, sticky, policy, updated) values (?, ?, 0, '', ?)", agent, environment, now.UnixMilli()); err != nil {
			if _, foreign := constraint(err); foreign {
				return Errorf(NotFound, "there is no agent %.60q", agent)
			}
			return err
		}
		for _, v := range vars {
			if len(v.Value) > MaxValue {
				return Errorf(TooLarge, "the value of %s has %d bytes, more than %d", v.Name, len(v.Value), MaxValue)
			}
			sealed, err := s.seal.seal(v.Value, place(agent, environment, v.Name))
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "insert or replace into variables (agent, environment, name, secret, sealed, updated) values ("+places(6)+")",
				agent, environment, v.Name, v.Secret, sealed, now.UnixMilli()); err != nil {
				return err
			}
		}
		var n int
		err := tx.QueryRowContext(ctx, "select count(*) from variables where agent = ? and environment = ?", agent, environment).Scan(&n)
		if err == nil && n > MaxVariables {
			err = Errorf(TooLarge, "an environment has %d variables at most", MaxVariables)
		}
		return err
	})
}

// Variables gives an environment's by name, with their values: the caller masks
// what is secret.
func (s *Store) Variables(ctx context.Context, agent, environment string) ([]Variable, error) {
	vars, err := s.variables(ctx, s.r, agent, environment)
	return vars, s.explain(err)
}

func (s *Store) variables(ctx context.Context, q querier, agent, environment string) ([]Variable, error) {
	rows, err := q.QueryContext(ctx, "select name, secret, sealed, updated from variables where agent = ? and environment = ? order by name", agent, environment)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	vars := []Variable{}
	for rows.Next() {
		var v Variable
		var sealed []byte
		if err := rows.Scan(&v.Name, &v.Secret, &sealed, at{&v.Updated}); err != nil {
			return nil, err
		}
		if err := s.seal.unseal(sealed, place(agent, environment, v.Name), &v.Value); err != nil {
			return nil, err
		}
		vars = append(vars, v)
	}
	return vars, rows.Err()
}

// DeleteVariable removes one.
func (s *Store) DeleteVariable(ctx context.Context, agent, environment, name string) error {
	return s.write(ctx, durable, func(tx *sql.Tx) error {
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
	var sealed []byte
	err := s.r.QueryRowContext(ctx, "select sealed from snapshots where id = ?", id).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, Errorf(NotFound, "there is no snapshot %.60q", id)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	vars := []Variable{}
	return vars, s.seal.unseal(sealed, id, &vars)
}
