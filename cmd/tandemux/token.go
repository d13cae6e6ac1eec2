package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Manage the tokens that TCP clients connect with",
		Args:  cobra.NoArgs,
		RunE:  cli.Did(func(*cobra.Command, []string) error { return cli.Usagef("say new, ls or revoke") }),
	}
	cmd.AddCommand(newTokenNewCommand(), newTokenLsCommand(), newTokenRevokeCommand())
	return cmd
}

func newTokenNewCommand() *cobra.Command {
	var scopes []string
	var terminal, expires string
	var readOnly bool
	cmd := cli.WithJSON(&cobra.Command{
		Use:   "new [NAME]",
		Short: "Make a token and print it, this once",
		Long: `Make a token and print it, this once: only its hash is kept. Whoever has it may
do what its scopes say; without flags that is all that you may do.`,
		Example: `  tandemux token new laptop
  tandemux token new --read-only --expires 8h phone
  tandemux token new --terminal build --expires 2026-12-01 ci`,
		Args: cobra.MaximumNArgs(1),
		RunE: cli.Did(func(cmd *cobra.Command, args []string) error {
			params := ahp.TokenNewParams{Channel: ahp.RootURI, Name: "unnamed", Scopes: scopes}
			if len(args) > 0 {
				params.Name = args[0]
			}
			if readOnly {
				if len(scopes) > 0 {
					return cli.Usagef("--read-only and --scope exclude each other")
				}
				params.Scopes = []string{auth.ScopeRead}
			}
			if expires != "" {
				end, err := cli.Expiry(expires, time.Now())
				if err != nil {
					return err
				}
				params.Expires = end.UnixMilli()
			}
			return endpoint.WithHost(cmd, true, func(ctx context.Context, s *endpoint.Conn) error {
				if terminal != "" {
					t, err := s.Terminal(terminal)
					if err != nil {
						return err
					}
					params.Terminal = t.Resource
				}
				var got ahp.TokenNewResult
				if err := s.Ask(ctx, ahp.MethodTokenNew, params, &got); err != nil {
					return err
				}
				if cli.AsJSON(cmd) {
					return cli.JSON(cmd.OutOrStdout(), got)
				}
				fmt.Fprintln(cmd.OutOrStdout(), got.Token)
				fmt.Fprintf(cmd.ErrOrStderr(), "token %s; it is not shown again and gives whoever has it %s\n", got.ID, worth(got))
				return nil
			})
		}),
	})
	f := cmd.Flags()
	f.StringSliceVar(&scopes, "scope", nil, "what it may do: "+strings.Join(auth.AllScopes, ", ")+" (default: all)")
	f.BoolVar(&readOnly, "read-only", false, "it may look only, as --scope terminal:read")
	f.StringVar(&terminal, "terminal", "", "it is for this terminal and sees no other")
	f.StringVar(&expires, "expires", "", "it ends after a time such as 30m, 8h or 7d, or at a date such as 2026-12-01 (default: never)")
	cmd.RegisterFlagCompletionFunc("terminal", endpoint.CompleteTerminal) //nolint:errcheck // the flag is there
	return cmd
}

// worth says what a token gives away.
func worth(t ahp.TokenNewResult) string {
	what, seen := "your shell", "your terminals"
	if t.Terminal != "" {
		seen = "terminal " + endpoint.LastPart(t.Terminal)
		what = "the " + seen
	}
	if slices.Equal(t.Scopes, []string{auth.ScopeRead}) {
		what = "the sight of " + seen
	}
	if t.Expires > 0 {
		what += " until " + cli.Millis(t.Expires)
	}
	return what
}

func newTokenLsCommand() *cobra.Command {
	return cli.WithJSON(&cobra.Command{
		Use:   "ls",
		Short: "List the tokens, without their secrets",
		Args:  cobra.NoArgs,
		RunE: cli.Did(func(cmd *cobra.Command, _ []string) error {
			return endpoint.WithHost(cmd, true, func(ctx context.Context, s *endpoint.Conn) error {
				var got ahp.TokenListResult
				if err := s.Ask(ctx, ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &got); err != nil {
					return err
				}
				return cli.PrintTable(cmd, "ID\tNAME\tSCOPES\tTERMINAL\tEXPIRES\tLAST USED\tCREATED", got.Items, func(t ahp.TokenInfo) []any {
					return []any{t.ID, cli.Short(t.Name), scopeText(t.Scopes), terminalText(t.Terminal), expiryText(t.Expires, time.Now()), cli.Millis(t.LastUsed), cli.Millis(t.Created)}
				})
			})
		}),
	})
}

func newTokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a token at once; its open connections are closed",
		Args:  cobra.ExactArgs(1),
		RunE: cli.Did(func(cmd *cobra.Command, args []string) error {
			return endpoint.WithHost(cmd, true, func(ctx context.Context, s *endpoint.Conn) error {
				return s.Ask(ctx, ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: args[0]}, nil)
			})
		}),
	}
}

// scopeText leaves out what all scopes begin with.
func scopeText(scopes []string) string {
	if slices.Contains(scopes, auth.ScopeAdmin) {
		return "all"
	}
	return cli.Short(strings.ReplaceAll(strings.Join(scopes, " "), "terminal:", ""))
}

func terminalText(uri ahp.URI) string {
	if uri == "" {
		return "any"
	}
	return cli.Short(endpoint.LastPart(uri))
}

func expiryText(ms int64, now time.Time) string {
	if ms > 0 && ms <= now.UnixMilli() {
		return "expired"
	}
	return cli.Millis(ms)
}
