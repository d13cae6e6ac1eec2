package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/hooks"
	"tandemux/internal/cli"
	"tandemux/internal/local"
)

func newHookCommand() *cobra.Command {
	return cli.Group("hook", "Hooks: programs that are run when something happens", "They are [hooks.NAME] in the configuration: docs/scripting.md.",
		newHookLsCommand(), newHookTestCommand())
}

// hookRow is a configured hook.
type hookRow struct {
	Name string   `json:"name"`
	On   []string `json:"on"`
	Run  []string `json:"run"`
	URL  string   `json:"url,omitempty"`
}

// configuredHooks are those of the configuration, by name.
func configuredHooks() (hooks.Tables, []string, error) {
	s, err := loadSettings(local.FindDirs())
	if err != nil {
		return nil, nil, err
	}
	return s.hooks, slices.Sorted(maps.Keys(s.hooks)), nil
}

func newHookLsCommand() *cobra.Command {
	return cli.WithJSON(cli.Command("ls", "List the hooks of the configuration", nil, func(cmd *cobra.Command, _ []string) error {
		all, names, err := configuredHooks()
		if err != nil {
			return err
		}
		rows := []hookRow{}
		for _, name := range names {
			h := all[name]
			rows = append(rows, hookRow{name, h.On, append([]string{}, h.Run...), h.URL})
		}
		return cli.PrintTable(cmd, "NAME\tON\tRUNS", rows, func(r hookRow) []any {
			return []any{r.Name, strings.Join(r.On, " "), strings.Join(r.Run, " ") + r.URL}
		})
	}), cli.One[[]hookRow]())
}

func newHookTestCommand() *cobra.Command {
	return cli.Command("test HOOK [EVENT]", `Try a hook with an event that was made up
EVENT is one that the hook is for: the first one, if it is left out. What its program
prints is shown, which is dropped when the host runs it.`, nil, func(cmd *cobra.Command, args []string) error {
		all, _, err := configuredHooks()
		if err != nil {
			return err
		}
		h, ok := all[args[0]]
		if !ok {
			return ahp.NotFound("there is no hook %q; `tandemux hook ls` lists them", args[0])
		}
		kind := h.On[0]
		if len(args) > 1 {
			kind = args[1]
		}
		if !slices.Contains(h.On, kind) {
			return cli.Usagef("the hook %s is not for %q: it is for %s", args[0], kind, strings.Join(h.On, ", "))
		}
		e := hooks.Sample(kind, time.Now().UnixMilli())
		if text, err := json.Marshal(e); err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "it gets %s\n", text)
		}
		begun := time.Now()
		if err := h.Send(cmd.Context(), "msg_"+strings.ToLower(rand.Text()), e, os.Stdout); err != nil {
			return fmt.Errorf("the hook %s failed: %w", args[0], err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "it ended well, after %v\n", time.Since(begun).Round(time.Millisecond))
		return nil
	})
}

// hookWords completes the names of hooks.
func hookWords(*cobra.Command) []string {
	_, names, _ := configuredHooks() //nolint:errcheck // there is nowhere to report it to
	return names
}
