package approval

import (
	"encoding/json"
	"testing"

	"tandemux/ahp"
)

// TestOutcome: "not run" is said only where somebody said so.
func TestOutcome(t *testing.T) {
	no, yes := false, true
	for want, c := range map[string]ahp.ToolCall{
		"rejected":        {Status: ahp.ToolCancelled, ToolRefusal: ahp.ToolRefusal{Reason: ahp.ReasonDenied}},
		"result rejected": {Status: ahp.ToolCancelled, ToolRefusal: ahp.ToolRefusal{Reason: ahp.ReasonResultDenied}},
		"may have run":    {Status: ahp.ToolCancelled, ToolRefusal: ahp.ToolRefusal{Reason: ahp.ReasonSkipped}},
		"not run: nobody had allowed it": {
			Status: ahp.ToolCancelled, ToolRefusal: ahp.ToolRefusal{Reason: ahp.ReasonSkipped, ReasonMessage: ahp.Plain("not run: nobody had allowed it")},
		},
		"still running in 7<U+001B>": {
			Status: ahp.ToolCompleted, Success: &no, Error: &ahp.ToolError{Message: "still running in 7\x1b", Code: json.RawMessage(`"tandemux/interrupted"`)},
		},
		"": {Status: ahp.ToolCompleted, Success: &yes},
	} {
		if got := Outcome(&c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}
