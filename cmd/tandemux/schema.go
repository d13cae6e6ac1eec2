package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/schema"
	"tandemux/internal/cli"
	"tandemux/internal/spelling"
)

// documents are the schemas that can be printed, by what they are called.
var documents = map[string]ahp.Profile{"ahp": ahp.V1, "ahp-0.9": ahp.V09, "ahp-0.5": ahp.V05}

func newSchemaCommand() *cobra.Command {
	cmd := cli.Command("schema [ahp|ahp-0.9|ahp-0.5|NAME] [NAME]", `Print the JSON Schema of what the host reads and writes
ahp is the Agent Host Protocol 1.x with tandemux's extensions; ahp-0.9 and ahp-0.5 are
those versions. With a NAME it is that part alone, with what it refers to: a method, an
action, a kind of channel, or a type in the schema's $defs.`, nil, printSchema)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		words := schema.Names(schema.Document(ahp.V1))
		if len(args) == 0 {
			words = append([]string{"ahp", "ahp-0.9", "ahp-0.5"}, words...)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func printSchema(cmd *cobra.Command, args []string) error {
	doc := schema.Document(ahp.V1)
	if len(args) > 0 {
		if p, is := documents[args[0]]; is {
			doc, args = schema.Document(p), args[1:]
		}
	}
	switch {
	case len(args) > 1:
		return cli.Usagef("there is no schema %q", args[0])
	case len(args) == 1:
		all := doc
		if doc = schema.Named(all, args[0]); doc == nil {
			hint := ""
			if near := spelling.Closest(args[0], schema.Names(all)); near != "" {
				hint = fmt.Sprintf(": do you mean %q?", near)
			}
			return cli.Usagef("there is no schema of %q%s", args[0], hint)
		}
	}
	return cli.JSON(cmd.OutOrStdout(), doc)
}
