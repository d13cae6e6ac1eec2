package ahp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// chatWire lists each action of sessions and chats with its exact wire form.
var chatWire = []struct {
	action Action
	wire   string
	client bool
}{
	{SessionReady{}, `{"type":"session/ready"}`, false},
	{SessionCreationFailed{Error: ErrorInfo{ErrorType: "agentStart", Message: "<no>"}}, `{"type":"session/creationFailed","error":{"errorType":"agentStart","message":"<no>"}}`, false},
	{SessionChatAdded{Summary: ChatSummary{Resource: "ahp-chat:/1", Title: "t", Status: 1, ModifiedAt: "x"}}, `{"type":"session/chatAdded","summary":{"resource":"ahp-chat:/1","title":"t","status":1,"modifiedAt":"x"}}`, false},
	{SessionChatRemoved{Chat: "c"}, `{"type":"session/chatRemoved","chat":"c"}`, false},
	{SessionChatUpdated{Chat: "c", Changes: json.RawMessage(`{"activity":null}`)}, `{"type":"session/chatUpdated","chat":"c","changes":{"activity":null}}`, false},
	{SessionChatUpdated{Chat: "c"}, `{"type":"session/chatUpdated","chat":"c","changes":{}}`, false},
	{SessionChatsReordered{Destination: json.RawMessage(`{"kind":"end"}`)}, `{"type":"session/chatsReordered","chats":[],"destination":{"kind":"end"}}`, false},
	{SessionDefaultChatChanged{}, `{"type":"session/defaultChatChanged"}`, false},
	{SessionTitleChanged{}, `{"type":"session/titleChanged","title":""}`, true},
	{SessionIsReadChanged{IsRead: true}, `{"type":"session/isReadChanged","isRead":true}`, true},
	{SessionIsArchivedChanged{}, `{"type":"session/isArchivedChanged","isArchived":false}`, true},
	{SessionActivityChanged{Activity: "thinking"}, `{"type":"session/activityChanged","activity":"thinking"}`, false},
	{SessionChangesetsChanged{}, `{"type":"session/changesetsChanged"}`, false},
	{SessionServerToolsChanged{}, `{"type":"session/serverToolsChanged","tools":[]}`, false},
	{SessionActiveClientSet{ActiveClient: ActiveClient{ClientID: "c"}}, `{"type":"session/activeClientSet","activeClient":{"clientId":"c","tools":[]}}`, true},
	{SessionActiveClientRemoved{ClientID: "c"}, `{"type":"session/activeClientRemoved","clientId":"c"}`, true},
	{SessionWorkingDirectorySet{Directory: "d"}, `{"type":"session/workingDirectorySet","directory":"d"}`, true},
	{SessionWorkingDirectoryRemoved{Directory: "d"}, `{"type":"session/workingDirectoryRemoved","directory":"d"}`, true},
	{SessionWorkingDirectoryReplaced{Old: "a", New: "b"}, `{"type":"session/workingDirectoryReplaced","oldDirectory":"a","newDirectory":"b"}`, true},
	{
		SessionInputNeededSet{Request: InputNeeded{ID: "n", Chat: "c", Kind: NeedToolConfirmation, TurnID: "t", ToolCall: &ToolCall{Status: ToolPending, ToolCallID: "x", ToolName: "sh", DisplayName: "Shell", InvocationMessage: Plain("ls")}}},
		`{"type":"session/inputNeededSet","request":{"id":"n","chat":"c","kind":"toolConfirmation","turnId":"t","toolCall":{"status":"pending-confirmation","toolCallId":"x","toolName":"sh","displayName":"Shell","invocationMessage":"ls"}}}`, false,
	},
	{SessionInputNeededRemoved{ID: "n"}, `{"type":"session/inputNeededRemoved","id":"n"}`, false},
	{SessionCustomizationsChanged{}, `{"type":"session/customizationsChanged","customizations":[]}`, false},
	{SessionCustomizationUpdated{Customization: json.RawMessage(`{"id":"p"}`)}, `{"type":"session/customizationUpdated","customization":{"id":"p"}}`, false},
	{SessionCustomizationRemoved{ID: "p"}, `{"type":"session/customizationRemoved","id":"p"}`, false},
	{SessionCustomizationToggled{ID: "p", Enabled: ptr(false)}, `{"type":"session/customizationToggled","id":"p","enabled":false}`, true},
	{SessionMcpServerStateChanged{ID: "m", State: json.RawMessage(`{"kind":"ready"}`)}, `{"type":"session/mcpServerStateChanged","id":"m","state":{"kind":"ready"}}`, false},
	{SessionMcpServerStartRequested{ID: "m"}, `{"type":"session/mcpServerStartRequested","id":"m"}`, true},
	{SessionMcpServerStopRequested{ID: "m"}, `{"type":"session/mcpServerStopRequested","id":"m"}`, true},
	{SessionMcpServerBackgroundRequested{ID: "m"}, `{"type":"session/mcpServerBackgroundRequested","id":"m"}`, true},
	{SessionConfigChanged{Config: map[string]any{"mode": "plan"}}, `{"type":"session/configChanged","config":{"mode":"plan"}}`, true},
	{SessionMetaChanged{}, `{"type":"session/metaChanged"}`, false},
	{SessionModelChanged{Model: json.RawMessage(`{"id":"m"}`)}, `{"type":"session/modelChanged","model":{"id":"m"}}`, true},
	{SessionAgentChanged{}, `{"type":"session/agentChanged"}`, true},

	{
		ChatTurnStarted{TurnID: "t", StartedAt: "2026-11-21T01:02:03.000Z", Message: Message{Text: "hi", Origin: MessageOrigin{Kind: OriginUser}}},
		`{"type":"chat/turnStarted","turnId":"t","startedAt":"2026-11-21T01:02:03.000Z","message":{"text":"hi","origin":{"kind":"user"}}}`, true,
	},
	{ChatResponsePart{TurnID: "t", Part: ResponsePart{Kind: PartMarkdown, ID: "p"}}, `{"type":"chat/responsePart","turnId":"t","part":{"kind":"markdown","id":"p","content":""}}`, false},
	{ChatDelta{TurnID: "t", PartID: "p", Content: "x\n"}, `{"type":"chat/delta","turnId":"t","partId":"p","content":"x\n"}`, false},
	{ChatReasoning{TurnID: "t", PartID: "p"}, `{"type":"chat/reasoning","turnId":"t","partId":"p","content":""}`, false},
	{ChatUsage{TurnID: "t", Usage: Usage{InputTokens: ptr(int64(0))}}, `{"type":"chat/usage","turnId":"t","usage":{"inputTokens":0}}`, false},
	{ChatTurnComplete{TurnID: "t", Duration: ptr(int64(5))}, `{"type":"chat/turnComplete","turnId":"t","duration":5}`, false},
	{ChatTurnCancelled{TurnID: "t"}, `{"type":"chat/turnCancelled","turnId":"t"}`, true},
	{
		ChatError{TurnID: "t", Duration: ptr(int64(5)), Part: ResponsePart{Kind: PartError, Error: &ErrorInfo{ErrorType: "e", Message: "m"}, Resumable: true}},
		`{"type":"chat/error","turnId":"t","duration":5,"part":{"kind":"error","error":{"errorType":"e","message":"m"},"resumable":true}}`, false,
	},
	{ChatTurnResume{TurnID: "t"}, `{"type":"chat/turnResume","turnId":"t"}`, true},
	{ChatPendingMessageSet{Kind: PendingQueued, ID: "q", Message: Message{Text: "x", Origin: MessageOrigin{Kind: OriginUser}}}, `{"type":"chat/pendingMessageSet","kind":"queued","id":"q","message":{"text":"x","origin":{"kind":"user"}}}`, true},
	{ChatPendingMessageRemoved{Kind: PendingSteering, ID: "q"}, `{"type":"chat/pendingMessageRemoved","kind":"steering","id":"q"}`, true},
	{ChatQueuedMessagesReordered{}, `{"type":"chat/queuedMessagesReordered","order":[]}`, true},
	{ChatDraftChanged{}, `{"type":"chat/draftChanged"}`, true},
	{ChatIsReadChanged{}, `{"type":"chat/isReadChanged","isRead":false}`, true},
	{ChatIsArchivedChanged{IsArchived: true}, `{"type":"chat/isArchivedChanged","isArchived":true}`, true},
	{
		ChatInputRequested{Request: InputRequest{ID: "r", Message: Plain("?"), Questions: []Question{{ID: "q", Kind: "text", Message: "Name?", Required: true}}}},
		`{"type":"chat/inputRequested","request":{"id":"r","message":"?","questions":[{"id":"q","kind":"text","message":"Name?","required":true}]}}`, false,
	},
	{ChatInputAnswerChanged{RequestID: "r", QuestionID: "q", Answer: json.RawMessage(`{"state":"skipped"}`)}, `{"type":"chat/inputAnswerChanged","requestId":"r","questionId":"q","answer":{"state":"skipped"}}`, true},
	{ChatInputCompleted{RequestID: "r", Response: InputCancel}, `{"type":"chat/inputCompleted","requestId":"r","response":"cancel"}`, true},
	{ChatTruncated{}, `{"type":"chat/truncated"}`, true},
	{ChatTurnsLoaded{}, `{"type":"chat/turnsLoaded","turns":[]}`, false},
	{ChatActivityChanged{}, `{"type":"chat/activityChanged"}`, false},
	{ChatBackgroundWorkSet{Work: BackgroundWork{ID: "w", Label: "make", StartedAt: "x", Kind: WorkShell, Command: "make"}}, `{"type":"chat/backgroundWorkSet","work":{"id":"w","label":"make","startedAt":"x","kind":"shell","command":"make"}}`, false},
	{ChatBackgroundWorkRemoved{ID: "w"}, `{"type":"chat/backgroundWorkRemoved","id":"w"}`, false},
	{ChatMovableChanged{Movable: ptr(true)}, `{"type":"chat/movableChanged","movable":true}`, false},
	{ChatChangesetsChanged{}, `{"type":"chat/changesetsChanged"}`, false},
	{ChatWorkingDirectorySet{Directory: "d"}, `{"type":"chat/workingDirectorySet","directory":"d"}`, true},
	{ChatWorkingDirectoryRemoved{Directory: "d"}, `{"type":"chat/workingDirectoryRemoved","directory":"d"}`, true},
	{
		ChatToolCallStart{TurnID: "t", ToolCallID: "c", ToolName: "n", DisplayName: "N", Contributor: &Contributor{Kind: ContributorClient, ClientID: "me"}},
		`{"type":"chat/toolCallStart","turnId":"t","toolCallId":"c","toolName":"n","displayName":"N","contributor":{"kind":"client","clientId":"me"}}`, false,
	},
	{ChatToolCallDelta{TurnID: "t", ToolCallID: "c", Content: "{"}, `{"type":"chat/toolCallDelta","turnId":"t","toolCallId":"c","content":"{"}`, false},
	{
		ChatToolCallReady{TurnID: "t", ToolCallID: "c", InvocationMessage: &Prose{"*ls*", true}, ToolInput: TextInput("ls"), Options: []ToolOption{{ID: "o", Label: "Once", Kind: OptionApprove}}},
		`{"type":"chat/toolCallReady","turnId":"t","toolCallId":"c","invocationMessage":{"markdown":"*ls*"},"toolInput":"ls","options":[{"id":"o","label":"Once","kind":"approve"}]}`, false,
	},
	{ChatToolCallReady{}, `{"type":"chat/toolCallReady","turnId":"","toolCallId":"","invocationMessage":""}`, false},
	{ChatToolCallConfirmed{TurnID: "t", ToolCallID: "c", Approved: true, Confirmed: ConfirmedUserAction}, `{"type":"chat/toolCallConfirmed","turnId":"t","toolCallId":"c","approved":true,"confirmed":"user-action"}`, true},
	{ChatToolCallContentChanged{TurnID: "t", ToolCallID: "c"}, `{"type":"chat/toolCallContentChanged","turnId":"t","toolCallId":"c","content":[]}`, true},
	{
		ChatToolCallComplete{TurnID: "t", ToolCallID: "c", Result: ToolResult{Success: true, Content: []ToolContent{{Type: ContentTerminal, Resource: "ahp-terminal:/1", Title: "make", Result: &TerminalResult{ExitCode: ptr(0)}}, {Type: ContentText}}}},
		`{"type":"chat/toolCallComplete","turnId":"t","toolCallId":"c","result":{"success":true,"content":[{"type":"terminal","resource":"ahp-terminal:/1","title":"make","result":{"exitCode":0}},{"type":"text","text":""}]}}`, true,
	},
	{
		ChatToolCallProgress{TurnID: "t", ToolCallID: "c", ToolProgress: ToolProgress{ElapsedMs: 7, Message: &Prose{"*links*", true}}},
		`{"type":"chat/toolCallProgress","turnId":"t","toolCallId":"c","elapsedMs":7,"message":{"markdown":"*links*"}}`, true,
	},
	{ChatToolCallProgress{}, `{"type":"chat/toolCallProgress","turnId":"","toolCallId":"","elapsedMs":0}`, true},
	{ChatToolCallResultConfirmed{TurnID: "t", ToolCallID: "c"}, `{"type":"chat/toolCallResultConfirmed","turnId":"t","toolCallId":"c","approved":false}`, true},
	{ChatToolCallAuthRequired{TurnID: "t", ToolCallID: "c", Auth: json.RawMessage(`{}`)}, `{"type":"chat/toolCallAuthRequired","turnId":"t","toolCallId":"c","auth":{}}`, false},
	{ChatToolCallAuthResolved{TurnID: "t", ToolCallID: "c"}, `{"type":"chat/toolCallAuthResolved","turnId":"t","toolCallId":"c"}`, false},
}

