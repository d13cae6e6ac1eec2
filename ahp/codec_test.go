package ahp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

// wireActions lists each action type with its exact wire form.
var wireActions = []struct {
	action Action
	wire   string
	client bool
}{
	{RootAgentsChanged{}, `{"type":"root/agentsChanged","agents":[]}`, false},
	{
		RootAgentsChanged{Agents: []AgentInfo{{Provider: "p", DisplayName: "P", Description: "d"}}},
		`{"type":"root/agentsChanged","agents":[{"provider":"p","displayName":"P","description":"d","models":[]}]}`, false,
	},
	{RootActiveSessionsChanged{ActiveSessions: 5}, `{"type":"root/activeSessionsChanged","activeSessions":5}`, false},
	{RootTerminalsChanged{}, `{"type":"root/terminalsChanged","terminals":[]}`, false},
	{
		RootTerminalsChanged{Terminals: []TerminalInfo{{Resource: "ahp-terminal:/1", Title: "t", Claim: Claim{Kind: ClaimClient, ClientID: "c"}}}},
		`{"type":"root/terminalsChanged","terminals":[{"resource":"ahp-terminal:/1","title":"t","claim":{"kind":"client","clientId":"c"},"lifecycle":{"status":"running"}}]}`, false,
	},
	{RootConfigChanged{}, `{"type":"root/configChanged","config":{}}`, true},
	{RootConfigChanged{Config: map[string]any{"a": "<&>"}, Replace: true}, `{"type":"root/configChanged","config":{"a":"<&>"},"replace":true}`, true},
	{TerminalData{Data: "a\x1b[31m\r\n\"\\é\u2028"}, `{"type":"terminal/data","data":"a\u001b[31m\r\n\"\\é\u2028"}`, false},
	{TerminalInput{Data: "\x03"}, `{"type":"terminal/input","data":"\u0003"}`, true},
	{TerminalResized{Cols: 80, Rows: 24}, `{"type":"terminal/resized","cols":80,"rows":24}`, true},
	{
		TerminalClaimed{Claim: Claim{Kind: ClaimSession, Session: "ahp-session:/s", Chat: "ahp-chat:/k", TurnID: "t", ToolCallID: "c"}},
		`{"type":"terminal/claimed","claim":{"kind":"session","session":"ahp-session:/s","chat":"ahp-chat:/k","turnId":"t","toolCallId":"c"}}`, true,
	},
	{TerminalClaimed{Claim: Claim{Kind: ClaimClient}}, `{"type":"terminal/claimed","claim":{"kind":"client","clientId":""}}`, true},
	{TerminalTitleChanged{Title: ""}, `{"type":"terminal/titleChanged","title":""}`, true},
	{TerminalCwdChanged{Cwd: "file:///"}, `{"type":"terminal/cwdChanged","cwd":"file:///"}`, false},
	{TerminalExited{}, `{"type":"terminal/exited"}`, false},
	{TerminalExited{ExitCode: ptr(0)}, `{"type":"terminal/exited","exitCode":0}`, false},
	{TerminalCleared{}, `{"type":"terminal/cleared"}`, true},
	{TerminalCommandDetectionAvailable{}, `{"type":"terminal/commandDetectionAvailable"}`, false},
	{
		TerminalCommandExecuted{CommandID: "1", CommandLine: "ls", Timestamp: 1700000000000},
		`{"type":"terminal/commandExecuted","commandId":"1","commandLine":"ls","timestamp":1700000000000}`, false,
	},
	{TerminalCommandFinished{CommandID: "1"}, `{"type":"terminal/commandFinished","commandId":"1"}`, false},
	{
		TerminalCommandFinished{CommandID: "1", ExitCode: ptr(1), DurationMs: ptr(int64(0))},
		`{"type":"terminal/commandFinished","commandId":"1","exitCode":1,"durationMs":0}`, false,
	},
	{
		LayoutChanged{Rev: 1, Doc: json.RawMessage(`{"a":1}`), Terminals: []URI{"x"}},
		`{"type":"x-tandemux/layoutChanged","rev":1,"doc":{"a":1},"terminals":["x"]}`, true,
	},
	{LayoutChanged{Rev: 2}, `{"type":"x-tandemux/layoutChanged","rev":2,"doc":null,"terminals":[]}`, true},
	{AttentionChanged{Terminal: "t", Attention: &Attention{Bell: 3, Seen: 4}}, `{"type":"x-tandemux/attentionChanged","terminal":"t","attention":{"bell":3,"seen":4}}`, false},
	{AttentionChanged{Terminal: "t"}, `{"type":"x-tandemux/attentionChanged","terminal":"t","attention":null}`, false},
	{TerminalSeen{Terminal: "t", At: 5}, `{"type":"x-tandemux/terminalSeen","terminal":"t","at":5}`, true},
	{HostWarned{Warning: "the disk is full"}, `{"type":"x-tandemux/hostWarned","warning":"the disk is full"}`, false},
	{AgentsRefused{Refusals: []AgentRefusal{{At: 1, Count: 2, Agent: "a", What: "rm", Why: "no"}}}, `{"type":"x-tandemux/agentsRefused","refusals":[{"at":1,"count":2,"agent":"a","what":"rm","why":"no"}]}`, false},
	{TerminalEchoChanged{EchoPrompt}, `{"type":"x-tandemux/echoChanged","by":"prompt"}`, false},
	{TerminalEchoChanged{}, `{"type":"x-tandemux/echoChanged","by":""}`, false},
	{LayoutWatched{Layout: "l", Clients: 2}, `{"type":"x-tandemux/layoutWatched","layout":"l","clients":2}`, false},
}

