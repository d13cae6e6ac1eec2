package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/schema"
	"tandemux/internal/cli"
	"tandemux/internal/jsonform"
	"tandemux/internal/spelling"
)

// documents are the schemas that can be printed, by what they are called.
func documents(root *cobra.Command) map[string]func() *jsonschema.Schema {
	of := func(p ahp.Profile) func() *jsonschema.Schema {
		return func() *jsonschema.Schema { return schema.Document(p) }
	}
	return map[string]func() *jsonschema.Schema{
		"ahp": of(ahp.V1), "ahp-0.9": of(ahp.V09), "ahp-0.5": of(ahp.V05),
		"cli": func() *jsonschema.Schema {
			doc := cli.Schema(root)
			for _, s := range doc.Defs {
				jsonform.Open(s)
			}
			return doc
		},
	}
}

// namesIn are those that a part of a schema can be asked for by.
func namesIn(doc *jsonschema.Schema) []string {
	if doc.Defs[schema.Params] != nil && doc.ID == "" {
		return schema.Names(doc)
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(doc.Defs)), func(name string) bool { return name == "" || strings.ToLower(name) != name })
}

func newSchemaCommand() *cobra.Command {
	cmd := cli.Command("schema [ahp|ahp-0.9|ahp-0.5|cli|NAME] [NAME...]", `Print the JSON Schema of what the host and the commands read and write
ahp is the Agent Host Protocol 1.x with tandemux's extensions; ahp-0.9 and ahp-0.5 are
those versions. With a NAME it is that part alone, with what it refers to: a method, an
action, a kind of channel, or a type in the schema's $defs. cli is what all commands
print with --json; its parts are the commands, and error.

  tandemux schema cli ls
  tandemux schema cli task show
  tandemux schema ahp subscribe`, nil, printSchema)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		all := documents(cmd.Root())
		if len(args) == 0 {
			return append(slices.Sorted(maps.Keys(all)), namesIn(all["ahp"]())...), cobra.ShellCompDirectiveNoFileComp
		}
		if doc := all[args[0]]; doc != nil {
			return namesIn(doc()), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func printSchema(cmd *cobra.Command, args []string) error {
	all := documents(cmd.Root())
	doc := all["ahp"]()
	if len(args) > 0 && all[args[0]] != nil {
		doc, args = all[args[0]](), args[1:]
	}
	if name := strings.Join(args, " "); name != "" {
		whole := doc
		if doc = schema.Named(whole, name); doc == nil {
			hint := ""
			if near := spelling.Closest(name, namesIn(whole)); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			return cli.Usagef("there is no schema of %q%s", name, hint)
		}
	}
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