func init() { wireActions = append(wireActions, chatWire...) }

// randomChatAction draws from everything that sessions and chats may carry, with
// few ids, so that the actions meet.
func randomChatAction(r *rand.Rand, i int) Action {
	tt := chatWire[r.IntN(len(chatWire))]
	text := tt.wire
	for _, id := range []string{"t", "c", "p", "q", "r", "w", "m", "ahp-chat:/1"} {
		if n := r.IntN(6); n < 2 {
			text = strings.ReplaceAll(text, `"`+id+`"`, fmt.Sprintf("%q", id+fmt.Sprint(n)))
		}
	}
	switch r.IntN(12) { // Turns must begin for the rest to mean something.
	case 0, 1:
		text = fmt.Sprintf(`{"type":"chat/turnStarted","turnId":"t","startedAt":%q,"message":{"text":"m%d","origin":{"kind":"user"}},"queuedMessageId":"q"}`, InstantOf(int64(i)*1000), i)
	case 2:
		text = chatWire[len(chatWire)-9+r.IntN(9)].wire
	case 3:
		text = `{"type":"chat/toolCallStart","turnId":"t","toolCallId":"c","toolName":"n","displayName":"N"}`
	case 4:
		text = fmt.Sprintf(`{"type":"chat/delta","turnId":"t","partId":"p","content":"%d"}`, i)
	}
	a, err := DecodeAction(json.RawMessage(text))
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return a
}

