package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cotty/ahp"
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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Make a token and print it, this once",
		Args:  cobra.MaximumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withHost(cmd, true, func(ctx context.Context, s *session) error {
				params := ahp.TokenNewParams{Channel: ahp.RootURI, Name: strings.Join(args, ""), Scopes: scopes}
				var got ahp.TokenNewResult
				if err := s.call(ctx, ahp.MethodTokenNew, params, &got); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), got)
				}
				fmt.Fprintln(cmd.OutOrStdout(), got.Token)
				fmt.Fprintf(cmd.ErrOrStderr(), "token %s; it is not shown again and gives whoever has it your shell\n", got.ID)
				return nil
			})
		}),
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what it may do: terminal:read, terminal:create, terminal:input, terminal:claim, session, admin (default: all)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
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
				fmt.Fprintln(tw, "ID\tNAME\tSCOPES\tCREATED\tLAST USED")
				for _, t := range got.Items {
					fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", t.ID, printable(t.Name), strings.Join(t.Scopes, " "), when(t.Created), when(t.LastUsed))
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

func when(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04")
}
