package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/hub/front"
	"tandemux/hub/webhook"
	"tandemux/internal/cli"
)

// webhooks is the part that tells addresses what tasks do.
func webhooks(ctx context.Context, h *hub) ([]front.Authenticator, []front.Route, error) {
	hooks, err := webhook.Open(ctx, webhook.Options{Bus: h.bus, Queue: h.queue, Log: h.log})
	if err != nil {
		return nil, nil, err
	}
	return nil, hooks.Routes(), nil
}

func newWebhookCommand() *cobra.Command {
	var in struct {
		On []string `flag:"on" value:"TYPE" doc:"Only parts of this type, such as finish or question (default: all)"`
	}
	return cli.Group("webhook", "Addresses that are told what tasks do", "",
		cli.Command("add NAME URL", `Have an address told what tasks do from now on, and print its key, once
Each POST is signed with the key, as Standard Webhooks say, and sent again until it is
answered. On the hub's own machine any address is taken, elsewhere a public https one.

  tandemux hub webhook add team https://example.org/events --on question --on finish`, &in, func(cmd *cobra.Command, args []string) error {
			var made webhook.Made
			if err := ask(cmd, http.MethodPost, "/webhooks", webhook.Wanted{Name: args[0], URL: args[1], On: in.On}, &made); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), made.Key)
			return err
		}),
		cli.WithJSON(cli.Command("ls", "List the webhooks, and how far they are", nil, func(cmd *cobra.Command, _ []string) error {
			var all []webhook.Listed
			if err := ask(cmd, http.MethodGet, "/webhooks", nil, &all); err != nil {
				return err
			}
			return cli.PrintTable(cmd, "there are no webhooks; `tandemux hub webhook add` makes one", "NAME\tTO\tON\tWAITING\tSTATE", all, func(l webhook.Listed) []any {
				return []any{l.Name, l.To, strings.Join(l.On, ","), l.Waiting, map[bool]string{false: "on", true: "tries again"}[l.Failing]}
			})
		}), cli.One[[]webhook.Listed]()),
		forEach("rm NAME...", "Remove webhooks", http.MethodDelete, "/webhooks/", ""))
}
