package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// TestScopes: what each tool may do for tokens of each set of scopes. A tool that
// a token's scopes do not allow is refused with the scope's name, or where the
// terminal is not the agent's to begin with, with that.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "agent-spawns = 0\nagent-terminals = 0\n")
	addr := w.Listen()
	mine := w.Tandemux("new", "--name", "mine", "--", "cat")
	person := "pty-" + strings.TrimSpace(mine)
	const (
		read, create, input, claim = "terminal:read", "terminal:create", "terminal:input", "terminal:claim"
	)
	tools := []struct {
		name string
		// needs are the scopes; owned says that it is for the agent's own terminals,
		// which one without create has none of.
		needs []string
		owned bool
		args  func(own string) m
	}{
		{"list_terminals", []string{read}, false, func(string) m { return nil }},
		{"read_terminal", []string{read}, false, func(string) m { return m{"terminalId": person} }},
		{"wait_for", []string{read}, false, func(string) m { return m{"terminalId": person, "until": "idle", "idleMs": 1} }},
		{"read_command", []string{read}, false, func(string) m { return m{"terminalId": person} }},
		{"spawn_background_terminal", []string{read, create}, false, func(string) m { return m{"command": []string{"cat"}} }},
		{"run_command", []string{read, create}, false, func(string) m { return m{"command": []string{"true"}} }},
		{"send_input", []string{read, input}, true, func(own string) m { return m{"terminalId": own, "text": "x"} }},
		{"release_terminal", []string{read, claim}, true, func(own string) m { return m{"terminalId": own} }},
		{"promote_terminal", []string{read, claim}, true, func(own string) m { return m{"terminalId": own} }},
		{"kill_terminal", []string{read, claim}, true, func(own string) m { return m{"terminalId": own} }},
		{"claim_terminal", []string{read, claim}, false, func(string) m { return m{"terminalId": person, "reason": "test", "timeoutMs": 1} }},
	}
	gives := map[string]bool{"release_terminal": true, "promote_terminal": true}
	for _, scopes := range [][]string{
		{read},
		{create},
		{input},
		{claim},
		{read, create},
		{read, input},
		{read, claim},
		{read, create, input},
		{read, create, claim},
		{read, create, input, claim},
	} {
		name := strings.ReplaceAll(strings.Join(scopes, "+"), "terminal:", "")
		t.Run(name, func(t *testing.T) {
			token := w.Token("--scope", strings.Join(scopes, ","))
			a := overHTTP(w, name, addr, token)
			for _, tool := range tools {
				own := person // Where it has none of its own.
				var missing []string
				for _, s := range tool.needs {
					if !slices.Contains(scopes, s) {
						missing = append(missing, s)
					}
				}
				if tool.owned && slices.Contains(scopes, read) && slices.Contains(scopes, create) {
					own, _ = a.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"].(string)
				} else if tool.owned && gives[tool.name] && slices.Contains(scopes, read) {
					missing = nil // The person has it already: nothing is to be done.
				} else if tool.owned {
					missing = append(missing, "not its own")
				}
				text, failed := a.try(tool.name, tool.args(own))
				if failed != (len(missing) > 0) {
					t.Errorf("%s: failed is %v, lacking %v: %s", tool.name, failed, missing, text)
				}
				if failed && !slices.ContainsFunc([]string{`lacks the scope "terminal:`, "you do not hold", "another agent", "Cannot kill visible", "held by client"}, func(s string) bool { return strings.Contains(text, s) }) {
					t.Errorf("%s is refused with %s", tool.name, text)
				}
				if own != person && len(missing) > 0 && slices.Contains(scopes, claim) {
					a.get("kill_terminal", m{"terminalId": own})
				}
			}
		})
	}
}
