package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"tandemux/host/keeper"
	"tandemux/host/sandbox"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/tmux"
)

// version is set by the linker.
var version = "dev"

// manual is the end of the manual page.
//
//go:embed manual.roff
var manual string

func main() {
	endpoint.Version = version
	if code, ours := sandbox.Main(os.Args); ours {
		os.Exit(code)
	}
	if tmux.Is(os.Args) {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		code := tmux.Main(ctx, os.Args[1:])
		stop()
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:]))
}

// leastSpace is what a host was found to need of addresses, in bytes, with room to grow.
const leastSpace = 1536 << 20

// enoughSpace is an error where a limit (ulimit -v) would end us in the midst of work.
func enoughSpace() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur >= leastSpace {
		return nil //nolint:nilerr // what can't be asked is no limit
	}
	return fmt.Errorf("the limit of addresses is %d MiB, and tandemux needs %d: raise it with `ulimit -v unlimited`", limit.Cur>>20, leastSpace>>20)
}

func run(args []string) int {
	if err := enoughSpace(); err != nil {
		fmt.Fprintln(os.Stderr, "tandemux: "+cli.OneSentence(err))
		return cli.ExitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if slices.Equal(args, []string{"keeper"}) { // where cmd/tandemux-keeper is not installed
		return keeper.Main(local.FindDirs().Dirs)
	}
	if err := local.FindDirs().TakeOver(); err != nil {
		fmt.Fprintln(os.Stderr, "tandemux: "+cli.OneSentence(err))
		return cli.ExitFailed
	}
	args = tmuxFlags(args)
	return cli.Run(ctx, rootFor(args), args, manual)
}