func TestActionsOnTheWire(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range wireActions {
		seen[tt.action.ActionType()] = true
		got, err := EncodeAction(V1, tt.action)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.wire {
			t.Errorf("EncodeAction(%#v)\n got %s\nwant %s", tt.action, got, tt.wire)
		}
		back, err := DecodeAction(got)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := EncodeAction(V1, back); string(again) != tt.wire {
			t.Errorf("decoding and encoding again\n got %s\nwant %s", again, tt.wire)
		}
		if reflect.TypeOf(back) != reflect.TypeOf(tt.action) {
			t.Errorf("decoded a %T, want %T", back, tt.action)
		}
		if known, ok := ClientDispatchable(tt.action.ActionType()); !known || ok != tt.client {
			t.Errorf("ClientDispatchable(%s) = %v, %v; want true, %v", tt.action.ActionType(), known, ok, tt.client)
		}
	}
	for name := range kinds {
		if !seen[name] {
			t.Errorf("action %s has no case here", name)
		}
	}
	if known, ok := ClientDispatchable("canvas/opened"); known || ok {
		t.Error("an action of canvases is said to be known")
	}
}

func TestUnknownActionIsKeptVerbatim(t *testing.T) {
	raw := `{ "z":1, "type":"canvas/opened" , "a":[1.50,"\u0041"]}`
	a, err := DecodeAction(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	if u, ok := a.(Unknown); !ok || u.Type != "canvas/opened" {
		t.Fatalf("got %#v, want an Unknown", a)
	}
	for _, p := range []Profile{V1, V09, V05} {
		if got, err := EncodeAction(p, a); err != nil || string(got) != raw {
			t.Errorf("profile %v: got %s, %v; want it as it came", p, got, err)
		}
	}
	if _, err := EncodeAction(V1, Unknown{Type: "x", Raw: json.RawMessage(`{`)}); err == nil {
		t.Error("an Unknown with broken text was encoded")
	}
	if got, err := EncodeAction(V1, Unknown{Type: "x/y"}); err != nil || string(got) != `{"type":"x/y"}` {
		t.Errorf("an Unknown without text: %s, %v", got, err)
	}
	if _, err := EncodeAction(V1, nil); err == nil {
		t.Error("no action at all was encoded")
	}
}

func TestDecodeActionRefuses(t *testing.T) {
	for _, raw := range []string{
		``, `null`, `[]`, `"terminal/data"`, `{}`, `{"type":null}`, `{"type":7}`, `{"type":""}`,
		`{"type":"terminal/data","data":7}`, `{"type":"terminal/resized","cols":"80"}`,
		`{"type":"terminal/claimed","claim":"me"}`, `{"type":"terminal/data","data":"x"`,
		`{"type":"terminal/commandExecuted","timestamp":1e300}`,
	} {
		if a, err := DecodeAction(json.RawMessage(raw)); err == nil {
			t.Errorf("DecodeAction(%s) = %#v, want an error", raw, a)
		}
	}
}

// TestResultsOnTheWire pins the keys that clients count on.
func TestResultsOnTheWire(t *testing.T) {
	running := TerminalState{Title: "t", Claim: Claim{Kind: ClaimClient, ClientID: "c"}}
	exited := running
	exited.Lifecycle = Lifecycle{Status: StatusExited, ExitCode: ptr(2)}
	killed := running
	killed.Lifecycle = Lifecycle{Status: StatusExited}
	env := Envelope{Channel: "ahp-terminal:/1", Action: TerminalData{Data: "x"}, ServerSeq: 9007199254740991}
	mine := env
	mine.Origin, mine.RejectionReason = &Origin{ClientID: "c", ClientSeq: 4}, "held by another"
	tests := []struct {
		p    Profile
		v    any
		want string
	}{
		{V1, RootState{}, `{"agents":[]}`},
		{
			V1, &RootState{ActiveSessions: ptr(0), Terminals: []TerminalInfo{}, Config: &RootConfig{}},
			`{"agents":[],"activeSessions":0,"terminals":[],"config":{"schema":{},"values":{}}}`,
		},
		{V1, running, `{"title":"t","content":[],"lifecycle":{"status":"running"},"claim":{"kind":"client","clientId":"c"}}`},
		{V09, exited, `{"title":"t","content":[],"lifecycle":{"status":"exited","exitCode":2},"exitCode":2,"claim":{"kind":"client","clientId":"c"}}`},
		{V05, running, `{"title":"t","content":[],"claim":{"kind":"client","clientId":"c"}}`},
		{V05, exited, `{"title":"t","content":[],"exitCode":2,"claim":{"kind":"client","clientId":"c"}}`},
		{V1, killed, `{"title":"t","content":[],"lifecycle":{"status":"exited"},"claim":{"kind":"client","clientId":"c"}}`},
		{V1, Part{Type: PartUnclassified}, `{"type":"unclassified","value":""}`},
		{V1, Part{Type: PartCommand}, `{"type":"command","commandId":"","commandLine":"","output":"","timestamp":0,"isComplete":false}`},
		{V1, LayoutState{}, `{"rev":0,"doc":null,"terminals":[]}`},
		{V1, env, `{"channel":"ahp-terminal:/1","action":{"type":"terminal/data","data":"x"},"serverSeq":9007199254740991}`},
		{V1, mine, `{"channel":"ahp-terminal:/1","action":{"type":"terminal/data","data":"x"},"serverSeq":9007199254740991,"origin":{"clientId":"c","clientSeq":4},"rejectionReason":"held by another"}`},
		{
			V05,
			Envelope{Channel: "c", Action: TerminalClaimed{Claim: Claim{Kind: ClaimSession, Session: "s", Chat: "k"}}, ServerSeq: 1},
			`{"channel":"c","action":{"type":"terminal/claimed","claim":{"kind":"session","session":"s"}},"serverSeq":1}`,
		},
		{V1, InitializeParams{Channel: RootURI, ClientID: "c"}, `{"channel":"ahp-root://","protocolVersions":[],"clientId":"c"}`},
		{V1, InitializeResult{ProtocolVersion: "1.0.0", ServerSeq: 1}, `{"protocolVersion":"1.0.0","serverSeq":1,"snapshots":[]}`},
		{V05, InitializeResult{ProtocolVersion: "0.5.0", Meta: &InitializeMeta{Principal: "operator"}}, `{"protocolVersion":"0.5.0","serverSeq":0,"snapshots":[],"_meta":{"tandemux/principal":"operator"}}`},
		{V1, ReconnectParams{ClientID: "c"}, `{"channel":"","clientId":"c","lastSeenServerSeq":0,"subscriptions":[]}`},
		{V1, ReconnectParams{ClientID: "c", Meta: &ReconnectMeta{Continues: true}}, `{"channel":"","clientId":"c","lastSeenServerSeq":0,"subscriptions":[],"_meta":{"tandemux/continues":true}}`},
		{V1, ReconnectResult{Type: ReconnectReplay}, `{"type":"replay","actions":[],"missing":[]}`},
		{V1, ReconnectResult{Type: ReconnectSnapshot}, `{"type":"snapshot","snapshots":[]}`},
		{
			V05,
			ReconnectResult{Type: ReconnectReplay, Actions: []Envelope{{Channel: RootURI, ServerSeq: 2, Action: RootTerminalsChanged{
				Terminals: []TerminalInfo{{Resource: "r", Title: "t", Claim: Claim{Kind: ClaimClient, ClientID: "c"}, Lifecycle: exited.Lifecycle}},
			}}}},
			`{"type":"replay","actions":[{"channel":"ahp-root://","action":{"type":"root/terminalsChanged","terminals":[{"resource":"r","title":"t","claim":{"kind":"client","clientId":"c"},"exitCode":2}]},"serverSeq":2}],"missing":[]}`,
		},
		{V1, SubscribeResult{}, `{}`},
		{V1, SubscribeResult{Snapshot: &Snapshot{Resource: "r", FromSeq: 3}}, `{"snapshot":{"resource":"r","state":null,"fromSeq":3}}`},
		{V1, TokenListResult{}, `{"items":[]}`},
		{V1, (*RootState)(nil), `null`},
		{V1, nil, `null`},
		{V1, json.RawMessage(nil), `null`},
		{V1, map[string]string{"a": "<b>"}, `{"a":"<b>"}`},
	}
	for _, tt := range tests {
		got, err := Encode(tt.p, tt.v)
		if err != nil || string(got) != tt.want {
			t.Errorf("Encode(%v, %#v)\n got %s, %v\nwant %s", tt.p, tt.v, got, err, tt.want)
		}
	}
	if _, err := Encode(V1, RootConfigChanged{Config: map[string]any{"f": func() {}}}); err == nil {
		t.Error("a function was encoded")
	}
}

// TestMarshalIsTheNewestForm holds json.Marshal and Encode together.
func TestMarshalIsTheNewestForm(t *testing.T) {
	state := TerminalState{
		Title: "t", Cwd: "file:///x", Cols: 3, Rows: 2, IsPty: ptr(true), SupportsCommandDetection: true,
		Content: []Part{{Type: PartUnclassified, Value: "$ "}, {Type: PartCommand, CommandID: "1", Output: "o", ExitCode: ptr(1), DurationMs: ptr(int64(3)), IsComplete: true}},
		Claim:   Claim{Kind: ClaimSession, Session: "s", Chat: "k"}, Lifecycle: Lifecycle{Status: StatusExited, ExitCode: ptr(3)},
	}
	b, err := json.Marshal(map[string]any{"s": state})
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ S TerminalState }
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.S, state) {
		t.Errorf("round trip\n got %#v\nwant %#v", back.S, state)
	}
	info := TerminalInfo{Resource: "r", Title: "t", Claim: state.Claim, Lifecycle: state.Lifecycle, Meta: &TerminalMeta{Pid: 3, HandBack: &state.Claim, Layouts: []URI{"l"}}}
	b, err = json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	var again TerminalInfo
	if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(again, info) {
		t.Errorf("round trip\n got %#v, %v\nwant %#v", again, err, info)
	}
}

