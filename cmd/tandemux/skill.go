package main

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"
)

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
