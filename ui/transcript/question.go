package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/words"
)

// QuestionTitle names a question.
func QuestionTitle(q ahp.Question) string {
	for _, s := range []string{q.Title, q.Message, q.ID} {
		if s = words.Line(s); s != "" {
			return s
		}
	}
	return "Answer"
}

// given is what an answer to a question says.
type given struct {
	Yes     bool
	Options []string // ids
	Text    string
}

// GivenIn reads an answer; ok is false where it says nothing.
func GivenIn(raw json.RawMessage) (g given, ok bool) {
	var a ahp.Answer
	if len(raw) == 0 || ahp.Unmarshal(raw, &a) != nil || a.Value == nil {
		return g, false
	}
	into := any(&g.Text)
	switch a.Value.Kind {
	case "boolean":
		into = &g.Yes
	case "selected-many":
		into = &g.Options
	case "selected":
		g.Options = make([]string, 1)
		into = &g.Options[0]
	case "number":
		g.Text = string(a.Value.Value)
		return g, true
	}
	return g, json.Unmarshal(a.Value.Value, into) == nil
}

// answerText is an answer in words.
func answerText(q ahp.Question, raw json.RawMessage) string {
	g, ok := GivenIn(raw)
	switch {
	case !ok:
		return ""
	case q.Kind == "boolean":
		return map[bool]string{true: "yes", false: "no"}[g.Yes]
	case q.Kind != "single-select" && q.Kind != "multi-select":
		return g.Text
	}
	var labels []string
	for _, o := range q.Options {
		if slices.Contains(g.Options, o.ID) {
			labels = append(labels, o.Label)
		}
	}
	return strings.Join(labels, ", ")
}

// WaysOf are the ways to log in that an error names.
func WaysOf(e *ahp.ErrorInfo) []ahp.AgentAuth {
	if e == nil {
		return nil
	}
	var m struct {
		Auth []ahp.AgentAuth `json:"tandemux/auth"`
	}
	json.Unmarshal(e.Meta, &m) //nolint:errcheck // then there are none
	return m.Auth
}
