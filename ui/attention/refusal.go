package attention

import (
	"fmt"

	"tandemux/ahp"
)

// Refused words the newest thing that an agent was not allowed since before; empty
// when there is nothing new.
func Refused(before, now []ahp.AgentRefusal) string {
	if len(now) == 0 {
		return ""
	}
	last := now[len(now)-1]
	if len(before) > 0 && before[len(before)-1] == last {
		return ""
	}
	text := fmt.Sprintf("%s was not allowed: %s (%s)", last.Agent, last.What, last.Why)
	if last.Count > 1 {
		text += fmt.Sprintf(", %d times", last.Count)
	}
	return text
}
