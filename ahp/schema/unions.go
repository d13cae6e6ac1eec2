package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tandemux/ahp"
)

// union is a type of several kinds: by is the member that tells them apart, kinds are
// the members of each beside those that all have, with "!" where they must be there.
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

// of tells the kinds of an object with the members of all apart.
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
			if as := all.Properties[strings.TrimSuffix(word, "!")]; as != nil { // else not in this generation
				set(then, word, as)
			}
		}
		set(then, u.by+"!", constant(value))
		s.AllOf = append(s.AllOf, when(u.by, value, then))
	}
	return s
}
