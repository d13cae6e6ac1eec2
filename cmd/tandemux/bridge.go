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
	cmd := cli.Command("bridge", "Connect stdin and stdout to the host (started over ssh)", nil, func(cmd *cobra.Command, _ []string) error {
		endpoint.FindRuntimeDir()
		return endpoint.Bridge(cmd.Context(), local.FindDirs(), cmd.InOrStdin(), cli.Raw(cmd.OutOrStdout()))
	})
	cmd.Hidden = true
	return cmd
}
