package agents

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
func (as *Agents) asking() *terminals.Terminal {
	if _, t, _ := as.panes.Focused(); t.Ask() != nil {
		return t
	}
	for _, uri := range as.panes.Terms.Order {
		if t := as.panes.Terms.Get(uri); t.Ask() != nil {
			return t
		}
	}
	return nil
}

// AskText words a terminal's question.
func (as *Agents) AskText(t *terminals.Terminal) string {
	a := t.Ask()
	text := words.Clean(a.Who) + " asks for " + t.Quoted()
	if reason := words.Clean(a.Reason); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

// answerAgent asks the person what to tell an agent.
func (as *Agents) answerAgent() {
	t := as.asking()
	host := as.link.Host
	if t == nil || !as.link.Can(link.CanAnswer) {
		as.loop.Say(status.Info, "this connection can't answer agents")
		return
	}
	uri, id, who := t.URI, t.Ask().ID, words.Clean(t.Ask().Who)
	as.loop.Open(overlay.NewApproval(overlay.Asked{
		Title: who, View: approval.Claim(*t.Ask(), t.Info),
		Say: func(why string) { as.loop.Say(status.Info, "%s", why) },
		Answer: func(a approval.Option) {
			as.loop.Async("answer "+who, func(ctx context.Context) (func(), error) {
				err := host.Answer(ctx, ahp.AnswerParams{Channel: uri, ID: id, Grant: a.Allows})
				return func() {
					switch {
					case err != nil:
					case a.Allows:
						as.loop.Say(status.Info, "%s has the terminal; %s takes it back", who, as.do.Keys("reclaim"))
					default:
						as.loop.Say(status.Info, "%s was refused", who)
					}
				}, err
			})
		},
	}))
}
