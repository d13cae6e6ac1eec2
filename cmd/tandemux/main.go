package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"tandemux/host/keeper"
	"tandemux/host/sandbox"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
)

// version is set by the linker.
var version = "dev"

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
	root := newRoot()
	root.SetArgs(args)
	err := local.FindDirs().TakeOver()
	if err == nil {
		err = execute(ctx, root, args)
	}
	return cli.Exit(root, err)
}

// execute runs the command. Only pages for reading are styled by fang: it asks
// the terminal for its background colour first, which an error message must
// not wait for.
func execute(ctx context.Context, root *cobra.Command, args []string) error {
	for _, page := range []string{"--help", "-h", "help", "man", "completion"} {
		cut := slices.Index(args, "--")
		if i := slices.Index(args, page); i >= 0 && (cut < 0 || i < cut) {
			return fang.Execute(ctx, root, fang.WithVersion(version), fang.WithErrorHandler(func(io.Writer, fang.Styles, error) {}))
		}
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	return root.ExecuteContext(ctx)
}
