package cli

import (
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"tandemux/internal/jsonform"
)

// Schema describes what the commands below root print with --json: its $defs have each
// by its name, errors as error, and what these refer to. It refuses members that it does
// not have.
func Schema(root *cobra.Command) *jsonschema.Schema {
	doc := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", ID: "urn:tandemux:cli:1", Title: "What tandemux prints with --json",
		Description: `Version 1. $defs has what each command prints, by its name ("task ls"), and what stderr gets of one that fails ("error").
What is here stays, with its name and meaning, as long as the version; members, and words in texts that are not enumerated, may be added.`,
		Defs: jsonform.Definitions(),
	}
	doc.Defs["error"] = jsonform.Schema(reflect.TypeFor[jsonform.Failure]())
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), root.Name()), " ")
		var forms []*jsonschema.Schema
		for _, f := range Forms(c) {
			s := jsonform.Schema(f.Type)
			if f.Lines {
				s.Description = "A line of JSON lines."
			}
			forms = append(forms, s)
		}
		switch {
		case c.Hidden || len(forms) == 0 || IsGroup(c):
		case len(forms) == 1:
			doc.Defs[name] = forms[0]
			forms[0].Description = strings.TrimSpace(c.Short + ". " + forms[0].Description)
		default:
			doc.Defs[name] = &jsonschema.Schema{AnyOf: forms, Description: c.Short + "."}
		}
		for _, below := range c.Commands() {
			add(below)
		}
	}
	add(root)
	return doc
}