// TestSessionsAndChatsFromAnywhere: a snapshot at any place of a log, through the
// wire, and the rest of the log, give the whole.
func TestSessionsAndChatsFromAnywhere(t *testing.T) {
	seeds(t, func(t *testing.T, r *rand.Rand) {
		var log []Action
		for i := range 60 {
			log = append(log, randomChatAction(r, i))
		}
		from(t, SessionState{SessionInfo: SessionInfo{Title: "s", Status: 1}, Config: &SessionConfig{}}, log, ReduceSession)
		from(t, ChatState{ChatSummary: ChatSummary{Title: "c", Status: 1}}, log, ReduceChat)
	})
}

// TestChatReducersNeverChangeTheirInput keeps deep copies of all states and
// actions, and lets two futures of each past go apart.
func TestChatReducersNeverChangeTheirInput(t *testing.T) {
	seeds(t, func(t *testing.T, r *rand.Rand) {
		session := SessionState{Chats: make([]ChatSummary, 0, 16), ActiveClients: make([]ActiveClient, 0, 16)}
		chat := ChatState{Turns: make([]Turn, 0, 64), QueuedMessages: make([]PendingMessage, 0, 16)}
		type moment struct{ v, copy any }
		var seen []moment
		for i := range 80 {
			a := randomChatAction(r, i)
			for _, v := range []any{a, session, chat} {
				seen = append(seen, moment{v, clone(reflect.ValueOf(v)).Interface()})
			}
			for range 3 {
				other := randomChatAction(r, 1000+i)
				ReduceSession(session, other)
				ReduceChat(chat, other)
			}
			session, chat = ReduceSession(session, a), ReduceChat(chat, a)
		}
		for i, m := range seen {
			if !reflect.DeepEqual(m.v, m.copy) {
				t.Fatalf("value %d changed\n was %+v\n now %+v", i, m.copy, m.v)
			}
		}
	})
}

