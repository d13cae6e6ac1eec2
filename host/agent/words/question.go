package words

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/params"
)

// Evidence adds to a question what else is known about the call: changes of files as edits, texts as
// "tandemux/text", and "tandemux/partial" if something was too large to send, so that nobody allows
// what they can't see.
func Evidence(a *ahp.ChatToolCallReady, t agent.ToolCall) {
	partial := t.Partial || len(t.Title) > MaxError || len(t.Content) > MaxContents || len(t.Input) > MaxText
	var edits []map[string]json.RawMessage
	var texts []string
	for i, c := range Contents(t.Content) {
		switch c.Type {
		case ahp.ContentFileEdit:
			edit := map[string]json.RawMessage{"after": c.After}
			if c.Before != nil {
				edit["before"] = c.Before
			}
			edits = append(edits, edit)
		case ahp.ContentText:
			texts = append(texts, c.Text)
			partial = partial || t.Content[i].Terminal == nil && len(t.Content[i].Text) > MaxText
		}
	}
	if len(edits) > 0 {
		if b, err := json.Marshal(map[string]any{"items": edits}); err == nil {
			a.Edits = b
		}
	}
	if len(texts) > 0 {
		a.Meta = WithMember(a.Meta, "tandemux/text", strings.Join(texts, "\n"))
	}
	if partial {
		a.Meta = WithMember(a.Meta, "tandemux/partial", true)
	}
}

// Denies reports whether a choice denies.
func Denies(o agent.Choice) bool {
	return o.Group == agent.ConfirmRejectOnce || o.Group == agent.ConfirmRejectAlways
}

// Editable returns the member of a call's input that may be edited, if clients see the input.
func Editable(q agent.Confirmation, told json.RawMessage) string {
	text, ok := ahp.InputText(told)
	if !ok || q.Editable == "" {
		return ""
	}
	if _, ok := Member(text, q.Editable); !ok {
		return ""
	}
	return q.Editable
}

// Member returns a member of a JSON object if it is a string that is not empty.
func Member(object, name string) (string, bool) {
	var all map[string]json.RawMessage
	var text string
	ok := json.Unmarshal([]byte(object), &all) == nil && json.Unmarshal(all[name], &text) == nil && text != ""
	return text, ok
}

// WithMember returns a JSON object with a member set, or removed if value is nil.
func WithMember(object json.RawMessage, name string, value any) json.RawMessage {
	all := map[string]any{}
	if len(object) > 0 && json.Unmarshal(object, &all) != nil {
		return object
	}
	if all[name] = value; value == nil {
		delete(all, name)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return object
	}
	return b
}

// errDenied is Confirm's error if a person denies and the agent has no option for that.
var errDenied = errors.New("the tool call was denied")

// Chosen returns the agent's option for an answer.
func Chosen(options []agent.Choice, a ahp.ChatToolCallConfirmed) (string, error) {
	if a.SelectedOptionID != "" {
		return a.SelectedOptionID, nil
	}
	groups := []string{agent.ConfirmAllowOnce, agent.ConfirmAllowAlways}
	if !a.Approved {
		groups = []string{agent.ConfirmRejectOnce, agent.ConfirmRejectAlways}
	}
	id, ok := agent.OptionOf(options, groups...)
	if !ok {
		return "", errDenied
	}
	return id, nil
}

// Answered says how a tool call was already answered, for who answers too late.
func Answered(t ahp.ToolCall) string {
	switch {
	case t.Confirmed == ahp.ConfirmedUserAction && t.SelectedOption != nil:
		return fmt.Sprintf(": somebody has chosen %q already", t.SelectedOption.Label)
	case t.Confirmed == ahp.ConfirmedUserAction:
		return ": somebody has approved it already"
	case t.Reason == ahp.ReasonDenied:
		return ": somebody has denied it already"
	}
	return ""
}

// RefusesEdit returns why a tool call can't run with the edited input, or "". Only the member name, a
// text, may differ.
func RefusesEdit(input json.RawMessage, edited, name string) string {
	was, isText := ahp.InputText(input)
	if name == "" || !isText {
		return "the input of this tool call can't be edited"
	}
	if _, ok := Member(edited, name); !ok || len(edited) > MaxText {
		return fmt.Sprintf("the edited input: want the same object with another text as its %q", name)
	}
	var before, after map[string]any
	if json.Unmarshal([]byte(was), &before) != nil || json.Unmarshal([]byte(edited), &after) != nil {
		return "the edited input is no object"
	}
	delete(before, name)
	delete(after, name)
	if !reflect.DeepEqual(before, after) {
		return fmt.Sprintf("the edited input: of this tool call only %q can be edited", name)
	}
	return ""
}

