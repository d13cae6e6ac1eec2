package lease_test

import (
	"encoding/json"
	"testing"

	"tandemux/hub/lease"
)

// FuzzApply: whatever a store has and whoever asks for whatever, a record stays one.
func FuzzApply(f *testing.F) {
	for _, text := range []string{
		`{"state":"IDLE"}`, `{"state":"PENDING","work":["a","b"],"home":"h"}`, `{"state":"CLAIMED","lease":3,"host":"h","work":["a"]}`,
		`{"state":"BEGUN","lease":3,"host":"h","policy":"again","work":["a"]}`, `{"state":"BEGUN","lease":1,"host":"h"}`, `{"state":"CANCELLED"}`,
	} {
		for _, verb := range []lease.Verb{lease.Send, lease.Claim, lease.Begin, lease.Renew, lease.Note, lease.Finish, lease.Refuse, lease.Return, lease.Redo, lease.Lose, lease.Cancel, "other"} {
			op, err := json.Marshal(lease.Op{Verb: verb, Host: "h", Lease: 3, Work: "c"})
			if err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(text), op)
		}
	}
	f.Fuzz(func(t *testing.T, record, change []byte) {
		var r lease.Record
		var op lease.Op
		if json.Unmarshal(record, &r) != nil || json.Unmarshal(change, &op) != nil {
			return
		}
		before, _ := json.Marshal(r) //nolint:errcheck // it was read from JSON
		next, err := lease.Apply(r, op)
		if after, _ := json.Marshal(r); string(after) != string(before) { //nolint:errcheck // likewise
			t.Errorf("%s changed what it was given", op.Verb)
		}
		if err != nil {
			return
		}
		if next.Lease < r.Lease || next.Lease > r.Lease+1 {
			t.Errorf("the lease goes from %d to %d", r.Lease, next.Lease)
		}
		if r.State.Final() && next.State != r.State {
			t.Errorf("it is %s after %s", next.State, r.State)
		}
		// What waited waits still, or has ended.
		for _, work := range r.Work {
			_, ended := next.Ended(work)
			still := false
			for _, w := range next.Work {
				still = still || w == work
			}
			if !still && !ended && len(r.Work) <= lease.MaxWork/2 {
				t.Errorf("%s loses %q", op.Verb, work)
			}
		}
		if again, err := lease.Apply(next, op); op.Verb == lease.Begin && (err != nil || again.State != next.State) {
			t.Errorf("asked again: %v, %v", again.State, err)
		}
	})
}
