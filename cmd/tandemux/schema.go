package main

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/schema"
	"tandemux/internal/cli"
	"tandemux/internal/jsonform"
)

func newSchemaCommand() *cobra.Command {
	return cli.Command("schema [ahp|ahp-0.9|ahp-0.5|cli]", `Print the JSON Schema of what the host and the commands read and write
ahp is the Agent Host Protocol 1.x with tandemux's extensions; ahp-0.9 and ahp-0.5 are
those versions. cli is what all commands print with --json.`, nil, func(cmd *cobra.Command, args []string) error {
		var doc *jsonschema.Schema
		if name := append(args, "ahp")[0]; name == "cli" {
			doc = cli.Schema(cmd.Root())
			for _, s := range doc.Defs {
				jsonform.Open(s)
			}
		} else {
			doc = schema.Document(map[string]ahp.Profile{"ahp": ahp.V1, "ahp-0.9": ahp.V09, "ahp-0.5": ahp.V05}[name])
		}
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(doc)
	})
}
