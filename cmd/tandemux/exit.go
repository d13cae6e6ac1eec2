package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
)

// Exit codes, fixed by docs: scripts depend on them.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2

	exitTimeout = 124
)

// statusError ends with an exit code of its own: a command's that was run, or
// exitTimeout. Without an error there is nothing to say.
type statusError struct {
	code int
	err  error
}

func (e statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e statusError) Unwrap() error { return e.err }

// usageError marks an error that the caller's words caused.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// ranError marks an error of a command that began its work; every other error
// that reaches exitCode was cobra's about the words.
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

// exitCode prints the error in one sentence on stderr and gives the process's
// exit code.
func exitCode(root *cobra.Command, err error) int {
	if err == nil {
		return exitDone
	}
	var status statusError
	if errors.As(err, &status) {
		if status.err != nil {
			fmt.Fprintln(root.ErrOrStderr(), "tandemux: "+oneSentence(status.err))
		}
		return status.code
	}
	var usage usageError
	var ran ranError
	code := exitFailed
	if errors.As(err, &usage) || !errors.As(err, &ran) {
		code = exitUsage
	}
	if errors.Is(err, context.Canceled) {
		return exitFailed
	}
	fmt.Fprintln(root.ErrOrStderr(), "tandemux: "+oneSentence(err))
	return code
}

// oneSentence keeps control characters of whatever an error quotes off the
// terminal, and cobra's suggestions on one line.
func oneSentence(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}

func discardError(io.Writer, fang.Styles, error) {}
