package web

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUnproved: nothing that allows an agent something gets past a page that has not proved
// that its person is there, however it is written; all else does.
func TestUnproved(t *testing.T) {
	const id = "tandemux-browser-1"
	for _, c := range []struct{ name, msg, refusal string }{
		{
			"a tool call", `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-chat:/c","clientSeq":7,"action":{"type":"chat/toolCallConfirmed","approved":true}}}`,
			`{"jsonrpc":"2.0","method":"action","params":{"action":{"type":"chat/toolCallConfirmed","approved":true},"channel":"ahp-chat:/c","origin":{"clientId":"tandemux-browser-1","clientSeq":7},"rejectionReason":"a passkey has to confirm this first","serverSeq":0}}`,
		},
		{
			"a question", `{"jsonrpc":"2.0","id":3,"method":"x-tandemux/answer","params":{"channel":"ahp-terminal:/t","id":"q","grant":true}}`,
			`{"error":{"code":-32009,"message":"a passkey has to confirm this first"},"id":3,"jsonrpc":"2.0"}`,
		},
		{"no tool call", `{"method":"dispatchAction","params":{"action":{"type":"chat/toolCallConfirmed","approved":false}}}`, ""},
		{"no question", `{"id":3,"method":"x-tandemux/answer","params":{"grant":false}}`, ""},
		{"in another case", `{"params":{"action":{"Approved":true}}}`, "passkey"},
		{"in letters that fold", `{"params":{"Grant":true}}`, "passkey"},
		{"escaped", `{"params":{"action":{"\u0061pproved":true}}}`, "passkey"},
		{"twice, the last counts", `{"params":{"action":{"approved":false,"approved":true}}}`, "passkey"},
		{"twice, in two cases", `{"params":{"action":{"approved":false,"APPROVED":true}}}`, "passkey"},
		{"in a batch", `[{"params":{"grant":true}}]`, "passkey"},
		{"a policy", `{"method":"dispatchAction","params":{"action":{"type":"session/configChanged","config":{"tandemux/confirm":"all"}}}}`, "passkey"},
		{"a new session's policy", `{"id":1,"method":"createSession","params":{"_meta":{"tandemux/confirm":"reads"}}}`, "passkey"},
		{"the policy that asks", `{"id":1,"method":"createSession","params":{"_meta":{"tandemux/confirm":"ask"}}}`, ""},
		{"what is typed", `{"method":"dispatchAction","params":{"action":{"type":"terminal/input","data":"\"approved\":true"}}}`, ""},
	} {
		on, refusal, err := unproved([]byte(c.msg), id)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case (c.refusal != "") != (on == nil) || !strings.Contains(string(refusal), c.refusal):
			t.Errorf("%s: goes on as %q, is answered with %q", c.name, on, refusal)
		}
	}
	if on, refusal, err := unproved([]byte(`{"a":1}{"params":{"grant":true}}`), id); err == nil {
		t.Errorf("two values in one message go on as %q, are answered with %q", on, refusal)
	}
	if got := clientOf([]byte(`{"method":"reconnect","params":{"clientId":"x"}}`)); got != "x" {
		t.Errorf("the client is %q", got)
	}
}

// FuzzUnproved: what goes on allows nothing, as Go's reader of JSON, which is the hosts',
// takes it; and what is no JSON goes nowhere.
func FuzzUnproved(f *testing.F) {
	for _, seed := range []string{
		`{"params":{"action":{"approved":true}}}`, `{"params":{"grant":true,"grant":false}}`, `{"Params":{"GRANT":true}}`,
		`{"params":{"action":{"config":{"tandemux/confirm":"all"}}}}`, `{"params":{"_meta":{"tandemux/Confirm":"all"}}}`,
		`{"params":{"grant":false},"params":{"grant":true}}`, `{"params":{"\u0067rant":true}}`, `[1e999]`, `{"a":"\ud800"}`, "\x00ping 7", `{} {}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		on, refusal, err := unproved(msg, "x")
		if n := len(on); (n > 0) == (err != nil || refusal != nil) {
			t.Fatalf("%q: goes on as %q, is answered with %q, %v", msg, on, refusal, err)
		}
		if on == nil {
			return
		}
		var m struct {
			Params struct {
				Grant  bool
				Action struct {
					Approved bool
					Config   map[string]any
				}
				Meta struct {
					Confirm string `json:"tandemux/confirm"`
				} `json:"_meta"`
			}
		}
		json.Unmarshal(on, &m) //nolint:errcheck // of another form: as far as it was read
		if p := m.Params; p.Grant || p.Action.Approved || p.Meta.Confirm != "" && p.Meta.Confirm != "ask" {
			t.Fatalf("%q goes on as %q", msg, on)
		}
		if c, is := m.Params.Action.Config["tandemux/confirm"].(string); is && c != "" && c != "ask" {
			t.Fatalf("%q goes on as %q", msg, on)
		}
	})
}
