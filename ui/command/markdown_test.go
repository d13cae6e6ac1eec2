package command

import (
	"slices"
	"strings"
	"testing"

	"tandemux/keymap"
)

// column is a column of a table of the page: each command's keys.
type column struct {
	name string
	keys func(Command) []string
}

// bound are the keys of a table in a mode, as Markdown.
func bound(name string, t keymap.Table, m keymap.Mode) column {
	return column{name, func(c Command) (keys []string) {
		for _, s := range t.Help(m, Describe) {
			for _, r := range s.Rows {
				if r.Command != c.Name {
					continue
				}
				repeats := slices.ContainsFunc(t.For(c.Name, r.Args...), func(b keymap.Binding) bool { return b.Mode == m && b.Repeat })
				for _, k := range r.Keys {
					k = code(k)
					if repeats {
						k += "↻"
					}
					if len(r.Args) > 0 {
						k += " (" + strings.Join(r.Args, " ") + ")"
					}
					keys = append(keys, k)
				}
			}
		}
		return keys
	}}
}

// without leaves out the keys that another column has too.
func (col column) without(other column) column {
	return column{col.name, func(c Command) []string {
		theirs := other.keys(c)
		return slices.DeleteFunc(col.keys(c), func(k string) bool { return slices.Contains(theirs, k) })
	}}
}

func (col column) empty() bool {
	return !slices.ContainsFunc(table, func(c Command) bool { return len(col.keys(c)) > 0 })
}

// markdown writes the page of all keys and commands, docs/keys.md. The first preset is
// the default one.
func markdown(t *testing.T, presets ...keymap.Table) string {
	first := presets[0]
	emacs, _ := first.WithModeKeys("emacs")
	vi := bound("vi", first, keymap.Copy)
	chats := []column{bound("prompt", first, keymap.Chat), bound("transcript", first, keymap.Reading)}
	var normal []column
	var prefixes []string
	copying := []column{vi}
	for _, p := range presets {
		normal = append(normal, bound(p.Name, p, keymap.Normal))
		prefixes = append(prefixes, code(p.Prefix().String())+" ("+p.Name+")")
		if adds := bound(p.Name+" adds", p, keymap.Copy).without(vi); !adds.empty() {
			copying = append(copying, adds)
		}
		for i, m := range []keymap.Mode{keymap.Chat, keymap.Reading} {
			if !bound("", p, m).without(chats[i]).empty() {
				t.Errorf("%s has keys of its own in chats, for which the page has no place", p.Name)
			}
		}
	}
	normal = append(normal, bound("alt-keys", first.WithAlt(), keymap.Normal).without(normal[0]))
	copying = append(copying, bound("emacs", emacs, keymap.Copy))

	var b strings.Builder
	b.WriteString("<!-- Made by go test ./ui/command -run Documented -update -->\n# Keys\n\n")
	b.WriteString("Press the prefix, then the key. The prefix is " + strings.Join(prefixes, ", ") + ".\n")
	b.WriteString("`keymap = \"tmux\"` in [config.toml](configuration.md) chooses another preset, `prefix = \"ctrl+a\"` another prefix.\n\n")
	b.WriteString("A key with ↻ repeats without the prefix for half a second. In parentheses stands the argument.\n")
	b.WriteString("The keys of the column `alt-keys` need no prefix, but `alt-keys = true`; programs don't get them then.\n\n")
	b.WriteString("Any key can be bound to any command with its arguments, also several (`split-down ; even`). A PROGRAM is words, or one in quotes that sh reads: `popup \"git log | less\"`. The palette (`:`) says what each does. `?` lists the keys that you have.\n")
	writeKeys(&b, func(c Command) bool {
		return !slices.ContainsFunc(slices.Concat(copying, chats), func(col column) bool { return len(col.keys(c)) > 0 })
	}, normal)
	b.WriteString("\n## Copy mode\n\nNo prefix. `mode-keys` chooses vi or emacs.\n")
	writeKeys(&b, nil, copying)
	b.WriteString("\n## Chats\n\nNo prefix, too. The prompt has readline's keys besides.\n")
	writeKeys(&b, nil, chats)
	b.WriteString("\n## In lists\n\n")
	b.WriteString("Type to filter. The arrows, `ctrl+n` and `ctrl+p` move, `enter` takes the row, `ctrl+u` empties the filter, `esc` leaves.\nThe prefix key leaves, too, and is then what it is everywhere; in the palette and in prompts it is a key of the line\nthat you write, as in tmux.\n")
	b.WriteString("What else a list does is alt with a letter. `tab` shows these; then the letter alone is enough.\n")
	b.WriteString("In the palette `tab` completes the command.\n")
	return b.String()
}

// writeKeys writes a table of the commands that have a key in one of the columns, and
// of those that also takes.
func writeKeys(b *strings.Builder, also func(Command) bool, columns []column) {
	b.WriteString("\ncommand")
	for _, col := range columns {
		b.WriteString(" | " + col.name)
	}
	b.WriteString("\n---" + strings.Repeat("|---", len(columns)) + "\n")
	for _, c := range table {
		cells := []string{code(strings.TrimSpace(c.Name + " " + usage(c.Args)))}
		if !strings.EqualFold(strings.ReplaceAll(c.Title, " ", "-"), c.Name) { // the name does not say it
			cells[0] = c.Title + " " + cells[0]
		}
		for _, col := range columns {
			cells = append(cells, strings.Join(col.keys(c), " "))
		}
		for cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		if len(cells) > 1 || also != nil && also(c) {
			b.WriteString(strings.Join(cells, " | ") + "\n")
		}
	}
}

// usage gives arguments: optional ones in brackets.
func usage(args []Arg) string {
	var words []string
	for _, a := range args {
		word := strings.ToUpper(a.Name)
		if a.Kind == Choice {
			word = strings.Join(a.Choices, "|")
		}
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
