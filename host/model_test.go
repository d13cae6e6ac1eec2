package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/agent"
)

const twoModels = `session {"models":{"currentModelId":"small","availableModels":[{"modelId":"small","name":"Small"},{"modelId":"large","name":"Large"}]}}
`

// asked prompts with a model, waits for the turn's end and gives its notices.
func (f *folding) asked(turn, model string) string {
	f.t.Helper()
	f.do(theChat, ahp.ChatTurnStarted{TurnID: turn, Message: ahp.Message{
		Text: "hi", Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}, Model: &ahp.ModelSelection{ID: model},
	}})
	var notes []string
	for _, p := range f.ended(turn).ResponseParts {
		if p.Note != nil {
			notes = append(notes, p.Note.Text)
		}
	}
	return strings.Join(notes, "\n")
}

// TestModels: the models that an agent offers are in the root's state once it has told
// them, a message chooses one, and so does 0.5's session/modelChanged; what can't be is
// said, and the session says which one it has.
func TestModels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		models       int
		message      string // what is said of a message that wants the large one
		changed      string // why session/modelChanged to the small one is refused, "" if it is not
		now          any    // what the session says that it has then
	}{
		{"offered", twoModels, 2, "", "", "small"},
		{"none", "", 0, "no models to choose from", "the agent has no models to choose from", nil},
		{"refused by the agent", twoModels + "on session/set_model error -32000 not that one\n", 2, "not that one", "", "small"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := scriptedAgent(t, tt.script+"prompt\nsay done\n")
			w := start(t, func(c *host.Config) { c.Agents = []agent.Provider{p} })
			a := folder(t, w.connect("a"))
			a.initialize()
			a.begin(ahp.SessionMeta{})
			a.wait("the session is ready", func() bool { return a.session.Lifecycle == ahp.LifecycleReady })
			b := w.connect("b")
			b.initialize()
			var root ahp.RootState
			decodeState(t, b.subscribe(ahp.RootURI), &root)
			if got := len(root.Agents[0].Models); got != tt.models {
				t.Fatalf("the root has %d models of the agent, want %d", got, tt.models)
			}
			if got := a.asked("t1", "large"); !strings.Contains(got, tt.message) || tt.message == "" && got != "" {
				t.Errorf("a message that wants the large one: %q", got)
			}
			if got := a.asked("t2", "vast"); !strings.Contains(got, "could not be set") {
				t.Errorf("a message that wants one that is not offered: %q", got)
			}
			if tt.message == "" {
				a.wait("the session has the large one", func() bool { return a.session.Config.Values["model"] == "large" })
			}
			for model, want := range map[string]string{"vast": "not one of the values", "small": tt.changed} {
				raw, err := json.Marshal(ahp.ModelSelection{ID: model})
				if err != nil {
					t.Fatal(err)
				}
				if tt.changed != "" {
					want = tt.changed
				}
				if got := a.told(theSession, ahp.SessionModelChanged{Model: raw}); !strings.Contains(got, want) || want == "" && got != "" {
					t.Errorf("session/modelChanged to %s: refused with %q, want %q", model, got, want)
				}
			}
			if tt.now != nil {
				a.wait("the session has the small one", func() bool { return a.session.Config.Values["model"] == tt.now })
			}
		})
	}
}

// told dispatches an action, and gives why it was refused, "" when it was not.
func (f *folding) told(channel ahp.URI, a ahp.Action) string {
	f.t.Helper()
	f.do(channel, a)
	for {
		m := f.read()
		var e ahp.Envelope
		if m.Method != ahp.MethodAction || json.Unmarshal(m.Params, &e) != nil {
			continue
		}
		if e.Origin != nil && e.Origin.ClientSeq == f.next1 {
			return e.RejectionReason
		}
	}
}
