package termcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// Token is `tandemux token`.
func Token() *cobra.Command {
	return cli.Group("token", "Manage the tokens that TCP clients connect with", "", newTokenNewCommand(),
		cli.WithJSON(onHost("ls", "List the tokens, without their secrets", nil, true, func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, _ []string) error {
			var got ahp.TokenListResult
			if err := s.Ask(ctx, ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &got); err != nil {
				return err
			}
			return cli.PrintTable(cmd, "there are no tokens; `tandemux token new` makes one", "ID\tNAME\tSCOPES\tTERMINAL\tEXPIRES\tLAST USED\tCREATED", []ahp.TokenInfo(got.Items), func(t ahp.TokenInfo) []any {
				return []any{t.ID, t.Name, scopeText(t.Scopes), cmp.Or(endpoint.LastPart(t.Terminal), "any"), expiryText(t.Expires, time.Now()), cli.Millis(t.LastUsed), cli.Millis(t.Created)}
			})
		}), cli.One[[]ahp.TokenInfo]()),
		onHost("rm TOKEN", "End a token at once; its open connections are closed", nil, true, func(ctx context.Context, _ *cobra.Command, s *endpoint.Conn, args []string) error {
			var got ahp.TokenListResult
			if err := s.Ask(ctx, ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &got); err != nil {
				return err
			}
			id, named := args[0], 0
			for _, t := range got.Items {
				if t.Name == args[0] {
					id, named = t.ID, named+1
				}
			}
			if named > 1 {
				return cli.Usagef("%d tokens are named %q: say which by its id, as `tandemux token ls` lists it", named, args[0])
			}
			return s.Ask(ctx, ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: id}, nil)
		}))
}

func newTokenNewCommand() *cobra.Command {
	var in struct {
		Scopes   []string `flag:"scope" doc:"What it may do, several parted by commas (default: all)"`
		ReadOnly bool     `flag:"read-only" doc:"It may look only, as --scope terminal:read"`
		Terminal string   `flag:"terminal" doc:"It is for this terminal and sees no other"`
		Expires  cli.End  `flag:"expires" doc:"It ends after a time such as 30m, 8h or 7d, or at a date such as 2026-12-01 (default: never)"`
	}
	cmd := cli.WithJSON(cli.Command("new [NAME]", `Make a token and print it, this once
Only its hash is kept. Whoever has it may do what its scopes say; without flags that
is all that you may do.

  tandemux token new laptop
  tandemux token new --read-only --expires 8h phone
  tandemux token new --terminal build --expires 2026-12-01 ci`, &in, func(cmd *cobra.Command, args []string) error {
		params := ahp.TokenNewParams{Channel: ahp.RootURI, Name: "unnamed", Scopes: strings.FieldsFunc(strings.Join(in.Scopes, ","), func(c rune) bool { return c == ',' })}
		if len(args) > 0 {
			params.Name = args[0]
		}
		for _, s := range params.Scopes {
			if !slices.Contains(auth.AllScopes, s) {
				return cli.Usagef("--scope can't be %q: use %s", s, strings.Join(auth.AllScopes, ", "))
			}
		}
		if in.ReadOnly {
			if len(in.Scopes) > 0 {
				return cli.Usagef("--read-only and --scope exclude each other")
			}
			params.Scopes = []string{auth.ScopeRead}
		}
		if !in.Expires.IsZero() {
			params.Expires = in.Expires.UnixMilli()
		}
		return endpoint.WithHost(cmd, endpoint.Options{Start: true}, func(ctx context.Context, s *endpoint.Conn) error {
			if in.Terminal != "" {
				t, err := s.Terminal(in.Terminal)
				if err != nil {
					return err
				}
				params.Terminal = t.Resource
			}
			var got ahp.TokenNewResult
			if err := s.Ask(ctx, ahp.MethodTokenNew, params, &got); err != nil {
				return err
			}
			return cli.Print(cmd, got, func(w io.Writer) error {
				fmt.Fprintln(w, got.Token)
				fmt.Fprintf(cmd.ErrOrStderr(), "token %s; it is not shown again and gives whoever has it %s\n", got.ID, worth(got))
				return nil
			})
		})
	}), cli.One[ahp.TokenNewResult]())
	cmd.Flags().Lookup("scope").Usage += ": " + strings.Join(auth.AllScopes, ", ")
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

// scopeText leaves out what all scopes begin with.
func scopeText(scopes []string) string {
	if slices.Contains(scopes, auth.ScopeAdmin) {
		return "all"
	}
	return strings.ReplaceAll(strings.Join(scopes, " "), "terminal:", "")
}

func expiryText(ms int64, now time.Time) string {
	if ms > 0 && ms <= now.UnixMilli() {
		return "expired"
	}
	return cli.Millis(ms)
}
