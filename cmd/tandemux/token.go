package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Manage the tokens that TCP clients connect with",
		Args:  cobra.NoArgs,
		RunE:  did(func(*cobra.Command, []string) error { return usagef("say new, ls or revoke") }),
	}
	cmd.AddCommand(newTokenNewCommand(), newTokenLsCommand(), newTokenRevokeCommand())
	return cmd
}

func newTokenNewCommand() *cobra.Command {
	var scopes []string
	var terminal, expires string
	var readOnly, asJSON bool
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Make a token and print it, this once",
		Long: `Make a token and print it, this once: only its hash is kept. Whoever has it may
do what its scopes say; without flags that is all that you may do.`,
		Example: `  tandemux token new laptop
  tandemux token new --read-only --expires 8h phone
  tandemux token new --terminal build --expires 2026-12-01 ci`,
		Args: cobra.MaximumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			params := ahp.TokenNewParams{Channel: ahp.RootURI, Name: "unnamed", Scopes: scopes}
			if len(args) > 0 {
				params.Name = args[0]
			}
			if readOnly {
				if len(scopes) > 0 {
					return usagef("--read-only and --scope exclude each other")
				}
				params.Scopes = []string{"terminal:read"}
			}
			if expires != "" {
				end, err := parseExpiry(expires, time.Now())
				if err != nil {
					return err
				}
				params.Expires = end.UnixMilli()
			}
			return withHost(cmd, true, func(ctx context.Context, s *session) error {
				if terminal != "" {
					t, err := s.terminal(terminal)
					if err != nil {
						return err
					}
					params.Terminal = t.Resource
				}
				var got ahp.TokenNewResult
				if err := s.call(ctx, ahp.MethodTokenNew, params, &got); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), got)
				}
				fmt.Fprintln(cmd.OutOrStdout(), got.Token)
				fmt.Fprintf(cmd.ErrOrStderr(), "token %s; it is not shown again and gives whoever has it %s\n", got.ID, worth(got))
				return nil
			})
		}),
	}
	f := cmd.Flags()
	f.StringSliceVar(&scopes, "scope", nil, "what it may do: terminal:read, terminal:create, terminal:input, terminal:claim, session, approve, admin (default: all)")
	f.BoolVar(&readOnly, "read-only", false, "it may look only, as --scope terminal:read")
	f.StringVar(&terminal, "terminal", "", "it is for this terminal and sees no other")
	f.StringVar(&expires, "expires", "", "it ends after a time such as 30m, 8h or 7d, or at a date such as 2026-12-01 (default: never)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RegisterFlagCompletionFunc("terminal", completeTerminal) //nolint:errcheck // the flag is there
	return cmd
}

// worth says what a token gives away.
func worth(t ahp.TokenNewResult) string {
	what, seen := "your shell", "your terminals"
	if t.Terminal != "" {
		seen = "terminal " + lastPart(t.Terminal)
		what = "the " + seen
	}
	if slices.Equal(t.Scopes, []string{"terminal:read"}) {
		what = "the sight of " + seen
	}
	if t.Expires > 0 {
		what += " until " + when(t.Expires)
	}
	return what
}

// parseExpiry reads a duration, also in days and weeks, or a local date or moment.
func parseExpiry(s string, now time.Time) (time.Time, error) {
	var end time.Time
	ok := false
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if n, found := strings.CutSuffix(s, unit); found {
			if count, err := strconv.Atoi(n); err == nil && count > 0 && count < 100_000 {
				end, ok = now.Add(time.Duration(count)*length), true
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil && !ok {
		end, ok = now.Add(d), true
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			end, ok = t, true
		}
	}
	switch {
	case !ok:
		return end, usagef("--expires %s: use a time from now such as 30m, 8h or 7d, or a date such as 2026-12-01", s)
	case !end.After(now):
		return end, usagef("--expires %s: that is over", s)
	}
	return end, nil
}

func newTokenLsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the tokens, without their secrets",
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withHost(cmd, true, func(ctx context.Context, s *session) error {
				var got ahp.TokenListResult
				if err := s.call(ctx, ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &got); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), got.Items)
				}
				if len(got.Items) == 0 {
					return nil
				}
				tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				fmt.Fprintln(tw, "ID\tNAME\tSCOPES\tTERMINAL\tEXPIRES\tLAST USED\tCREATED")
				for _, t := range got.Items {
					fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, printable(t.Name), scopeText(t.Scopes), terminalText(t.Terminal),
						expiryText(t.Expires, time.Now()), when(t.LastUsed), when(t.Created))
				}
				return tw.Flush()
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newTokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a token at once; its open connections are closed",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withHost(cmd, true, func(ctx context.Context, s *session) error {
				return s.call(ctx, ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: args[0]}, nil)
			})
		}),
	}
}

// scopeText leaves out what all scopes begin with.
func scopeText(scopes []string) string {
	if slices.Contains(scopes, "admin") {
		return "all"
	}
	return printable(strings.ReplaceAll(strings.Join(scopes, " "), "terminal:", ""))
}

func terminalText(uri ahp.URI) string {
	if uri == "" {
		return "any"
	}
	return printable(lastPart(uri))
}

func expiryText(ms int64, now time.Time) string {
	if ms > 0 && ms <= now.UnixMilli() {
		return "expired"
	}
	return when(ms)
}

func when(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04")
}
