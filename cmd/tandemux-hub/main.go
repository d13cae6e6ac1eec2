package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// version is set by the linker.
var version = "dev"

func main() {
	endpoint.Version = version
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(cli.Run(ctx, newRoot(), os.Args[1:], ""))
}

// newRoot has the commands as tandemux has them, which runs this program with all that
// follows its own name.
func newRoot() *cobra.Command {
	root := cli.Group("tandemux", "Work with a fleet of machines", "",
		cli.Group("hub", "Run a hub, where several machines meet, and say who may join", `A hub is what several machines meet at: it knows which there are and what runs there,
carries terminals where no direct way exists, and hands out tasks.`,
			newServeCommand(), newLsCommand(), newStatusCommand(), newInviteCommand(), newRevokeCommand(), newTokenCommand(),
			newLoginCommand(), newLogoutCommand(), newWhoamiCommand(), newAuditCommand(), newQueueCommand(), newDrainCommand(), newLimitsCommand(), newWebhookCommand()),
		newJoinCommand())
	root.Version = version
	endpoint.AddFlags(root)
	return root
}
