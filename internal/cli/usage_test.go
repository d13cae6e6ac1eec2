package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestMeant: what may have been meant is what is close to a name or to what is said of
// it, a name before that; nothing where nothing is close.
func TestMeant(t *testing.T) {
	for typed, want := range map[string]string{"cloude": "claude", "biuld": "7k2m", "kepe": "keep", "nope": ""} {
		c := &cobra.Command{Use: "show NAME", ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"ci", "claude\tClaude Code", "task-claude\tclaude", "7k2m\tbuild", "8n3p\tkeep", "keep\t8n3p"}, 0
		}}
		if err := c.ParseFlags([]string{typed}); err != nil {
			t.Fatal(err)
		}
		if got := meant(c, "not_found", "there is no "+typed); got != want {
			t.Errorf("%s is taken for %q, want %q", typed, got, want)
		}
	}
}
