package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
)

// known has the types whose JSON differs from what their Go kind suggests.
var known = map[reflect.Type]*object{
	typeOf[json.RawMessage]():    {},
	typeOf[[]byte]():             {Type: "string", ContentEncoding: "base64"},
	typeOf[ahp.Instant]():        {Type: "string", Format: "date-time"},
	typeOf[ahp.Action]():         ref("Action"),
	typeOf[ahp.Prose]():          ref("Prose"),
	typeOf[nothing]():            kind("null"),
	typeOf[ahp.SessionChanges](): ref("SessionSummaryChanges"),
}

// Members that package ahp keeps as raw JSON and other packages have types for.
var (
	changesets = listOf(ref("Changeset"))
	changed    = members(properties{"additions": kind("integer"), "deletions": kind("integer"), "files": kind("integer")})
	fileEdits  = members(properties{"items": listOf(ref("ChangesetEdit"))})
)

// edit changes members that the tags gave a type: a schema by the member's name, with "!" after the
// name if it is required; nil removes the member.
type edit map[string]*object

// edits are the changes for all generations.
var edits = map[reflect.Type]edit{
	typeOf[ahp.DispatchParams]():           {"action!": ref("ClientAction")},
	typeOf[ahp.ReconnectParams]():          {"subscriptions!": listOf(&object{AnyOf: []*object{kind("string"), ref("SubscribeParams")}})},
	typeOf[ahp.Snapshot]():                 {"state!": ref("State")},
	typeOf[ahp.TerminalInfo]():             {"exitCode": kind("integer")},
	typeOf[ahp.TerminalState]():            {"exitCode": kind("integer")},
	typeOf[ahp.SessionChangesetsChanged](): {"changesets": changesets},
	typeOf[ahp.ChatChangesetsChanged]():    {"changesets": changesets},
	typeOf[ahp.SessionState]():             {"changesets": changesets, "annotations": ref("AnnotationSummary")},
	typeOf[ahp.SessionSummary]():           {"changes": changed, "annotations": ref("AnnotationSummary")},
	typeOf[ahp.ChatState]():                {"changesets": changesets, "changes": changed},
	typeOf[ahp.ChatSummary]():              {"changes": changed},
	typeOf[ahp.ChatToolCallReady]():        {"edits": fileEdits},
	typeOf[ahp.ToolCall]():                 {"edits": fileEdits},
	typeOf[ahp.ToolContent]():              {"before": ref("ChangesetSide"), "after": ref("ChangesetSide"), "diff": ref("ChangesetLines")},
	typeOf[ahp.AttentionChanged]():         {"attention!": orNull(ref("Attention"))},
	typeOf[ahp.SessionChatUpdated]():       {"changes!": ref("ChatSummaryChanges")},
	typeOf[ahp.ResponsePart]():             {"content": ref("Prose")},
	typeOf[ahp.ChatToolCallDelta]():        {"content": kind("string")},
	typeOf[ahp.Question]():                 {"message!": ref("Prose"), "options": kind("array")},
	typeOf[ahp.InputRequest]():             {"answers": mapOf(ref("Answer"))},
	typeOf[ahp.ChatInputCompleted]():       {"answers": mapOf(ref("Answer"))},
	typeOf[ahp.ChatInputAnswerChanged]():   {"answer": ref("Answer")},
}

