package doctor

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/host/sandbox"
	"tandemux/internal/local"
)

// checkSandbox says whether tasks can be shut in here. That they can't is a warning:
// who has no tasks needs none.
func checkSandbox(cmd *cobra.Command, _ local.Dirs) (string, string) {
	s := sandbox.Check(cmd.Context(), "")
	switch {
	case s.Err != nil:
		return Warn, "tasks are refused unless they go without (--no-sandbox): " + s.Err.Error()
	case len(s.Missing) > 0:
		return Warn, fmt.Sprintf("bubblewrap %s; %s", s.Version, strings.Join(s.Missing, "; "))
	}
	return OK, fmt.Sprintf("bubblewrap %s, limits by cgroup", s.Version)
}
