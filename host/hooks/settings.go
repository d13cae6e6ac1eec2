package hooks

import (
	"errors"
	"fmt"
	"maps"
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

var members = []string{"on", "run", "url", "key-file", "timeout"}

// Set implements option.Tables.
func (t *Tables) Set(raw any) (path []string, err error) {
	begin := func(string) (Hook, error) { return Hook{Timeout: defaultTimeout}, nil }
	all, path, err := option.Named("hooks", "[hooks.notify]", raw, begin, (*Hook).set, (*Hook).check)
	if err == nil {
		*t = all
	}
	return path, err
}

// set takes a member.
func (h *Hook) set(name string, raw any) error {
	switch name {
	case "on":
		on, ok := texts(raw)
		if !ok || len(on) == 0 {
			return fmt.Errorf("must be a list of events, of %s", option.Quoted(Kinds))
		}
		for _, kind := range on {
			if !slices.Contains(Kinds, kind) {
				return unknown(kind, "no event", Kinds)
			}
		}
		h.On = on
	case "run":
		argv, ok := texts(raw)
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
	default:
		return unknown(name, "nothing that a hook has", members)
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

// unknown says that a name is not what it should be.
func unknown(name, what string, of []string) error {
	if near := spelling.Closest(name, of); near != "" {
		return fmt.Errorf("%.64q is %s; did you mean %q?", name, what, near)
	}
	return fmt.Errorf("%.64q is %s; there are %s", name, what, strings.Join(of, ", "))
}

// texts is a list of texts without NUL.
func texts(raw any) ([]string, bool) {
	list, ok := raw.([]any)
	all := make([]string, len(list))
	for i, one := range list {
		text, is := one.(string)
		all[i], ok = text, ok && is && !strings.ContainsRune(text, 0)
	}
	return all, ok
}

// TOML implements option.Tables.
func (t *Tables) TOML() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(*t)) {
		h := (*t)[name]
		fmt.Fprintf(&b, "[hooks.%s]\non = [%s]\n", name, option.Quoted(h.On))
		if len(h.Run) > 0 {
			fmt.Fprintf(&b, "run = [%s]\n", option.Quoted(h.Run))
		}
		for _, m := range [][2]string{{"url", h.URL}, {"key-file", h.KeyFile}} {
			if m[1] != "" {
				fmt.Fprintf(&b, "%s = %q\n", m[0], m[1])
			}
		}
		if h.Timeout != defaultTimeout {
			fmt.Fprintf(&b, "timeout = %d\n", int(h.Timeout.Seconds()))
		}
	}
	return b.String()
}
