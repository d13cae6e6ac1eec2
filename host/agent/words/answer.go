package words

import (
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/params"
)

// CheckAnswers says what is wrong with answers; absent ones delete.
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

// fits reports whether JSON is a value of the kind it says.
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

// LacksAnswer says which required question has no answer.
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
