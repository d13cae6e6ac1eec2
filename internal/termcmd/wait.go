package termcmd

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

func newWaitCommand() *cobra.Command {
	var in struct {
		Exit    bool          `flag:"exit" doc:"Until its program has exited; exit with its exit code"`
		Command bool          `flag:"command" doc:"Until the command that runs now has finished"`
		Idle    time.Duration `flag:"idle" doc:"Until there is no output for this long, such as 500ms"`
		Text    cli.Pattern   `flag:"text" doc:"Until a line of output matches this regular expression"`
		Timeout time.Duration `flag:"timeout" doc:"Give up after this long (exit code 124)"`
	}
	cmd := cli.WithJSON(onTerminal("wait ID", `Wait until a terminal's program, command or output is done
It is waited, in the host, until the terminal's program has exited (--exit, with its
exit code), until the command that its shell runs now has finished (--command), until
there is no output for a time (--idle), or until a line of output matches an RE2
expression (--text): the line that the cursor is on counts, and all output from
now on. It returns at once, with exit code 1, when what it is bound to is gone:
the terminal, or for --text the command that ran when it began; and when the exit
code is not known, as that of a program whose keeper was killed; 124 when --timeout is
over.

  tandemux wait build --command --timeout 10m
  tandemux wait server --text 'listening on .*:8080'`, &in,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
			p := ahp.WaitParams{Channel: t.Resource, TimeoutMs: in.Timeout.Milliseconds()}
			switch {
			case in.Exit:
				p.Until = ahp.WaitExit
			case in.Command:
				p.Until = ahp.WaitCommand
			case cmd.Flags().Changed("idle"):
				p.Until, p.IdleMs = ahp.WaitIdle, in.Idle.Milliseconds()
			default:
				p.Until, p.Pattern = ahp.WaitText, string(in.Text)
			}
			var r ahp.WaitResult
			if err := s.Carry(ctx, ahp.MethodWait, p, &r); err != nil {
				return err
			}
			err := cli.Print(cmd, r, func(w io.Writer) error {
				if r.Line != "" {
					fmt.Fprintln(w, r.Line)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return waited(p, r, endpoint.LastPart(t.Resource), in.Timeout)
		}), cli.One[ahp.WaitResult]())
	cmd.MarkFlagsMutuallyExclusive("exit", "command", "idle", "text")
	cmd.MarkFlagsOneRequired("exit", "command", "idle", "text")
	return cmd
}

// waited makes the exit code and the words of a wait's end.
func waited(p ahp.WaitParams, r ahp.WaitResult, id string, timeout time.Duration) error {
	switch r.Reason {
	case ahp.WaitMet:
		switch {
		case p.Until != ahp.WaitExit:
			return nil
		case r.ExitCode == nil:
			return fmt.Errorf("the program of terminal %s has exited, but its exit code is not known: the keeper, which would have been told, was gone", id)
		case *r.ExitCode != 0:
			return cli.StatusError{Code: *r.ExitCode}
		}
		return nil
	case ahp.WaitTimeout:
		what := "its program has ended"
		if r.Running {
			what = "it still runs"
		}
		return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v waiting for terminal %s; %s", timeout, id, what)}
	case ahp.WaitFinished:
		return fmt.Errorf("the command in terminal %s has finished, and no line matched %q", id, p.Pattern)
	case ahp.WaitExited:
		if p.Until == ahp.WaitText {
			return fmt.Errorf("the program of terminal %s has exited, and no line matched %q", id, p.Pattern)
		}
		return fmt.Errorf("the program of terminal %s has exited", id)
	case ahp.WaitGone:
		return fmt.Errorf("the terminal %s was removed", id)
	case ahp.WaitOverrun:
		return fmt.Errorf("the output of terminal %s came faster than it could be searched; wait for something simpler", id)
	}
	return fmt.Errorf("wait for terminal %s: the host answers %q, which this version does not know", id, r.Reason)
}
