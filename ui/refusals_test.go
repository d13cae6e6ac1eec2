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
