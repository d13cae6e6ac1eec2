package main

import (
	"strings"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
)

// oldNames are what commands were called before, by what they are called now. They go
// with the release after this one.
var oldNames = map[string]string{
	"agent": "agents", "agent show": "get", "agent rm": "delete",
	"session": "sessions", "session rm": "end",
	"token rm": "revoke",
	"apikey":   "keys", "apikey new": "add", "apikey show": "get", "apikey set": "scope", "apikey rm": "revoke",
	"project": "projects", "project new": "create", "project show": "get", "project set": "update", "project rm": "delete",
	"task new": "create", "task show": "get", "task rm": "delete",
	"ws new": "create", "ws show": "get",
	"env set": "add", "env show": "get",
}

// addOldNames gives the commands below root their old names, too, which nobody is shown.
func addOldNames(root *cobra.Command) {
	find := func(name string) *cobra.Command {
		c, _, err := root.Find(strings.Fields(name))
		if err != nil {
			panic(err)
		}
		return c
	}
	for name, old := range oldNames {
		find(name).Aliases = []string{old}
	}
	for _, name := range []string{"agent", "session"} { // which were lists
		group, ls, help := find(name), find(name+" ls"), find(name).RunE
		cli.WithJSON(group, cli.Forms(ls)...).Flags().Lookup("json").Hidden = true
		group.RunE = func(cmd *cobra.Command, args []string) error {
			if cmd.CalledAs() == oldNames[name] {
				return ls.RunE(cmd, args)
			}
			return help(cmd, args)
		}
	}
	deployed := newAgentLsCommand()
	deployed.Use, deployed.Hidden = "deployed", true
	deployed.Flags().Set("deployed", "true") //nolint:errcheck // the flag is there
	find("agent").AddCommand(deployed)
}