// edits05 are additional changes for 0.5. Sessions and chats have their summaries twice, because 0.5's
// sources and release differ; what only one of them has is optional.
var edits05 = map[reflect.Type]edit{
	typeOf[ahp.Claim]():         {"chat": nil},
	typeOf[ahp.TerminalInfo]():  {"lifecycle": nil},
	typeOf[ahp.TerminalState](): {"lifecycle": nil, "isPty": nil},
	typeOf[ahp.SessionSummary](): {
		"workingDirectories": nil, "defaultChat": nil, "workingDirectory": kind("string"),
		"createdAt!": kind("integer"), "modifiedAt!": kind("integer"), "model": {}, "agent": {},
	},
	typeOf[ahp.SessionState](): {
		"summary!": ref("SessionSummary"), "provider": kind("string"), "title": kind("string"), "status": kind("integer"),
		"workingDirectories": nil, "workingDirectory": kind("string"), "inputNeeded": nil,
	},
	typeOf[ahp.ChatState](): {
		"summary": ref("ChatSummary"), "inputRequests": listOf(ref("InputRequest")), "backgroundWork": nil,
	},
	typeOf[ahp.Turn]():              {"error": ref("ErrorInfo")},
	typeOf[ahp.ChatError]():         {"part": nil, "error!": ref("ErrorInfo")},
	typeOf[ahp.ChatToolCallDelta](): {"content!": kind("string")},
	typeOf[annotation.Annotation](): {"origin": nil, "turnId!": kind("string")},
	typeOf[annotation.Updated]():    {"origin": nil},
	typeOf[ahp.FetchTurnsResult]():  {"turns!": listOf(ref("Turn")), "hasMore!": kind("boolean")},
}

func required(s *object, names ...string) *object {
	s.Required = append(s.Required, names...)
	return s
}

// set sets a member of an object; nil removes it.
func set(s *object, name string, as *object) {
	name, must := strings.CutSuffix(name, "!")
	s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(r string) bool { return r == name })
	if as == nil {
		delete(s.Properties, name)
		return
	}
	s.Properties[name] = as.CloneSchemas()
	if must {
		s.Required = append(s.Required, name)
	}
}

// structOf returns a reference to the schema of a struct, which it makes at the first call.
func (g *generator) structOf(t reflect.Type) *object {
	name := nameOf(t)
	if g.defs[name] != nil {
		return ref(name)
	}
	s := members(properties{})
	g.defs[name] = s // before its members, because they may refer to it
	if a, is := reflect.Zero(t).Interface().(ahp.Action); is {
		set(s, "type!", constant(a.ActionType()))
	}
	g.fields(s, t)
	all := []edit{edits[t]}
	if g.profile == ahp.V05 {
		all = append(all, edits05[t])
	}
	for _, e := range all {
		for name, as := range e {
			set(s, name, as)
		}
	}
	slices.Sort(s.Required)
	if u, is := unions[t]; is {
		*s = *u.of(s)
	}
	if name == "" { // an unnamed type is written where it is used
		delete(g.defs, name)
		return s
	}
	return ref(name)
}

// fields adds the members that the tags of t's fields describe to s.
func (g *generator) fields(s *object, t reflect.Type) {
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && !tagged:
			g.fields(s, f.Type)
			continue
		case options == "":
			name += "!"
		}
		as := g.of(f.Type)
		if f.Type == typeOf[json.RawMessage]() && strings.HasPrefix(name, "_meta") {
			as = kind("object")
		}
		set(s, name, as)
	}
}

// changesOf makes the schema of changes of a type: every member is optional, and null if it is gone.
func (g *generator) changesOf(t reflect.Type) {
	s := g.defs[g.of(t).Ref[len(refTo("")):]].CloneSchemas()
	for name, as := range s.Properties {
		s.Properties[name] = orNull(as)
	}
	s.Required = nil
	g.defs[nameOf(t)+"Changes"] = s
}

// union is a type of several kinds, told apart by the member by. kinds has the members that only some
// kinds have, with "!" if they are required there.
type union struct {
	by    string
	kinds map[any]string
}

const toolStarted = "invocationMessage! toolInput confirmed! selectedOption "

