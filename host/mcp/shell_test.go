package mcp

import "testing"

// TestShellArguments: what is meant for an agent's own shell is a line; all else is as it was.
func TestShellArguments(t *testing.T) {
	for in, want := range map[string]string{
		`{"command":"ls | wc","description":"Count","timeout":9000,"run_in_background":false}`: `{"line":"ls | wc","timeoutMs":9000}`,
		`{"command":["ls"],"cwd":"/x"}`: `{"command":["ls"],"cwd":"/x"}`,
		`{"line":"ls"}`:                 `{"line":"ls"}`,
		`{"command":""}`:                `{"command":""}`,
		`[]`:                            `[]`,
	} {
		if got := string(shellArguments([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
