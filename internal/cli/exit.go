package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/internal/jsonform"
	"tandemux/internal/plaintext"
)

// Exit codes, fixed by docs: scripts depend on them.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitPart   = 3 // some of several hosts were not reached; the rest was printed

	ExitTimeout = 124
)

// StatusError ends with an exit code of its own: a command's that was run, or
// ExitTimeout. Without an error there is nothing to say.
type StatusError struct {
	Code int
	Err  error
}

func (e StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e StatusError) Unwrap() error { return e.Err }

// usageError marks an error that the caller's words caused.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef is an error about the words of a command line.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// ranError marks an error of a command that began its work; every other error
// that reaches Exit was cobra's about the words.
type ranError struct{ error }

func (e ranError) Unwrap() error { return e.error }

// did wraps a command's work so that its errors can be told from usage errors.
func did(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := work(cmd, args); err != nil {
			return ranError{err}
		}
		return nil
	}
}

//go:embed completion.bash
var completionBash string

// Run runs the command of a command line and gives the process's exit code. Errors go
// to stderr, each in one sentence. manual is the end of the manual page, as roff.
func Run(ctx context.Context, root *cobra.Command, args []string, manual string) int {
	var astray error // a command that is not there, found when its help was asked for
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(&clean{to: root.OutOrStdout()})
	root.SetErr(&clean{to: root.ErrOrStderr()})
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if words := c.Flags().Args(); len(words) > 0 && c.HasAvailableSubCommands() {
			astray = unknownCommand(c, words[0])
			return
		}
		help(c.OutOrStdout(), c)
	})
	root.AddCommand(manCommand(manual))
	root.SetArgs(args)
	root.InitDefaultCompletionCmd(args...)
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		for _, shell := range c.Commands() {
			shell.Args = arguments
		}
		c.Short, c.Long, c.RunE, c.Args = "Print the script that completes command lines, for a shell", "", showHelp, arguments
	}
	if c, _, err := root.Find([]string{"completion", "bash"}); err == nil {
		// cobra's needs the package bash-completion.
		c.Long = "\n  tandemux completion bash > ~/.local/share/bash-completion/completions/tandemux\n  source <(tandemux completion bash)"
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), completionBash)
			return err
		}
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = astray
	}
	return exit(cmd, args, err)
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "Print the help of a command", Args: arguments,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) (names []string, _ cobra.ShellCompDirective) {
			if at, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, below := range at.Commands() {
					if below.IsAvailableCommand() && strings.HasPrefix(below.Name(), word) {
						names = append(names, cobra.CompletionWithDesc(below.Name(), below.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: did(func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if at.DisableFlagParsing { // another program has it
				return at.RunE(at, append(rest, "--help"))
			}
			if len(rest) > 0 {
				return unknownCommand(at, rest[0])
			}
			at.InitDefaultHelpFlag()
			help(cmd.OutOrStdout(), at)
			return nil
		}),
	}
}

// tell says an error on stderr in one sentence, or as JSON where the command line asks for
// that, as far as it could be read.
func tell(cmd *cobra.Command, args []string, code string, err error) {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	w, text := cmd.Root().ErrOrStderr(), OneSentence(err)
	if word := meant(cmd, code, text); word != "" {
		text += fmt.Sprintf("; did you mean %q?", word)
	}
	if !AsJSON(cmd) && !slices.Contains(args, "--json") {
		fmt.Fprintln(w, "tandemux: "+text)
		return
	}
	var f jsonform.Failure
	f.Error.Code, f.Error.Message = code, text
	line, _ := jsonform.Write(reflect.TypeOf(f), f, false) //nolint:errcheck // it can be
	Raw(w).Write(escaped(line))                            //nolint:errcheck // there is nowhere else to say it
}

// exit says the error and gives the process's exit code.
func exit(cmd *cobra.Command, args []string, err error) int {
	var status StatusError
	var usage usageError
	var ran ranError
	code, word := ExitFailed, jsonform.Code(err)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &status):
		if code, err = status.Code, status.Err; err == nil {
			return code
		}
		if named := map[int]string{ExitTimeout: "timeout", ExitPart: "unreached"}[code]; named != "" {
			word = named
		}
	case errors.Is(err, context.Canceled):
		return ExitFailed
	case errors.As(err, &usage):
		code, word = ExitUsage, "usage"
	case !errors.As(err, &ran):
		code, word, err = ExitUsage, "usage", groupError(cmd, err)
	}
	tell(cmd, args, word, err)
	return code
}

// Each does something to each of what was named, also where that failed for another. What
// went wrong is said once.
func Each[T any](list []T, do func(T) error) (all error) {
	for _, one := range list {
		switch err := do(one); {
		case err == nil:
		case all == nil:
			all = err
		case !strings.Contains(all.Error(), err.Error()):
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// OneSentence keeps what an error quotes from doing something to the terminal, and cobra's suggestions on one line.
func OneSentence(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), plaintext.Hidden), " ")
}
