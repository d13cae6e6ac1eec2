package prompt

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestMarkOfExitCode: a command that failed has no mark of success, whatever its agent says.
func TestMarkOfExitCode(t *testing.T) {
	yes := true
	for code, want := range map[int]string{0: "✓ make\n", 3: "✗ make (exit code 3)\n"} {
		var out, errs strings.Builder
		p := &prompter{out: &out, err: &errs}
		p.printed.calls = map[string]string{}
		p.tellCall(&ahp.ToolCall{
			ToolCallID: "c", Status: ahp.ToolCompleted, DisplayName: "make", Success: &yes,
			Content: []ahp.ToolContent{{Type: ahp.ContentTerminal, Result: &ahp.TerminalResult{ExitCode: &code}}},
		})
		if got := errs.String(); got != want {
			t.Errorf("exit code %d: %q, want %q", code, got, want)
		}
	}
}
