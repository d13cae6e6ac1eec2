package main

import (
	"github.com/spf13/cobra"

	"tandemux/host/hooks"
	"tandemux/internal/capture"
	"tandemux/internal/cli"
	"tandemux/internal/complete"
	"tandemux/internal/doctor"
	"tandemux/internal/endpoint"
	"tandemux/internal/hostcmd"
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
	for group, commands := range map[string][]*cobra.Command{
		groupUse:      {newAttachCommand(), termcmd.New(), newDoCommand(), termcmd.Ls(), termcmd.Layout(), newConfigCommand(), newWebCommand(), newShareCommand(), capture.PlayCommand(playTheme)},
		groupTerminal: append(termcmd.Commands(), runner.Command(), newSchemaCommand(), capture.RecordCommand()),
		groupAgents:   {prompt.Command(), termcmd.Session(), newAgentCommand(), newMCPCommand()},
		groupTasks:    taskcmd.Commands(configuredAgent),
		groupHost:     {hostcmd.Command(), newHubCommand(), newJoinCommand(), newHostCommand(), newStopCommand(), newUpgradeCommand(), newHookCommand(), termcmd.Forget(), termcmd.Token(), doctor.Command(doctor.Checks{Configuration: checkConfiguration, Agents: checkAgents, Terminal: checkOuterTerminal, Shell: configuredShell})},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.AddCommand(newBridgeCommand())
	addOldNames(root)
	words := complete.Words(configuredAgents)
	words["HOOK"] = hookWords
	words["EVENT"] = func(*cobra.Command) []string { return hooks.Kinds }
	cli.Complete(root, words)
	endpoint.TakeHosts(root)
	return root
}
