package tmux

import (
	"context"
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/host/guard"
)

// askTime is how long a person is given to allow a command that the host has refused.
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
	ctx, cancel := context.WithTimeout(a.ctx, askTime+time.Minute)
	defer cancel()
	p := ahp.AskParams{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: a.session}, TimeoutMs: askTime.Milliseconds(), Command: guard.Text(argv, "")}
	var r ahp.AskResult
	if err := a.leader.Carry(ctx, ahp.MethodAsk, p, &r); err != nil {
		return err
	}
	if r.Answer == ahp.AskGranted {
		return do()
	}
	return fmt.Errorf("%w: %s", err, refusals[r.Answer])
}

// refusal is the host's own text.
func refusal(err error) string {
	if e := ahp.FromRPC(err); e != nil {
		return e.Message
	}
	return err.Error()
}
