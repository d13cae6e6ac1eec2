package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// saidByTandemux are the texts in the source of what is no test.
func saidByTandemux(t *testing.T) (said []string) {
	for _, s := range read(t) {
		if s.test || s.dir == "bench" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					said = append(said, text)
				}
			}
			return true
		})
	}
	return said
}

// TestQuotedMessages: what docs/troubleshooting.md quotes in its headings, tandemux says.
// An … stands for anything.
func TestQuotedMessages(t *testing.T) {
	said := saidByTandemux(t)
	quoted := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(readFile(t, "docs/troubleshooting.md"), -1)
	if len(quoted) < 20 {
		t.Errorf("docs/troubleshooting.md has %d messages", len(quoted))
	}
	for _, m := range quoted {
		if !slices.ContainsFunc(said, func(text string) bool { return hasInOrder(text, strings.Split(m[1], "…")) }) {
			t.Errorf("docs/troubleshooting.md quotes %q, which tandemux does not say", m[1])
		}
	}
}

func hasInOrder(text string, parts []string) bool {
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

// between are variables that tandemux's processes, or its tests, tell each other.
var between = []string{
	"TANDEMUX_AHP_TREE", "TANDEMUX_READY_FD", "TANDEMUX_SANDBOX_PLAN", "TANDEMUX_SEED",
	"TANDEMUX_SHELL_KEPT", "TANDEMUX_SHELL_NONCE", "TANDEMUX_SHELL_RC", "TANDEMUX_SOAK",
}

// TestVariablesAreWritten: docs/scripting.md has the variables of the environment that
// are tandemux's.
func TestVariablesAreWritten(t *testing.T) {
	name := regexp.MustCompile(`^(TANDEMUX(?:_[A-Z_]*[A-Z])?)=?$`)
	var used []string
	for _, text := range saidByTandemux(t) {
		if m := name.FindStringSubmatch(text); m != nil && !slices.Contains(between, m[1]) {
			used = append(used, m[1])
		}
	}
	slices.Sort(used)
	_, table, _ := strings.Cut(readFile(t, "docs/scripting.md"), "\n## Environment\n")
	table, _, _ = strings.Cut(table, "\n## ")
	written := regexp.MustCompile(`TANDEMUX(?:_[A-Z_]+)?`).FindAllString(table, -1)
	slices.Sort(written)
	if used = slices.Compact(used); !slices.Equal(used, written) {
		t.Errorf("the variables are %q; docs/scripting.md says %q", used, written)
	}
}
