package hooks

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandemux/internal/config/option"
	"tandemux/internal/spelling"
)

// Hook is a table [hooks.NAME]: what is told of which events. It has either Run or URL.
type Hook struct {
	On  []string // of Kinds
	Run []string // a program, looked for in PATH, and its arguments
	// URL gets the events by POST, signed as Standard Webhooks say with the secret in
	// KeyFile, an absolute path.
	URL, KeyFile string
	Timeout      time.Duration // of a run or a POST
}

// defaultTimeout and maxTimeout are of Hook.Timeout.
const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = 10 * time.Minute
)

// Tables are the configured hooks by name, as an option has them.
type Tables map[string]Hook

// Options gives the options, which keep their values in t.
func (t *Tables) Options() []option.Option {
	return []option.Option{{
		Name: "hooks", Value: t,
		Doc: `Programs that are run, and addresses that are called, when something happens: docs/scripting.md.`,
		Example: []string{
			"[hooks.notify]", `on = ["question", "turn"]`, `run = ["notify-send", "tandemux"]   # gets the event, JSON, on its stdin`, "timeout = 10",
			"[hooks.team]", `on = ["turn"]`, `url = "https://example.org/events"`, `key-file = "/home/me/.config/tandemux/team.key"`,
		},
	}}
}

var tables = option.Named[Hook]{
	Option: "hooks", Such: "[hooks.notify]", What: "a hook",
	Members: []string{"on", "run", "url", "key-file", "timeout"},
	Begin:   func(string) (Hook, error) { return Hook{Timeout: defaultTimeout}, nil },
	Set:     (*Hook).set, Check: (*Hook).check,
}

// Set implements option.Tables.
func (t *Tables) Set(raw any) (path []string, err error) {
	return tables.Read((*map[string]Hook)(t), raw)
}

func (h *Hook) set(name string, raw any) error {
	switch name {
	case "on":
		on, ok := option.Texts(raw)
		if !ok || len(on) == 0 {
			return fmt.Errorf("must be a list of events, of %s", option.Quoted(Kinds))
		}
		for _, kind := range on {
			if !slices.Contains(Kinds, kind) {
				if near := spelling.Closest(kind, Kinds); near != "" {
					return fmt.Errorf("%.64q is no event; did you mean %q?", kind, near)
				}
				return fmt.Errorf("%.64q is no event; there are %s", kind, strings.Join(Kinds, ", "))
			}
		}
		h.On = on
	case "run":
		argv, ok := option.Texts(raw)
		if !ok || len(argv) == 0 || argv[0] == "" {
			return errors.New(`must be a program and its arguments, such as ["notify-send", "tandemux"]`)
		}
		h.Run = argv
	case "url":
		text, _ := raw.(string)
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return errors.New(`must be an address, such as "https://example.org/events"`)
		}
		h.URL = text
	case "key-file":
		text, _ := raw.(string)
		if !filepath.IsAbs(text) {
			return errors.New("must be the absolute path of a file")
		}
		h.KeyFile = text
	case "timeout":
		n, _ := raw.(int64)
		if h.Timeout = time.Duration(n) * time.Second; n < 1 || n > int64(maxTimeout/time.Second) {
			return fmt.Errorf("must be a number of seconds, 1 to %d", int(maxTimeout.Seconds()))
		}
	}
	return nil
}

// check says what members don't go together.
func (h *Hook) check() error {
	switch {
	case len(h.On) == 0:
		return fmt.Errorf("needs `on`: the events, of %s", option.Quoted(Kinds))
	case (len(h.Run) == 0) == (h.URL == ""):
		return errors.New("needs `run` or `url`, one of them")
	case h.KeyFile != "" && h.URL == "":
		return errors.New("has a `key-file`, which is for a `url`")
	}
	return nil
}
