package taskcmd

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/task"
	"tandemux/host/task/budget"
	"tandemux/internal/cli"
)

func newTaskBudget() *cobra.Command {
	var in struct {
		budget.Limits
		MaxDisk size           `flag:"max-disk" value:"SIZE" doc:"How much its files may take on the disk, such as 2G; 0: as much as there is"`
		MaxTime *time.Duration `flag:"max-time" value:"TIME" doc:"How long its turns may run in all, such as 30m, without the time in which it waits for answers; 0: any time"`
	}
	return verb("budget TASK", `Show what a task has used and may use, or change that
A turn that has used it all is stopped, and nothing more is begun before you raise the
limit; messages that wait go on then.

  tandemux task budget fixer
  tandemux task budget fixer --max-cost 5`, &in, func(c *call, args []string) error {
		in.Seconds, in.Bytes = wholeSeconds(in.MaxTime), in.MaxDisk.bytes
		if in.Limits != (budget.Limits{}) {
			return told(c, budgetLines, "setBudget", in.Limits, args[0])
		}
		t, err := Ask[task.Present](c.Client, "getTask", nil, args[0])
		if err != nil {
			return err
		}
		return show(c, t.Budget, budgetLines(t.Budget))
	}, cli.One[budget.View]())
}

// budgetLines are what a task has used and may use.
func budgetLines(v budget.View) string {
	lines := v.Words()
	for i := range lines {
		lines[i] = cli.Line(lines[i])
	}
	return strings.Join(lines, "\n")
}

// size is a flag of bytes, nil where it was not given.
type size struct{ bytes *int64 }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *size) UnmarshalText(text []byte) error {
	n, err := budget.ParseBytes(string(text))
	s.bytes = &n
	return err
}

// wholeSeconds is a time as the interface takes it, rounded up.
func wholeSeconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(int64((*d + time.Second - 1) / time.Second))
}
