package tmux

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/host/guard"
)

// askTime is how long a person is given to answer.
const askTime = 2 * time.Minute

// refusals are what comes of a question, by its answer.
var refusals = map[string]string{
	ahp.AskRefused: "the person refused it",
	ahp.AskTimeout: fmt.Sprintf("nobody has answered in %v", askTime),
	ahp.AskNobody:  "nobody is here to allow it",
}

// allowed starts a program, once more when a person has allowed what the host refused.
func (a *answerer) allowed(argv []string, do func() error) error {
	err := do()
	if err == nil {
		return nil
	}
	if _, asks := guard.Asks(refusal(err)); !asks {
		return err
	}
	switch answer, failed := a.ask(ahp.AskParams{Command: guard.Text(argv, "")}); {
	case failed != nil:
		return failed
	case answer != ahp.AskGranted:
		return fmt.Errorf("%w: %s", err, refusals[answer])
	}
	return do()
}

// team asks, once for all of them, whether the teammates get panes.
func (a *answerer) team(c call) error {
	err := a.lead()
	if err != nil {
		return err
	}
	answer, err := a.ask(ahp.AskParams{Channel: a.from, Panes: true})
	if err == nil && answer != ahp.AskGranted {
		err = fmt.Errorf("%s: no panes for teammates: %s", c.name, refusals[answer])
	}
	return err
}

// ask asks a person. Other commands go on meanwhile.
func (a *answerer) ask(p ahp.AskParams) (answer string, err error) {
	a.turn.leave()
	ctx, cancel := context.WithTimeout(a.ctx, askTime+time.Minute)
	defer cancel()
	p.Claim, p.TimeoutMs = ahp.Claim{Kind: ahp.ClaimSession, Session: a.session}, askTime.Milliseconds()
	var r ahp.AskResult
	err = a.leader.Carry(ctx, ahp.MethodAsk, p, &r)
	return r.Answer, errors.Join(err, a.turn.take(), a.open())
}

// refusal is the host's own text.
func refusal(err error) string {
	if e := ahp.FromRPC(err); e != nil {
		return e.Message
	}
	return err.Error()
}
