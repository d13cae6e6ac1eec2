package taskcmd

import (
	"fmt"
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

func newKeys() *cobra.Command {
	var in struct {
		All bool `flag:"all" doc:"Revoked ones too"`
	}
	return cli.Group("apikey", "Manage API keys: what programs call the tasks' interface with", `Manage API keys. A key opens the HTTP interface of tasks, below /api/v1, and nothing
else: with its scopes it runs agents and uses the files of projects. Programs send it
as a header, Authorization: Bearer KEY, to the addresses that the host listens on;
tandemux itself takes it from TANDEMUX_TOKEN or a --token-file. (For terminals there
are tokens, tandemux token; for what agents need there is tandemux env.)`,
		newKeysNew(),
		verb("ls", "List the keys, without their secrets", &in, func(c *call, _ []string) error {
			keys, err := List[store.APIKey](c.Client, 0, "listKeys", nil)
			if err != nil {
				return err
			}
			keys = slices.DeleteFunc(keys, func(k store.APIKey) bool { return !in.All && !k.Revoked.IsZero() })
			return cli.PrintTable(c.Command, "there are no API keys; `tandemux apikey new` makes one", "NAME\tSCOPES\tLAST USED\tEXPIRES\tCREATED\tID", keys, func(k store.APIKey) []any {
				return []any{k.Name, cli.Whole(keyState(k)), k.Used, k.Expires, k.Created, k.ID}
			})
		}, cli.One[[]store.APIKey]()),
		act("show KEY", "getKey", func(k store.APIKey) string {
			return fmt.Sprintf("%s  %s\n%s\nmade %s by %s, last used %s, expires %s", k.Name, k.ID, keyState(k), cli.Moment(k.Created), k.Author, cli.Moment(k.Used), cli.Moment(k.Expires))
		}),
		newKeysSet(), act[nothing]("rm KEY", "revokeKey", nil))
}

func newWhoami() *cobra.Command {
	return verb("whoami", `Say who the tasks' interface takes you for, and what you may do
This user's own host takes you for the operator, who may do everything; with a token or an
API key you are that.`, nil, func(c *call, _ []string) error {
		return told(c, func(i api.Identity) string {
			lines := []string{i.ID}
			for _, s := range i.Scopes {
				lines = append(lines, s.String())
			}
			return strings.Join(lines, "\n")
		}, "whoami", nil)
	}, cli.One[api.Identity]())
}

// scoped are the flags of what sets scopes.
type scoped struct {
	Scopes []string `flag:"scope" doc:"What it may do, KIND:ID:ROLE; may be given several times"`
}

// aboutScopes says in the help what a scope is.
const aboutScopes = `A scope is KIND:ID:ROLE. Kinds are agent and project; the id is an id, a name or * for
all; roles are discoverer (sees it), viewer (reads it), executor (runs an agent),
editor (changes it) and owner (deletes it).`

func (o *scoped) parse() ([]access.Scope, error) {
	var scopes []access.Scope
	for _, text := range o.Scopes {
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

func newKeysNew() *cobra.Command {
	var in struct {
		scoped
		Expires cli.End `flag:"expires" doc:"It ends after a time such as 8h or 30d, or at a date such as 2026-12-01 (default: never)"`
	}
	return verb("new NAME --scope KIND:ID:ROLE", `Make a key and print its secret, this once
Only its hash is kept.

  tandemux apikey new ci --scope agent:reviewer:executor --scope project:site:editor
  tandemux apikey new watcher --scope agent:*:viewer --expires 30d

`+aboutScopes, &in, func(c *call, args []string) (err error) {
		key := registry.NewKey{Name: args[0], Expires: in.Expires.Time}
		if key.Scopes, err = in.parse(); err != nil {
			return err
		}
		got, err := Ask[registry.MadeKey](c.Client, "createKey", key)
		if err != nil {
			return err
		}
		defer c.note("key %s (%s); its secret is not shown again", got.Name, got.ID)
		return show(c, got, got.Secret)
	}, cli.One[registry.MadeKey]())
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

func newKeysSet() *cobra.Command {
	var in scoped
	return verb("set KEY --scope KIND:ID:ROLE", `Replace what a key may do, at once
Streams that it has open end, and may be opened again where it still may.

`+aboutScopes, &in, func(c *call, args []string) error {
		scopes, err := in.parse()
		if err != nil {
			return err
		}
		return told[store.APIKey](c, nil, "setKeyScopes", api.KeyChange{Scopes: scopes}, args[0])
	}, cli.One[store.APIKey]())
}
