package main

import (
	_ "embed"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"tandemux/internal/capture"
	"tandemux/internal/cli"
	"tandemux/internal/complete"
	"tandemux/internal/doctor"
	"tandemux/internal/endpoint"
	"tandemux/internal/hostcmd"
	"tandemux/internal/local"
	"tandemux/internal/prompt"
	"tandemux/internal/runner"
	"tandemux/internal/taskcmd"
	"tandemux/internal/termcmd"
)

// Groups of the command list.
const (
	groupUse      = "use"
	groupTerminal = "terminal"
	groupHost     = "host"
	groupAgents   = "agents"
	groupTasks    = "tasks"
)

func newRoot() *cobra.Command {
	root := bareRoot()
	for group, commands := range map[string][]*cobra.Command{
		groupUse:      {newAttachCommand(), termcmd.New(), newDoCommand(), termcmd.Ls(), termcmd.Layout(), newConfigCommand(), newWebCommand(), newShareCommand(), capture.PlayCommand(playTheme)},
		groupTerminal: append(termcmd.Commands(), runner.Command(), newSchemaCommand(), capture.RecordCommand()),
		groupAgents:   {prompt.Command(), termcmd.Session(), newAgentCommand(), newMCPCommand()},
		groupTasks:    taskcmd.Commands(configuredAgent),
		groupHost:     {hostcmd.Command(), newHubCommand(), newJoinCommand(), newHostCommand(), newStopCommand(), newUpgradeCommand(), termcmd.Forget(), termcmd.Token(), doctor.Command(doctor.Checks{Configuration: checkConfiguration, Agents: checkAgents, Terminal: checkOuterTerminal, Shell: configuredShell})},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.AddCommand(newBridgeCommand())
	return finish(root)
}

// often are the commands that run when the interface starts. To make all others besides
// takes longer than what they do themselves before they connect.
var often = map[string]func() *cobra.Command{"attach": newAttachCommand, "host": newHostCommand}

// rootFor is newRoot for what args need: the help, and what completes words, need all.
func rootFor(args []string) *cobra.Command {
	switch {
	case len(args) == 0:
		return finish(bareRoot())
	case often[args[0]] == nil, slices.Contains(args, "--help"), slices.Contains(args, "-h"):
		return newRoot()
	}
	root := bareRoot()
	root.AddCommand(often[args[0]]())
	return finish(root)
}

// bareRoot is the root without commands.
func bareRoot() *cobra.Command {
	root := newAttachCommand()
	root.Use = "tandemux"
	root.Short = "A terminal multiplexer that people and agents share"
	root.Long = `tandemux keeps your shells running, shows them in panes and tabs, and lets agents
and editors use the same terminals over open protocols. Each terminal says who
holds it.

Without a command it opens the interface, starting the host when none runs.
The prefix key is ctrl+space; ctrl+space ? shows all keys.`
	root.Version = version
	addSkillFlag(root)
	root.AddGroup(
		&cobra.Group{ID: groupUse, Title: "Every day"},
		&cobra.Group{ID: groupTerminal, Title: "Terminals, for scripts and agents"},
		&cobra.Group{ID: groupAgents, Title: "Agents"},
		&cobra.Group{ID: groupTasks, Title: "Tasks"},
		&cobra.Group{ID: groupHost, Title: "The host"},
	)
	endpoint.AddFlags(root)
	return root
}

// finish does what needs a root's commands.
func finish(root *cobra.Command) *cobra.Command {
	cli.Complete(root, complete.Words(configuredAgents))
	endpoint.TakeHosts(root)
	return root
}

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

// skill is what agents are told of how to drive tandemux; a test holds it against
// the commands and tools that there are.
//
//go:embed skill.md
var skill string

// addSkillFlag makes `tandemux --skill` print the guide.
func addSkillFlag(root *cobra.Command) {
	show := root.Flags().Bool("skill", false, "Print a guide for agents that drive tandemux")
	open := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *show {
			_, err := io.WriteString(cmd.OutOrStdout(), skill)
			return err
		}
		return open(cmd, args)
	}
}