func TestDispatchParams(t *testing.T) {
	wire := `{"channel":"ahp-terminal:/1","clientSeq":3,"action":{"type":"terminal/input","data":"x"}}`
	var d DispatchParams
	if err := json.Unmarshal([]byte(wire), &d); err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(d); err != nil || string(b) != wire {
		t.Errorf("got %s, %v; want %s", b, err, wire)
	}
	if err := json.Unmarshal([]byte(`{"channel":"c","clientSeq":1}`), &d); err == nil || !strings.Contains(err.Error(), "action") {
		t.Errorf("params without an action: %v", err)
	}
}

// FuzzDecodeAction: whatever decodes can be encoded, and then stays as it is.
func FuzzDecodeAction(f *testing.F) {
	for _, tt := range wireActions {
		f.Add([]byte(tt.wire))
	}
	f.Add([]byte(`{"type":"canvas/opened","x":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := DecodeAction(raw)
		if err != nil {
			return
		}
		for _, p := range []Profile{V1, V05} {
			first, err := EncodeAction(p, a)
			if err != nil {
				t.Fatalf("%#v: %v", a, err)
			}
			b, err := DecodeAction(first)
			if err != nil {
				t.Fatalf("%s: %v", first, err)
			}
			if again, err := EncodeAction(p, b); err != nil || string(again) != string(first) {
				t.Fatalf("profile %v, %v\nfirst %s\nagain %s", p, err, first, again)
			}
		}
		ReduceRoot(RootState{Config: &RootConfig{}}, a)
		ReduceTerminal(TerminalState{}, a)
		ReduceLayout(LayoutState{}, a)
		ReduceSession(SessionState{}, a)
		ReduceChat(ChatState{}, a)
	})
}
