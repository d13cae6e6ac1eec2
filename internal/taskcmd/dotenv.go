package taskcmd

import (
	"fmt"
	"strings"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
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

// envEscapes are what a backslash makes of a character between double quotes.
var envEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\', '$': '$', '`': '`'}

func quoteEnv(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "$", `\$`, "`", "\\`").Replace(s) + `"`
}

// parseDotenv reads a .env file. Nothing in it is expanded.
func parseDotenv(text string) ([]api.NewVariable, error) {
	var vars []api.NewVariable
	seen := map[string]bool{}
	line := 1
	for text != "" {
		rest := strings.TrimLeft(text, " \t\r")
		if strings.HasPrefix(rest, "\n") {
			text, line = rest[1:], line+1
			continue
		}
		if rest == "" {
			break
		}
		if rest[0] == '#' {
			_, text, _ = strings.Cut(rest, "\n")
			line++
			continue
		}
		if after, ok := strings.CutPrefix(rest, "export "); ok {
			rest = strings.TrimLeft(after, " \t")
		}
		end := strings.IndexAny(rest, "=\n")
		if end < 0 || rest[end] != '=' {
			return nil, fmt.Errorf("line %d: want NAME=VALUE", line)
		}
		name := strings.TrimSpace(rest[:end])
		value, after, err := envValue(strings.TrimLeft(rest[end+1:], " \t"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", line, cli.Short(name), err)
		}
		if err := registry.CheckVariable(name, value); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if seen[name] {
			return nil, fmt.Errorf("line %d: %s is there twice", line, name)
		}
		seen[name] = true
		vars = append(vars, api.NewVariable{Name: name, Value: value})
		line += strings.Count(rest[:len(rest)-len(after)], "\n")
		text = after
	}
	return vars, nil
}

// envValue reads a value and gives what follows its line.
func envValue(s string) (value, after string, err error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		line, after, _ := strings.Cut(s, "\n")
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		if strings.HasPrefix(line, "#") {
			line = ""
		}
		return strings.TrimSpace(line), after, nil
	}
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			tail, after, _ := strings.Cut(s[i+1:], "\n")
			if tail = strings.TrimSpace(tail); tail != "" && tail[0] != '#' {
				return "", "", fmt.Errorf("something follows the closing quote")
			}
			return b.String(), after, nil
		case c == '\\' && quote == '"' && i+1 < len(s):
			i++
			if e, ok := envEscapes[s[i]]; ok {
				b.WriteByte(e)
			} else {
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("the quote is not closed")
}
