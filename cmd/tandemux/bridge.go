package main

import (
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"

	"github.com/spf13/cobra"
)

// newBridgeCommand is the far side of --host ssh://; ssh runs it. It is not for
// people.
func newBridgeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "bridge",
		Short:  "Connect stdin and stdout to the host (started over ssh)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: cli.Did(func(cmd *cobra.Command, _ []string) error {
			endpoint.FindRuntimeDir()
			return endpoint.Bridge(cmd.Context(), local.FindDirs(), cmd.InOrStdin(), cmd.OutOrStdout())
		}),
	}
}
