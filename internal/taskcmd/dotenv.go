package taskcmd

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/cli"
)

// dotenv writes variables as a .env file, secrets by name alone.
func dotenv(vars []registry.Variable) string {
	var b strings.Builder
	for _, v := range vars {
		if v.Secret {
			fmt.Fprintf(&b, "# %s is secret\n", v.Name)
			continue
		}
		fmt.Fprintf(&b, "%s=%s\n", v.Name, quoteEnv(v.Value))
	}
	return b.String()
}

func quoteEnv(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "$", `\$`, "`", "\\`").Replace(s) + `"`
}

var (
	envBlank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:[ \t\r\n]|#[^\n]*)*`) })
	envLine  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?:export[ \t]+)?([^=\n]*)=[ \t]*("(?:\\(?s:.)|[^"\\])*"|'[^']*')?([^\n]*)\n?`)
	})
	envEscape = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\$`, "$", "\\`", "`")
)

// parseDotenv reads a .env file. Nothing in it is expanded.
func parseDotenv(text string) ([]store.Variable, error) {
	var vars []store.Variable
	line := 1
	for {
		blank := envBlank().FindString(text)
		line += strings.Count(blank, "\n")
		if text = text[len(blank):]; text == "" {
			return vars, nil
		}
		m := envLine().FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("line %d: want NAME=VALUE", line)
		}
		name := strings.TrimSpace(m[1])
		value, err := envValue(m[2], m[3])
		if err == nil {
			err = registry.CheckVariable(name, value)
		}
		if err == nil && slices.ContainsFunc(vars, func(v store.Variable) bool { return v.Name == name }) {
			err = errors.New("is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", line, cli.Short(name), err)
		}
		vars = append(vars, store.Variable{Name: name, Value: value})
		line += strings.Count(m[0], "\n")
		text = text[len(m[0]):]
	}
}

// envValue is a value that is quoted, with what follows it in its line, or bare.
func envValue(quoted, rest string) (string, error) {
	after := strings.TrimSpace(rest)
	switch {
	case quoted == "" && after != "" && strings.ContainsAny(after[:1], `"'`):
		return "", errors.New("the quote is not closed")
	case quoted == "" && strings.HasPrefix(rest, "#"):
		return "", nil
	case quoted == "":
		bare, _, _ := strings.Cut(rest, " #")
		return strings.TrimSpace(bare), nil
	case after != "" && after[0] != '#':
		return "", errors.New("something follows the closing quote")
	case quoted[0] == '"':
		return envEscape.Replace(quoted[1 : len(quoted)-1]), nil
	}
	return quoted[1 : len(quoted)-1], nil
}
