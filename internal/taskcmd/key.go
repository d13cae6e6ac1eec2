package taskcmd

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/task/access"
	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/cli"
)

func (h Host) newKeys() *cobra.Command {
	var all bool
	ls := h.asJSON(&cobra.Command{Use: "ls", Short: "List the keys, without their secrets", Args: cobra.NoArgs}, func(c *call, _ []string) error {
		keys, err := list[store.APIKey](c, nil, 0, "api_keys")
		if err != nil {
			return err
		}
		keys = slices.DeleteFunc(keys, func(k store.APIKey) bool { return !all && !k.Revoked.IsZero() })
		return table(c, keys, "", "NAME\tSCOPES\tLAST USED\tEXPIRES\tCREATED\tID", func(k store.APIKey) []any {
			return []any{k.Name, keyState(k), cli.Moment(k.Used), cli.Moment(k.Expires), cli.Moment(k.Created), k.ID}
		})
	})
	ls.Flags().BoolVar(&all, "all", false, "revoked ones too")
	return group(
		&cobra.Command{
			Use:   "keys",
			Short: "Manage API keys: what programs call the tasks' interface with",
			Long: `Manage API keys. A key opens the HTTP interface of tasks, below /api/v1, and nothing
else: with its scopes it runs agents and uses the files of projects. (For terminals
there are tokens, tandemux token; for what agents need there is tandemux env.)`,
		},
		h.newKeysAdd(), ls,
		h.asJSON(&cobra.Command{Use: "get KEY", Short: "Show a key, without its secret", Args: cobra.ExactArgs(1)}, func(c *call, args []string) error {
			var k store.APIKey
			if err := c.get(&k, "api_keys", args[0]); err != nil {
				return err
			}
			return c.print(k, "%s  %s\n%s\nmade %s by %s, last used %s, expires %s\n", k.Name, k.ID, keyState(k), cli.Moment(k.Created), k.Author, cli.Moment(k.Used), cli.Moment(k.Expires))
		}),
		h.newKeysScope(),
		h.does(&cobra.Command{
			Use: "rm KEY", Aliases: []string{"revoke"}, Short: "Revoke a key at once; its open streams end", Args: cobra.ExactArgs(1),
		}, func(c *call, args []string) error {
			return c.send(http.MethodDelete, nil, nil, "api_keys", args[0])
		}),
		h.does(&cobra.Command{Use: "instructions", Short: "Say how a key is used", Args: cobra.NoArgs}, func(c *call, _ []string) error {
			_, err := fmt.Fprint(c.out(), keyInstructions)
			return err
		}),
	)
}

// scopeFlag gives a command --scope, and its help what a scope is.
func scopeFlag(cmd *cobra.Command, scopes *[]string) *cobra.Command {
	cmd.Flags().StringArrayVar(scopes, "scope", nil, "what it may do, KIND:ID:ROLE; may be given several times")
	cmd.Long += `

A scope is KIND:ID:ROLE. Kinds are agent and project; the id is an id, a name or * for
all; roles are discoverer (sees it), viewer (reads it), executor (runs an agent),
editor (changes it) and owner (deletes it).`
	return cmd
}

func parseScopes(texts []string) ([]access.Scope, error) {
	var scopes []access.Scope
	for _, text := range texts {
		s, err := access.ParseScope(text)
		if err != nil {
			return nil, cli.Usagef("--scope: %w", err)
		}
		scopes = append(scopes, s)
	}
	if len(scopes) == 0 {
		return nil, cli.Usagef("a key needs scopes, such as --scope agent:*:executor --scope project:*:viewer")
	}
	return scopes, nil
}

func (h Host) newKeysAdd() *cobra.Command {
	var scopes []string
	var expires string
	cmd := scopeFlag(h.asJSON(&cobra.Command{
		Use:   "add NAME --scope KIND:ID:ROLE",
		Short: "Make a key and print its secret, this once",
		Long:  "Make a key and print its secret, this once: only its hash is kept.",
		Example: `  tandemux keys add ci --scope agent:reviewer:executor --scope project:site:editor
  tandemux keys add watcher --scope agent:*:viewer --expires 30d`,
		Args: cobra.ExactArgs(1),
	}, func(c *call, args []string) error {
		in := api.NewKey{Name: args[0]}
		var err error
		if in.Scopes, err = parseScopes(scopes); err == nil && expires != "" {
			in.Expires, err = cli.Expiry(expires, time.Now())
		}
		if err != nil {
			return err
		}
		var got registry.MadeKey
		if err := c.send(http.MethodPost, in, &got, "api_keys"); err != nil {
			return err
		}
		if !cli.AsJSON(c.cmd) {
			defer c.note("key %s (%s); its secret is not shown again", got.Name, got.ID)
		}
		return c.print(got, "%s\n", got.Secret)
	}), &scopes)
	cmd.Flags().StringVar(&expires, "expires", "", "it ends after a time such as 8h or 30d, or at a date such as 2026-12-01 (default: never)")
	return cmd
}

// keyState is what a key may do now.
func keyState(k store.APIKey) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked " + cli.Moment(k.Revoked)
	case !k.Expires.IsZero() && !k.Expires.After(time.Now()):
		return "expired"
	}
	var texts []string
	for _, s := range k.Scopes {
		texts = append(texts, s.String())
	}
	return strings.Join(texts, " ")
}

func (h Host) newKeysScope() *cobra.Command {
	var scopes []string
	return scopeFlag(h.asJSON(&cobra.Command{
		Use:   "scope KEY --scope KIND:ID:ROLE",
		Short: "Replace what a key may do, at once",
		Long:  "Replace what a key may do. Streams that it has open end, and may be opened again\nwhere it still may.",
		Args:  cobra.ExactArgs(1),
	}, func(c *call, args []string) error {
		parsed, err := parseScopes(scopes)
		if err != nil {
			return err
		}
		var k store.APIKey
		if err := c.send(http.MethodPatch, api.KeyChange{Scopes: parsed}, &k, "api_keys", args[0]); err != nil {
			return err
		}
		return c.print(k, "")
	}), &scopes)
}

const keyInstructions = `An API key opens the HTTP interface of tasks, on the addresses that the host listens on:

  tandemux host --listen 127.0.0.1:7070
  tandemux keys add ci --scope agent:*:executor --scope project:*:editor

Programs send it as a header:

  curl -H "Authorization: Bearer $KEY" http://127.0.0.1:7070/api/v1/tasks
  curl -H "Authorization: Bearer $KEY" http://127.0.0.1:7070/api/v1/openapi.json

tandemux itself takes it from TANDEMUX_TOKEN, or from a file that only you can read:

  tandemux --host ws://127.0.0.1:7070 --token-file key task ls

tandemux keys rm ci ends it at once.
`
