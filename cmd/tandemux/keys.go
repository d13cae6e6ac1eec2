package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/task/access"
	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
)

func newKeysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Manage API keys: what programs call the tasks' interface with",
		Long: `Manage API keys. A key opens the HTTP interface of tasks, below /api/v1, and nothing
else: with its scopes it runs agents and uses the files of projects. (For terminals
there are tokens, tandemux token; for what agents need there is tandemux env.)`,
		Args: cobra.NoArgs,
		RunE: did(func(*cobra.Command, []string) error { return usagef("say add, ls, get, scope, rm or instructions") }),
	}
	cmd.AddCommand(newKeysAddCommand(), newKeysLsCommand(), newKeysGetCommand(), newKeysScopeCommand(), newKeysRmCommand(), newKeysInstructionsCommand())
	return cmd
}

const scopeHelp = `A scope is KIND:ID:ROLE. Kinds are agent and project; the id is an id, a name or * for
all; roles are discoverer (sees it), viewer (reads it), executor (runs an agent),
editor (changes it) and owner (deletes it).`

func parseScopes(texts []string) ([]access.Scope, error) {
	var scopes []access.Scope
	for _, text := range texts {
		s, err := access.ParseScope(text)
		if err != nil {
			return nil, usagef("--scope: %w", err)
		}
		scopes = append(scopes, s)
	}
	if len(scopes) == 0 {
		return nil, usagef("a key needs scopes, such as --scope agent:*:executor --scope project:*:viewer")
	}
	return scopes, nil
}

func newKeysAddCommand() *cobra.Command {
	var scopes []string
	var expires string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add NAME --scope KIND:ID:ROLE",
		Short: "Make a key and print its secret, this once",
		Long:  "Make a key and print its secret, this once: only its hash is kept.\n\n" + scopeHelp,
		Example: `  tandemux keys add ci --scope agent:reviewer:executor --scope project:site:editor
  tandemux keys add watcher --scope agent:*:viewer --expires 30d`,
		Args: cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			in := api.NewKey{Name: args[0]}
			var err error
			if in.Scopes, err = parseScopes(scopes); err != nil {
				return err
			}
			if expires != "" {
				if in.Expires, err = parseExpiry(expires, time.Now()); err != nil {
					return err
				}
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var got registry.MadeKey
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/api_keys", Body: in}, &got); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), got)
				}
				fmt.Fprintln(cmd.OutOrStdout(), got.Secret)
				fmt.Fprintf(cmd.ErrOrStderr(), "key %s (%s); its secret is not shown again\n", got.Name, got.ID)
				return nil
			})
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&scopes, "scope", nil, "what it may do, KIND:ID:ROLE; may be given several times")
	f.StringVar(&expires, "expires", "", "it ends after a time such as 8h or 30d, or at a date such as 2026-12-01 (default: never)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newKeysLsCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the keys, without their secrets",
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				keys, err := every[store.APIKey](ctx, c, "/api_keys", nil, 0)
				if err != nil {
					return err
				}
				shown := []store.APIKey{}
				for _, k := range keys {
					if all || k.Revoked.IsZero() {
						shown = append(shown, k)
					}
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), shown)
				}
				if len(shown) == 0 {
					return nil
				}
				tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				fmt.Fprintln(tw, "NAME\tSCOPES\tLAST USED\tEXPIRES\tCREATED\tID")
				for _, k := range shown {
					fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, keyState(k), moment(k.Used), moment(k.Expires), moment(k.Created), k.ID)
				}
				return tw.Flush()
			})
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "revoked ones too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// keyState is what a key may do now.
func keyState(k store.APIKey) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked " + moment(k.Revoked)
	case !k.Expires.IsZero() && !k.Expires.After(time.Now()):
		return "expired"
	}
	var texts []string
	for _, s := range k.Scopes {
		texts = append(texts, s.String())
	}
	return strings.Join(texts, " ")
}

func newKeysGetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get KEY",
		Short: "Show a key, without its secret",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var k store.APIKey
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/api_keys/" + apiclient.Segment(args[0])}, &k); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), k)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n%s\nmade %s by %s, last used %s, expires %s\n", k.Name, k.ID, keyState(k), moment(k.Created), k.Author, moment(k.Used), moment(k.Expires))
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newKeysScopeCommand() *cobra.Command {
	var scopes []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "scope KEY --scope KIND:ID:ROLE",
		Short: "Replace what a key may do, at once",
		Long:  "Replace what a key may do. Streams that it has open end, and may be opened again\nwhere it still may.\n\n" + scopeHelp,
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			parsed, err := parseScopes(scopes)
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var k store.APIKey
				_, err := c.Do(ctx, apiclient.Request{Method: http.MethodPatch, Path: "/api_keys/" + apiclient.Segment(args[0]), Body: api.KeyChange{Scopes: parsed}}, &k)
				if err == nil && asJSON {
					err = printJSON(cmd.OutOrStdout(), k)
				}
				return err
			})
		}),
	}
	cmd.Flags().StringArrayVar(&scopes, "scope", nil, "what it may do, KIND:ID:ROLE; may be given several times")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newKeysRmCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "rm KEY",
		Aliases: []string{"revoke"},
		Short:   "Revoke a key at once; its open streams end",
		Args:    cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				_, err := c.Do(ctx, apiclient.Request{Method: http.MethodDelete, Path: "/api_keys/" + apiclient.Segment(args[0])}, nil)
				return err
			})
		}),
	}
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

func newKeysInstructionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "instructions",
		Short: "Say how a key is used",
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), keyInstructions)
			return err
		}),
	}
}
