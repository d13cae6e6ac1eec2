package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes, fixed by docs: scripts depend on them.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2

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

// Unwrap gives the error below.
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

// Did wraps a command's work so that its errors can be told from usage errors.
func Did(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := work(cmd, args); err != nil {
			return ranError{err}
		}
		return nil
	}
}

// IsFailure reports whether an error is a failure of the work, rather than a usage
// error, a chosen exit code or an interrupt.
func IsFailure(err error) bool {
	var status StatusError
	var usage usageError
	return err != nil && !errors.As(err, &status) && !errors.As(err, &usage) && !errors.Is(err, context.Canceled)
}

// Exit prints the error in one sentence on stderr and gives the process's exit code.
func Exit(root *cobra.Command, err error) int {
	var status StatusError
	var usage usageError
	var ran ranError
	code := ExitFailed
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &status):
		if code, err = status.Code, status.Err; err == nil {
			return code
		}
	case errors.Is(err, context.Canceled):
		return ExitFailed
	case errors.As(err, &usage) || !errors.As(err, &ran):
		code = ExitUsage
	}
	fmt.Fprintln(root.ErrOrStderr(), "tandemux: "+OneSentence(err))
	return code
}

// OneSentence keeps control characters of whatever an error quotes off the
// terminal, and cobra's suggestions on one line.
func OneSentence(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}