var unions = map[reflect.Type]union{
	typeOf[ahp.Claim](): {"kind", map[any]string{
		ahp.ClaimClient: "clientId!", ahp.ClaimSession: "session! chat! turnId toolCallId",
	}},
	typeOf[ahp.Lifecycle](): {"status", map[any]string{ahp.StatusRunning: "", ahp.StatusExited: "exitCode"}},
	typeOf[ahp.Part](): {"type", map[any]string{
		ahp.PartUnclassified: "value!",
		ahp.PartCommand:      "commandId! commandLine! output! timestamp! isComplete! exitCode durationMs",
	}},
	typeOf[ahp.ReconnectResult](): {"type", map[any]string{
		ahp.ReconnectReplay: "actions! missing!", ahp.ReconnectSnapshot: "snapshots!",
	}},
	typeOf[ahp.ResponsePart](): {"kind", map[any]string{
		ahp.PartMarkdown: "id! content!", ahp.PartReasoning: "id! content!", ahp.PartToolCall: "toolCall!",
		ahp.PartSystemNotification: "content!", ahp.PartInputRequest: "request! response", ahp.PartError: "error! resumable",
	}},
	typeOf[ahp.ToolCall](): {"status", map[any]string{
		ahp.ToolStreaming:     "partialInput invocationMessage",
		ahp.ToolPending:       "invocationMessage! toolInput confirmationTitle riskAssessment edits editable options",
		ahp.ToolRunning:       toolStarted + "content",
		ahp.ToolAuthRequired:  toolStarted + "content auth!",
		ahp.ToolPendingResult: toolStarted + "success! pastTenseMessage! content structuredContent error",
		ahp.ToolCompleted:     toolStarted + "success! pastTenseMessage! content structuredContent error",
		ahp.ToolCancelled:     "invocationMessage! toolInput selectedOption reason! reasonMessage userSuggestion",
	}},
	typeOf[ahp.ChatToolCallConfirmed](): {"approved", map[any]string{
		true: "confirmed! editedToolInput", false: "reason! reasonMessage userSuggestion",
	}},
	typeOf[ahp.ToolContent](): {"type", map[any]string{
		ahp.ContentText: "text!", ahp.ContentEmbedded: "data! contentType!", ahp.ContentResource: "uri! sizeHint contentType",
		ahp.ContentFileEdit: "before after diff", ahp.ContentTerminal: "resource! title! isPty result",
		ahp.ContentSubagent: "resource! title! agentName description",
	}},
	typeOf[ahp.Contributor](): {"kind", map[any]string{ahp.ContributorClient: "clientId!", "mcp": "customizationId!"}},
	typeOf[ahp.Attachment](): {"type", map[any]string{
		ahp.AttachSimple: "modelRepresentation", ahp.AttachEmbedded: "data! contentType! selection", ahp.AttachResource: "uri! selection",
		ahp.AttachAnnotations: "resource! annotationIds", "chat": "resource! endTurn selection",
	}},
	typeOf[ahp.BackgroundWork](): {"kind", map[any]string{ahp.WorkShell: "command terminal", "subagent": "chat!"}},
	typeOf[ahp.InputNeeded](): {"kind", map[any]string{
		ahp.NeedChatInput: "request!", ahp.NeedToolConfirmation: "turnId! toolCall!",
		ahp.NeedToolClientExecution: "turnId! clientId! toolCall!", ahp.NeedToolAuthentication: "turnId! toolCall!",
	}},
	typeOf[ahp.Answer](): {"state", map[any]string{ahp.AnswerDraft: "value!", ahp.AnswerSubmitted: "value!", ahp.AnswerSkipped: ""}},
	typeOf[ahp.ChatOrigin](): {"kind", map[any]string{
		"user": "", "fork": "chat! turnId!", "sideChat": "chat! turnId! selection", "tool": "chat! toolCallId!",
	}},
}

func order(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }

// of returns the union's schema, made of the object with the members of all kinds.
func (u union) of(all *object) *object {
	s := required(members(properties{u.by: all.Properties[u.by]}), u.by)
	for _, value := range slices.SortedFunc(maps.Keys(u.kinds), order) {
		then := all.CloneSchemas()
		for _, of := range u.kinds {
			for word := range strings.FieldsSeq(of) {
				set(then, strings.TrimSuffix(word, "!"), nil)
			}
		}
		for word := range strings.FieldsSeq(u.kinds[value]) {
			if as := all.Properties[strings.TrimSuffix(word, "!")]; as != nil { // else this generation does not have it
				set(then, word, as)
			}
		}
		set(then, u.by+"!", constant(value))
		s.AllOf = append(s.AllOf, when(u.by, value, then))
	}
	return s
}
