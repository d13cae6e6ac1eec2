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
	if _, t, _ := as.Panes.Focused(); t.Ask() != nil {
		return t
	}
	for _, uri := range as.Panes.Terms.Order {
		if t := as.Panes.Terms.Get(uri); t.Ask() != nil {
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
	host := as.Link.Host
	if t == nil || !as.Link.Can(link.CanAnswer) {
		as.Loop.Say(status.Info, "this connection can't answer agents")
		return
	}
	uri, id, who := t.URI, t.Ask().ID, words.Clean(t.Ask().Who)
	as.Loop.Open(overlay.NewApproval(overlay.Asked{
		Title: who, View: approval.Claim(*t.Ask(), t.Info),
		Say: func(why string) { as.Loop.Say(status.Info, "%s", why) },
		Answer: func(a approval.Option) {
			p := ahp.AnswerParams{Channel: uri, ID: id, Grant: a.Allows}
			as.Loop.Call("answer "+who, func(ctx context.Context) error { return host.Answer(ctx, p) }, func() {
				if a.Allows {
					as.Loop.Say(status.Info, "%s has the terminal; %s takes it back", who, as.Loop.Keys("reclaim"))
					return
				}
				as.Loop.Say(status.Info, "%s was refused", who)
			})
		},
	}))
}
