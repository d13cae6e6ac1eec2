package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"tandemux/host/keeper"
	"tandemux/host/sandbox"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
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
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if slices.Equal(args, []string{"keeper"}) { // where cmd/tandemux-keeper is not installed
		return keeper.Main(local.FindDirs().Dirs)
	}
	if err := local.FindDirs().TakeOver(); err != nil {
		fmt.Fprintln(os.Stderr, "tandemux: "+cli.OneSentence(err))
		return cli.ExitFailed
	}
	return cli.Run(ctx, newRoot(), args, manual)
}
