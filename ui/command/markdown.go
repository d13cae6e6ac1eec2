package command

import (
	"fmt"
	"strings"

	"cotty/keymap"
)

// Markdown writes the documentation of all keys and commands: docs/keys.md. The
// first table is the default one.
func Markdown(tables ...keymap.Table) string {
	var b strings.Builder
	b.WriteString("# Keys and commands\n\n")
	b.WriteString("Made from the tables in `keymap` and `ui/command` by `go test ./ui/command -update`; don't edit it.\n\n")
	b.WriteString("A key is pressed after the prefix key of its preset. The preset is set with `keymap = \"tmux\"`.\n\n")
	b.WriteString("| preset | prefix |\n|---|---|\n")
	for _, t := range tables {
		fmt.Fprintf(&b, "| %s | %s |\n", t.Name, code(t.Prefix().String()))
	}
	b.WriteString("\nKeys marked with ↻ may be repeated without the prefix for half a second. ")
	b.WriteString("A command without a key is in the command palette.\n")
	for _, group := range groups() {
		writeKeys(&b, keymap.Normal, group, tables)
	}
	b.WriteString("\n# Copy mode\n\nIn copy mode keys move through what has scrolled away, without the prefix.\n")
	for _, group := range groups() {
		writeKeys(&b, keymap.Copy, group, tables)
	}
	b.WriteString("\n# Commands\n\nWhat the palette offers and a key can be bound to.\n\n")
	b.WriteString("| command | arguments | does |\n|---|---|---|\n")
	for _, c := range table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(c.Name), usage(c.Args), c.Help)
	}
	return b.String()
}

// groups gives the groups in the order of the table.
func groups() []string {
	var out []string
	for _, c := range table {
		if len(out) == 0 || out[len(out)-1] != c.Group {
			out = append(out, c.Group)
		}
	}
	return out
}

// writeKeys writes the table of a group's keys in a mode, nothing when the group
// has no command for it.
func writeKeys(b *strings.Builder, m keymap.Mode, group string, tables []keymap.Table) {
	title := "## " + group
	rows := 0
	for _, c := range table {
		if c.Group != group {
			continue
		}
		cells, keyed := keysIn(tables, m, c.Name)
		if _, elsewhere := keysIn(tables, keymap.Copy, c.Name); !keyed && (m == keymap.Copy || elsewhere) {
			continue
		}
		if rows == 0 {
			fmt.Fprintf(b, "\n%s\n\n| |", title)
			for _, t := range tables {
				fmt.Fprintf(b, " %s |", t.Name)
			}
			b.WriteString("\n|---|" + strings.Repeat("---|", len(tables)) + "\n")
		}
		rows++
		fmt.Fprintf(b, "| %s | %s |\n", c.Title, strings.Join(cells, " | "))
	}
}

// keysIn gives the keys of a command in each table; any is false when it has
// none.
func keysIn(tables []keymap.Table, m keymap.Mode, name string) (cells []string, any bool) {
	for _, t := range tables {
		keys := keysOf(t, m, name)
		cells = append(cells, keys)
		any = any || keys != ""
	}
	return cells, any
}

// keysOf gives the keys of a command as Markdown.
func keysOf(t keymap.Table, m keymap.Mode, name string) string {
	var keys []string
	for _, s := range t.Help(m, Describe) {
		for _, r := range s.Rows {
			if r.Command != name {
				continue
			}
			for _, k := range r.Keys {
				k = code(k)
				if b := t.For(name, r.Args...); len(b) > 0 && b[0].Repeat {
					k += "↻"
				}
				if len(r.Args) > 0 {
					k += " (" + strings.Join(r.Args, " ") + ")"
				}
				keys = append(keys, k)
			}
		}
	}
	return strings.Join(keys, " ")
}

// usage gives arguments as Markdown: optional ones in brackets.
func usage(args []Arg) string {
	var words []string
	for _, a := range args {
		word := strings.ToUpper(a.Name)
		if a.Kind == Choice {
			word = strings.Join(a.Choices, "|")
		}
		word = code(word)
		if a.Optional {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// code sets text as code within a table's cell.
func code(text string) string {
	text = strings.ReplaceAll(text, "|", "\\|")
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}
