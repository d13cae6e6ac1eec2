package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// State is a JSON document of a task and an agent (U12–U16, U57).
type State struct {
	N       int64           `db:"n" json:"-"`
	ID      string          `db:"id" json:"id"`
	TaskID  string          `db:"task" json:"task_id"`
	AgentID string          `db:"agent" json:"agent_id"`
	State   json.RawMessage `db:"state" json:"state"`
	Created time.Time       `db:"created" json:"created_at"`
	Updated time.Time       `db:"updated" json:"updated_at"`
}

func (v *State) check() error { return checkState(v.State) }

// checkState returns an error unless raw is a JSON object of at most MaxState bytes.
func checkState(raw json.RawMessage) error {
	if err := checkDoc("the state", raw, MaxState); err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return Errorf(Invalid, "a state is a JSON object")
	}
	return nil
}

// State returns the state of a task and an agent.
func (s *Store) State(ctx context.Context, task, agent string) (State, error) {
	return s.States.one(ctx, s.reading(), Errorf(NotFound, "the task has no state for this agent"), "task = ? and agent = ?", task, agent)
}

// MergeState applies a JSON merge patch (RFC 7396) to a state: it sets members of objects, removes
// them where the patch has null, and replaces everything else (U14).
func (s *Store) MergeState(ctx context.Context, id string, patch json.RawMessage) (State, error) {
	if err := checkState(patch); err != nil {
		return State{}, err
	}
	return s.States.Edit(ctx, id, func(v *State) (err error) {
		v.State, err = mergePatch(v.State, patch)
		return err
	})
}

// ReplaceState replaces a state (U57).
func (s *Store) ReplaceState(ctx context.Context, id string, state json.RawMessage) (State, error) {
	return s.States.Edit(ctx, id, func(v *State) error { v.State = state; return nil })
}

// mergePatch applies a merge patch. Numbers keep their spelling.
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

// deepest bounds the nesting of a patch.
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