// clone copies a value with everything that it refers to.
func clone(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(clone(v.Elem()))
		return p
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		c := reflect.New(v.Type()).Elem()
		c.Set(clone(v.Elem()))
		return c
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(clone(v.Field(i)))
			}
		}
		return c
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.Index(i).Set(clone(v.Index(i)))
		}
		return c
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			c.SetMapIndex(k, clone(v.MapIndex(k)))
		}
		return c
	}
	return v
}

func TestInstants(t *testing.T) {
	for ms, want := range map[int64]Instant{
		0: "1970-01-01T00:00:00.000Z", 9999: "1970-01-01T00:00:09.999Z", -1: "1969-12-31T23:59:59.999Z",
		951782400000: "2000-02-29T00:00:00.000Z", 1795222923004: "2026-11-21T01:02:03.004Z", 4107542400000: "2100-03-01T00:00:00.000Z",
	} {
		if got := InstantOf(ms); got != want {
			t.Errorf("InstantOf(%d) = %s, want %s", ms, got, want)
		}
		if got, ok := want.Ms(); got != ms || !ok {
			t.Errorf("%s is %d, %v; want %d", want, got, ok, ms)
		}
	}
	for text, want := range map[Instant]int64{
		"2026-11-21T03:02:03.0049+02:00": 1795222923004, "2026-11-20t20:02:03-05:00": 1795222923000,
	} {
		if got, ok := text.Ms(); !ok || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, bad := range []Instant{"", "now", "2026-11-21", "2026-13-21T01:02:03Z", "2026-11-21T01:02:03", "2026-11-21T01:02:03+0100", "2026-11-21 01:02:03Z", "-026-11-21T01:02:03Z"} {
		if ms, ok := bad.Ms(); ok {
			t.Errorf("%q is taken for %d", bad, ms)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		ms := r.Int64N(1<<48) - 1<<46
		if got, ok := InstantOf(ms).Ms(); !ok || got != ms {
			if ms > -62135596800000 { // before the year 1 there are no four digits
				t.Fatalf("%d came back as %d by %s", ms, got, InstantOf(ms))
			}
		}
	}
}

// TestSummariesTellWhatChanged: only members that differ, null for those gone,
// never the identity (AHP, Root Channel).
func TestSummariesTellWhatChanged(t *testing.T) {
	before := SessionSummary{Resource: "s", SessionInfo: SessionInfo{Provider: "p", Title: "a", Status: 1, Activity: "x"}, CreatedAt: InstantOf(1), ModifiedAt: InstantOf(2)}
	after := before
	after.Resource, after.Provider, after.CreatedAt = "t", "q", InstantOf(9)
	if c := (SessionChanges{before, after}); !c.Empty() {
		t.Error("a change of identity is told")
	}
	after.Title, after.Activity, after.ModifiedAt = "b", "", InstantOf(3)
	for p, want := range map[Profile]string{
		V1:  `{"activity":null,"modifiedAt":"1970-01-01T00:00:00.003Z","title":"b"}`,
		V05: `{"activity":"","modifiedAt":3,"title":"b"}`,
	} {
		if got, err := Encode(p, SessionChanges{before, after}); err != nil || string(got) != want {
			t.Errorf("%v: %s, %v; want %s", p, got, err, want)
		}
	}
}

// What 0.5 requires, or types otherwise.
func TestChatActionsFor05(t *testing.T) {
	for _, tt := range []struct {
		action Action
		want   string
	}{
		{ChatToolCallDelta{TurnID: "t", ToolCallID: "c", InvocationMessage: Plain("ls")}, `{"type":"chat/toolCallDelta","turnId":"t","toolCallId":"c","content":"","invocationMessage":"ls"}`},
		{ChatToolCallDelta{TurnID: "t", ToolCallID: "c", Content: "{"}, `{"type":"chat/toolCallDelta","turnId":"t","toolCallId":"c","content":"{"}`},
		{SessionChatUpdated{Chat: "c", Changes: json.RawMessage(`{"activity":null,"changes":null}`)}, `{"type":"session/chatUpdated","chat":"c","changes":{"activity":"","changes":null}}`},
		{SessionChatUpdated{Chat: "c", Changes: json.RawMessage(`{"activity":"x"}`)}, `{"type":"session/chatUpdated","chat":"c","changes":{"activity":"x"}}`},
		{SessionChatUpdated{Chat: "c"}, `{"type":"session/chatUpdated","chat":"c","changes":{}}`},
		{ChatToolCallReady{Confirmed: "setting", StartedAt: InstantOf(1)}, `{"type":"chat/toolCallReady","turnId":"","toolCallId":"","invocationMessage":"","confirmed":"setting"}`},
		{ChatToolCallConfirmed{Approved: true, StartedAt: InstantOf(1)}, `{"type":"chat/toolCallConfirmed","turnId":"","toolCallId":"","approved":true}`},
		{ChatToolCallComplete{Duration: ptr(int64(5))}, `{"type":"chat/toolCallComplete","turnId":"","toolCallId":"","result":{"success":false}}`},
		{
			ChatResponsePart{Part: ResponsePart{Kind: PartToolCall, ToolCall: &ToolCall{Status: ToolCompleted, ToolRun: ToolRun{StartedAt: InstantOf(1), Duration: ptr(int64(0)), Progress: &ToolProgress{}, Auth: json.RawMessage(`1`)}}}},
			`{"type":"chat/responsePart","turnId":"","part":{"kind":"toolCall","toolCall":{"status":"completed","toolCallId":"","toolName":"","displayName":"","auth":1}}}`,
		},
	} {
		if got, err := EncodeAction(V05, tt.action); err != nil || !sameJSON(t, got, []byte(tt.want)) {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
		env, err := Encode(V05, Envelope{Channel: "c", Action: tt.action, ServerSeq: 1})
		if err != nil || !strings.Contains(string(env), `"type":"`+tt.action.ActionType()+`"`) || strings.Contains(string(env), `"activity":null`) {
			t.Errorf("in an envelope: %s, %v", env, err)
		}
	}
}

// TestSpeaks holds back from 0.5.0 what came later.
func TestSpeaks(t *testing.T) {
	for name, want := range map[string]bool{"chat/delta": true, "chat/toolCallProgress": false, "chat/activityChanged": false, "chat/draftChanged": false, "session/inputNeededSet": false, "chat/backgroundWorkSet": false, "terminal/data": true, "other/thing": true} {
		if Speaks(V05, name) != want || !Speaks(V1, name) || !Speaks(V09, name) {
			t.Errorf("%s: 0.5 %v, 1.x %v", name, Speaks(V05, name), Speaks(V1, name))
		}
	}
	r := ReconnectResult{Type: ReconnectReplay, Actions: []Envelope{{Channel: "c", Action: ChatBackgroundWorkRemoved{ID: "w"}, ServerSeq: 3}, {Channel: "c", Action: ChatTruncated{}, ServerSeq: 4}}}
	if got, _ := Encode(V05, r); strings.Contains(string(got), "backgroundWork") || !strings.Contains(string(got), "truncated") {
		t.Errorf("a replay for 0.5: %s", got)
	}
}

// FuzzReduceChat feeds a log of actions, one JSON object a line, to a chat and a
// session, and goes on from a snapshot in each profile.
func FuzzReduceChat(f *testing.F) {
	for _, state := range []string{
		`{"turns":[],"activeTurn":{"id":"t","message":{"text":"x"},"responseParts":[{"kind":"markdown","id":"p"},{"kind":"toolCall","toolCall":{"status":"running","toolCallId":"c"}},{"kind":"new","x":1}]},"status":8}`,
		`{"turns":[{"id":"t","state":"error","error":{"message":"m"}}],"inputRequests":[{"id":"r"}],"status":2}`,
		`{"summary":{"status":1},"customizations":[{"id":"p","children":[{"id":"m","type":"mcpServer"}]}],"inputNeeded":[{"id":"n"}],"config":{}}`,
	} {
		for _, tt := range chatWire {
			f.Add([]byte(state), []byte(tt.wire+"\n"+`{"type":"chat/turnComplete","turnId":"t"}`))
		}
	}
	f.Fuzz(func(t *testing.T, initial, log []byte) {
		var chat ChatState
		var session SessionState
		if json.Unmarshal(initial, &chat) != nil || json.Unmarshal(initial, &session) != nil {
			return
		}
		for _, line := range strings.Split(string(log), "\n") {
			a, err := DecodeAction(json.RawMessage(line))
			if err != nil {
				continue
			}
			before, beforeToo := encode(t, V1, chat), encode(t, V1, session)
			nextChat, nextSession := ReduceChat(chat, a), ReduceSession(session, a)
			if string(encode(t, V1, chat)) != string(before) || string(encode(t, V1, session)) != string(beforeToo) {
				t.Fatalf("%s changed its input", line)
			}
			chat, session = nextChat, nextSession
		}
		for _, p := range []Profile{V1, V05} {
			again(t, p, chat)
			again(t, p, session)
		}
	})
}

// again reads what was written and writes the same.
func again[S any](t *testing.T, p Profile, s S) {
	t.Helper()
	first := encode(t, p, s)
	var back S
	if err := json.Unmarshal(first, &back); err != nil {
		t.Fatalf("%v in %s", err, first)
	}
	if second := encode(t, p, back); !sameJSON(t, first, second) {
		t.Fatalf("profile %v\nfirst  %s\nsecond %s", p, first, second)
	}
}
