package ui_test

import (
	"testing"

	"tandemux/ahp"
)

// What an agent was not allowed is said in the status line, once; what was there
// when the interface started is no news.
func TestRefusalsAreSaid(t *testing.T) {
	u := start(t)
	u.Host.Refused(ahp.AgentRefusal{At: 1, Count: 1, Agent: "claude", What: "rm -rf x", Why: "blocked"})
	u.WaitIdle()
	u.Shows("claude was not allowed: rm -rf x (blocked)")
	u.Host.Refused(ahp.AgentRefusal{At: 2, Count: 3, Agent: "claude", What: "sudo ls", Why: "blocked"})
	u.WaitIdle()
	u.Shows("claude was not allowed: sudo ls (blocked), 3 times")
}

// A question keeps the status line: what an agent was not allowed is said once it is answered.
func TestRefusalsLetQuestionsBe(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space 1")
	sh := u.Host.Terminal("sh2")
	sh.Describe(func(m *ahp.TerminalMeta) { m.Ask = &ahp.Ask{ID: "7", Who: "claude", Reason: "to run the tests"} })
	u.WaitIdle()
	u.Host.Refused(ahp.AgentRefusal{Agent: "codex", What: "rm -rf x", Why: "blocked"})
	u.WaitIdle()
	u.Hides("was not allowed")
	u.Shows("claude asks for this terminal")
	sh.Describe(func(m *ahp.TerminalMeta) { m.Ask = nil })
	u.WaitIdle()
	u.Shows("codex was not allowed: rm -rf x (blocked)")
}
