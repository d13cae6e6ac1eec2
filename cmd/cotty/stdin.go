package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cotty/ahp"
	"cotty/host"
	"cotty/internal/client"
)

const (
	// feedLine is how many bytes a line of base64 carries: a terminal takes
	// lines of up to 4,095 characters.
	feedLine = 2700
	// feedLines is how many lines are sent at once.
	feedLines = 16
	// feedPause is how long to wait for a program that does not read.
	feedPause = 20 * time.Millisecond
)

// feed passes our standard input on to the command.
func (r *runner) feed(ctx context.Context) {
	switch {
	case r.stdin:
		r.feedPipe(ctx)
	case r.o.terminal != "" && isPiped(os.Stdin):
		r.feedKeys(ctx)
	}
}

// feedPipe sends lines of base64, and an empty one as the end.
func (r *runner) feedPipe(ctx context.Context) {
	buf := make([]byte, feedLine*feedLines)
	for {
		n, err := os.Stdin.Read(buf)
		var b strings.Builder
		for part := buf[:n]; len(part) > 0; {
			k := min(len(part), feedLine)
			b.WriteString(base64.StdEncoding.EncodeToString(part[:k]))
			b.WriteByte('\n')
			part = part[k:]
		}
		if err != nil {
			b.WriteByte('\n')
		}
		if !r.typed(ctx, b.String()) || err != nil {
			return
		}
	}
}

// feedKeys types what comes, and ctrl+d as the end.
func (r *runner) feedKeys(ctx context.Context) {
	in := bufio.NewReaderSize(os.Stdin, 32<<10)
	ended := true // the last line, with its end
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			ended = line[len(line)-1] == '\n'
			if !r.typed(ctx, strings.ToValidUTF8(string(line), "\uFFFD")) {
				return
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	end := "\x04"
	if !ended { // The first one ends the line only.
		end += "\x04"
	}
	r.typed(ctx, end)
}

// typed sends input until the host takes it; false when it never will.
func (r *runner) typed(ctx context.Context, data string) bool {
	if data == "" {
		return true
	}
	for {
		_, err := r.DispatchWait(ctx, r.uri, ahp.TerminalInput{Data: data})
		var refused *client.RejectedError
		if err == nil {
			return true
		}
		if !errors.As(err, &refused) || !strings.Contains(refused.Error(), "input queue is full") {
			return false
		}
		select {
		case <-time.After(feedPause):
		case <-ctx.Done():
			return false
		}
	}
}

// newStdinCommand is the hidden program that the host puts before a command
// that is to read a pipe: it decodes what comes from the terminal.
func newStdinCommand() *cobra.Command {
	return &cobra.Command{
		Use: host.StdinCommand + " -- COMMAND [ARG...]", Hidden: true, Args: cobra.MinimumNArgs(1),
		RunE: did(func(_ *cobra.Command, args []string) error { return runFed(args) }),
	}
}

func runFed(argv []string) error {
	// Interrupts are for the command; it gets its own defaults back.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return statusError{127, fmt.Errorf("run %s: %w", argv[0], err)}
	}
	go func() {
		defer in.Close()
		for lines := bufio.NewReaderSize(os.Stdin, 8<<10); ; {
			line, err := lines.ReadString('\n')
			if line = strings.TrimRight(line, "\r\n"); err != nil || line == "" {
				return
			}
			data, err := base64.StdEncoding.DecodeString(line)
			if err != nil {
				return
			}
			if _, err := in.Write(data); err != nil {
				// It reads no more; what is sent must still be taken.
				io.Copy(io.Discard, lines) //nolint:errcheck // until the end
				return
			}
		}
	}()
	err = cmd.Wait()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	status, _ := ended.Sys().(syscall.WaitStatus)
	if status.Signaled() { // End as it did.
		signal.Reset()
		syscall.Kill(os.Getpid(), status.Signal())
		return statusError{128 + int(status.Signal()), nil}
	}
	return statusError{status.ExitStatus(), nil}
}