// WantsToken returns why an agent with a protected resource is not started.
func WantsToken(info agent.Info) *agent.Error {
	return agent.Errorf(agent.KindAuthRequired,
		"the agent %s needs a token for %s: set %s in [agents.%s.env], or use a client that gives one", info.ID, info.Resource.URI, info.Resource.Variable, info.ID)
}

// GoOn returns the prompt for an agent whose last turn was interrupted after it had begun to answer.
func GoOn(message, broken string) string {
	return fmt.Sprintf("Your last turn was interrupted (%s). Go on where you were. What was asked: %s", params.ClipTo(broken, MaxError), message)
}

// FailedResult returns the result of a tool that failed.
func FailedResult(why string) ahp.ToolResult {
	return ahp.ToolResult{Error: &ahp.ToolError{Message: why}, PastTenseMessage: ahp.Plain("Failed: " + why)}
}

// ErrorRefusal is the type of error of a turn that it is useless to repeat.
const ErrorRefusal = "refusal"

// FailedPart returns the part with which a turn fails. The turn can be resumed, unless the agent
// refused it.
func FailedPart(info ahp.ErrorInfo) ahp.ResponsePart {
	return ahp.ResponsePart{Kind: ahp.PartError, Error: &info, Resumable: info.ErrorType != ErrorRefusal}
}

// CheckAnswers returns what is wrong with answers, or "". Absent ones delete a draft.
func CheckAnswers(q ahp.InputRequest, answers map[string]json.RawMessage) string {
	for id, raw := range answers {
		i := slices.IndexFunc(q.Questions, func(k ahp.Question) bool { return k.ID == id })
		if i < 0 {
			return fmt.Sprintf("there is no question %q", params.Clip(id))
		}
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		var a ahp.Answer
		if err := ahp.Unmarshal(raw, &a); err != nil {
			return fmt.Sprintf("the answer to %q is not one: %s", params.Clip(id), params.Unfit(err))
		}
		switch want := ahp.AnswerKinds[q.Questions[i].Kind]; {
		case a.State == ahp.AnswerSkipped:
		case a.State != ahp.AnswerDraft && a.State != ahp.AnswerSubmitted:
			return fmt.Sprintf("the answer to %q: its state is not known: %q", params.Clip(id), params.Clip(a.State))
		case a.Value == nil:
			return fmt.Sprintf("the answer to %q has no value", params.Clip(id))
		case want != "" && a.Value.Kind != want:
			return fmt.Sprintf("the answer to %q is a %q; the question wants a %q", params.Clip(id), params.Clip(a.Value.Kind), want)
		case !fits(a.Value.Kind, a.Value.Value):
			return fmt.Sprintf("the answer to %q is no %q", params.Clip(id), params.Clip(a.Value.Kind))
		}
	}
	return ""
}

// fits reports whether value has the form of a kind of answer.
func fits(kind string, value json.RawMessage) bool {
	var err error
	switch kind {
	case "text", "selected":
		err = json.Unmarshal(value, new(*string))
	case "number":
		err = json.Unmarshal(value, new(*float64))
	case "boolean":
		err = json.Unmarshal(value, new(*bool))
	case "selected-many":
		err = json.Unmarshal(value, new([]string))
	}
	return len(value) > 0 && err == nil
}

// LacksAnswer returns which required question has no answer, or "".
func LacksAnswer(q ahp.InputRequest, a ahp.ChatInputCompleted) string {
	if a.Response != ahp.InputAccept {
		return ""
	}
	for _, k := range q.Questions {
		if !k.Required {
			continue
		}
		raw, ok := a.Answers[k.ID]
		if !ok {
			raw = q.Answers[k.ID]
		}
		var given ahp.Answer
		if len(raw) == 0 || ahp.Unmarshal(raw, &given) != nil || given.Value == nil || given.State == ahp.AnswerSkipped {
			return fmt.Sprintf("the question %q needs an answer", params.Clip(k.ID))
		}
	}
	return ""
}
