package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
	"tandemux/internal/local"
)

// hubProgram has the commands about a fleet; it lies beside this one.
const hubProgram = "tandemux-hub"

func newHubCommand() *cobra.Command {
	return byHub("hub [COMMAND...]", `Run a hub, where several machines meet, and say who may join
The program tandemux-hub beside this one does it; tandemux hub --help lists its commands.

  tandemux hub serve
  tandemux hub invite build > build.creds
  tandemux hub ls`, "hub")
}

func newJoinCommand() *cobra.Command {
	return byHub("join [URL]", `Make this machine one of a fleet
It dials out to a hub, which then knows which terminals run here, and carries connections
of those who have a token of this host. tandemux join --help says more.

  tandemux join --credential build.creds`, "join")
}

// byHub is a command that the other program does, with all that follows it.
func byHub(use, about string, before string) *cobra.Command {
	cmd := cli.Command(use, about, nil, func(cmd *cobra.Command, args []string) error {
		path, err := hubPath()
		switch {
		case err != nil && slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" }):
			return cmd.Help()
		case err != nil:
			return err
		}
		return fmt.Errorf("run %s: %w", path, syscall.Exec(path, append([]string{hubProgram, before}, args...), os.Environ()))
	})
	cmd.DisableFlagParsing, cmd.Args = true, cobra.ArbitraryArgs // the other program checks them
	cmd.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		path, err := hubPath()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		out, _ := exec.CommandContext(c.Context(), path, append(append([]string{cobra.ShellCompNoDescRequestCmd, before}, args...), word)...).Output() //nolint:errcheck // then nothing is completed
		words := strings.Fields(string(out))
		return words[:max(len(words)-1, 0)], cobra.ShellCompDirectiveNoFileComp // the last one is the directive
	}
	return cmd
}

func hubPath() (string, error) {
	self, err := local.Program()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), hubProgram)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if path, err = exec.LookPath(hubProgram); err != nil {
		return "", fmt.Errorf("the program %s is neither beside this one, in %s, nor in PATH: it is a part of each release, and `make install` puts it there", hubProgram, filepath.Dir(self))
	}
	return path, nil
}
