package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

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
		On      []string `flag:"on" value:"TYPE" doc:"Only parts of this type, such as finish or question (default: all)"`
		Person  string   `flag:"person" value:"NAME" doc:"Only of this person's tasks"`
		Project string   `flag:"project" value:"NAME" doc:"Only of this project's tasks"`
	}
	return cli.Group("webhook", "Addresses that are told what tasks do", "",
		cli.Command("add NAME URL", `Have an address told what tasks do from now on, and print its key, once
Each POST is signed with the key, as Standard Webhooks say, and sent again until it is
answered. On the hub's own machine any address is taken, elsewhere a public https one.

  tandemux hub webhook add team https://example.org/events --on question --on finish`, &in, func(cmd *cobra.Command, args []string) error {
			var made webhook.Made
			if err := ask(cmd, http.MethodPost, "/webhooks", webhook.Wanted{Name: args[0], URL: args[1], On: in.On, Person: in.Person, Project: in.Project}, &made); err != nil {
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
			return cli.PrintTable(cmd, "there are no webhooks; `tandemux hub webhook add` makes one", "NAME\tTO\tON\tOF\tWAITING\tSTATE", all, func(l webhook.Listed) []any {
				return []any{l.Name, l.To, strings.Join(l.On, ","), strings.Trim(l.Person+" "+l.Project, " "), l.Waiting, stateOf(l)}
			})
		}), cli.One[[]webhook.Listed]()),
		forEach("rm NAME...", "Remove webhooks", http.MethodDelete, "/webhooks/", ""),
		forEach("resume NAME...", `Have webhooks go on that are off
One is off once its address has not answered for a day. It goes on where it stopped.`, http.MethodPost, "/webhooks/", "/resume"))
}

// stateOf says how a webhook is.
func stateOf(l webhook.Listed) string {
	switch {
	case !l.Off.IsZero():
		return "OFF since " + l.Off.Local().Format(time.DateTime) + ": " + l.Why
	case l.Failing:
		return "tries again"
	}
	return "on"
}
