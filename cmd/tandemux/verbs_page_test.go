package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
)

// verbsTable is the table of all verbs in docs/scripting.md. Those of a group stand with it.
func verbsTable(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("verb|does\n---|---\n")
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		name := code(c.Name())
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				name += " " + below.Name()
			}
		}
		does, _, _ := strings.Cut(c.Short, "; ")
		if what, _, _ := strings.Cut(does, ": "); strings.Contains(what, " ") {
			does = what
		}
		fmt.Fprintf(&b, "%s|%s\n", name, cell(does))
	}
	return b.String()
}

// TestVerbsAreWritten: docs/scripting.md has every verb.
func TestVerbsAreWritten(t *testing.T) {
	const path, from, to = "../../docs/scripting.md", "-run Verbs -update -->\n", "<!-- end -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), from)
	_, after, end := strings.Cut(rest, to)
	if !ok || !end {
		t.Fatal("docs/scripting.md has no place for the table of verbs")
	}
	want := before + from + verbsTable(completeRoot(t)) + to + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/scripting.md has other verbs; run: go test ./cmd/tandemux -run Verbs -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestExitCodesAreWritten: docs/scripting.md has the exit codes.
func TestExitCodesAreWritten(t *testing.T) {
	text, err := os.ReadFile("../../docs/scripting.md")
	if err != nil {
		t.Fatal(err)
	}
	for code, means := range map[int]string{cli.ExitDone: "done", cli.ExitFailed: "failed", cli.ExitUsage: "wrong usage", cli.ExitTimeout: "timed out"} {
		if want := fmt.Sprintf("\n%d | %s", code, means); !strings.Contains(string(text), want) {
			t.Errorf("docs/scripting.md does not say %q", want)
		}
	}
}
