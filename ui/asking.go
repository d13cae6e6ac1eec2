package ui

import (
	"context"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/link"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// asking is the terminal whose question is answered next: the focused one's, or
// the oldest terminal's; nil for none.
func (m *Model) asking() *terminals.Terminal {
	if _, t, _ := m.panes.Focused(); t.Ask() != nil {
		return t
	}
	for _, uri := range m.panes.Terms.Order {
		if t := m.panes.Terms.Get(uri); t.Ask() != nil {
			return t
		}
	}
	return nil
}

// askText words a terminal's question.
func (m *Model) askText(t *terminals.Terminal) string {
	a := t.Ask()
	text := words.Clean(a.Who) + " asks for " + t.Quoted()
	if reason := words.Clean(a.Reason); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

// answerAgent asks the person what to tell an agent.
func (m *Model) answerAgent() {
	t := m.asking()
	host := m.link.Host
	if t == nil || !m.link.Can(link.CanAnswer) {
		m.loop.Say(status.Info, "this connection can't answer agents")
		return
	}
	uri, id, who := t.URI, t.Ask().ID, words.Clean(t.Ask().Who)
	m.loop.Open(overlay.NewApproval(overlay.Asked{
		Title: who, View: approval.Claim(*t.Ask(), t.Info),
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
