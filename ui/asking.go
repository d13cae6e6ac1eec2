package ui

import (
	"context"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// askOf is an agent's question for a terminal, nil for none.
func askOf(t *terminal) *ahp.Ask {
	if t == nil || t.info.Meta == nil {
		return nil
	}
	return t.info.Meta.Ask
}

// asking is the terminal whose question is answered next: the focused one's, or
// the oldest terminal's; nil for none.
func (m *Model) asking() *terminal {
	if _, t, _ := m.focused(); askOf(t) != nil {
		return t
	}
	for _, uri := range m.terms.order {
		if t := m.terms.get(uri); askOf(t) != nil {
			return t
		}
	}
	return nil
}

// askText words a terminal's question.
func (m *Model) askText(t *terminal) string {
	a := askOf(t)
	text := words.Clean(a.Who) + " asks for " + describe(t)
	if reason := words.Clean(a.Reason); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

// answerAgent asks the person what to tell an agent.
func (m *Model) answerAgent() {
	t := m.asking()
	host := m.cfg.Host
	if t == nil || !m.can(CanAnswer) {
		m.loop.Say(status.Info, "this connection can't answer agents")
		return
	}
	uri, id, who := t.uri, askOf(t).ID, words.Clean(askOf(t).Who)
	m.loop.Open(overlay.NewApproval(overlay.Asked{
		Title: who, View: approval.Claim(*askOf(t), t.info),
		Say: func(why string) { m.loop.Say(status.Info, "%s", why) },
		Answer: func(a approval.Option) {
			m.loop.Async("answer "+who, func(ctx context.Context) (func(), error) {
				err := host.Answer(ctx, ahp.AnswerParams{Channel: uri, ID: id, Grant: a.Allows})
				return func() {
					switch {
					case err != nil:
					case a.Allows:
						m.loop.Say(status.Info, "%s has the terminal; %s takes it back", who, m.keysOf("reclaim"))
					default:
						m.loop.Say(status.Info, "%s was refused", who)
					}
				}, err
			})
		},
	}))
}
