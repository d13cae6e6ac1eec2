package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// State is a document of a task's and an agent's (U12–U16, U57).
type State struct {
	n       int64
	ID      string          `json:"id"`
	TaskID  string          `json:"task_id"`
	AgentID string          `json:"agent_id"`
	State   json.RawMessage `json:"state"`
	Created time.Time       `json:"created_at"`
	Updated time.Time       `json:"updated_at"`
}

func (*State) kind() kind {
	return kind{"state", "states", "n, id, task, agent, state, created, updated"}
}

func (v *State) row() []any {
	return []any{&v.n, &v.ID, &v.TaskID, &v.AgentID, doc{&v.State}, at{&v.Created}, at{&v.Updated}}
}

// checkState says whether a document is an object of bearable size.
func checkState(raw json.RawMessage) error {
	if err := checkDoc("the state", raw, MaxState); err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return Errorf(Invalid, "a state is a JSON object")
	}
	return nil
}

// CreateState makes the state of a task and an agent, of which there is one.
func (s *Store) CreateState(ctx context.Context, task, agent string, state json.RawMessage) (State, error) {
	v := State{ID: NewID("st"), TaskID: task, AgentID: agent, State: state, Created: s.moment()}
	v.Updated = v.Created
	if err := checkState(state); err != nil {
		return v, err
	}
	return v, s.write(ctx, relaxed, func(tx *sql.Tx) error {
		return insert(ctx, tx, &v, Errorf(Exists, "the task has a state for this agent already"))
	})
}

// State finds the one of a task and an agent.
func (s *Store) State(ctx context.Context, task, agent string) (State, error) {
	v, err := one[State](ctx, s.r, Errorf(NotFound, "the task has no state for this agent"), query[State]()+"task = ? and agent = ?", task, agent)
	return v, s.explain(err)
}

// StateByID finds one.
func (s *Store) StateByID(ctx context.Context, id string) (State, error) {
	return get[State](ctx, s, id)
}

// States lists those of a task, or for "" of all, oldest first.
func (s *Store) States(ctx context.Context, task string, p Page) ([]State, string, error) {
	return page[State](ctx, s, p, false, "(?1 = '' or task = ?1) and ", task)
}

// MergeState changes a state by a JSON merge patch (RFC 7396): members of objects
// are set, null removes, all else replaces (U14).
func (s *Store) MergeState(ctx context.Context, id string, patch json.RawMessage) (State, error) {
	if err := checkState(patch); err != nil {
		return State{}, err
	}
	return s.changeState(ctx, id, func(have json.RawMessage) (json.RawMessage, error) { return mergePatch(have, patch) })
}

// ReplaceState changes a state as a whole (U57).
func (s *Store) ReplaceState(ctx context.Context, id string, state json.RawMessage) (State, error) {
	return s.changeState(ctx, id, func(json.RawMessage) (json.RawMessage, error) { return state, nil })
}

func (s *Store) changeState(ctx context.Context, id string, change func(json.RawMessage) (json.RawMessage, error)) (State, error) {
	return edit(ctx, s, relaxed, id, func(v *State) (err error) {
		v.Updated = s.moment()
		if v.State, err = change(v.State); err == nil {
			err = checkState(v.State)
		}
		return err
	})
}

// DeleteState removes one.
func (s *Store) DeleteState(ctx context.Context, id string) error {
	return s.write(ctx, relaxed, func(tx *sql.Tx) error { return remove[State](ctx, tx, id) })
}

// mergePatch applies a merge patch. Numbers stay as they are written.
func mergePatch(target, patch json.RawMessage) (json.RawMessage, error) {
	var a, b any
	for _, d := range []struct {
		raw json.RawMessage
		to  *any
	}{{target, &a}, {patch, &b}} {
		dec := json.NewDecoder(bytes.NewReader(d.raw))
		dec.UseNumber()
		if err := dec.Decode(d.to); err != nil {
			return nil, Errorf(Invalid, "the state is not JSON: %w", err)
		}
	}
	merged, err := merge(a, b, 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(merged)
}

// deepest bounds the nesting of what is merged.
const deepest = 200

var errDeep = errors.New("the state is nested too deeply")

func merge(target, patch any, depth int) (any, error) {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch, nil
	}
	if depth > deepest {
		return nil, Errorf(Invalid, "%w", errDeep)
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, v := range changes {
		if v == nil {
			delete(object, name)
			continue
		}
		merged, err := merge(object[name], v, depth+1)
		if err != nil {
			return nil, err
		}
		object[name] = merged
	}
	return object, nil
}
