package command

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/keymap"
)

// markdown writes the documentation of all keys and commands: docs/keys.md. The
// first table is the default one.
func markdown(tables ...keymap.Table) string {
	var b strings.Builder
	b.WriteString("# Keys and commands\n\n")
	b.WriteString("Made from the tables in `keymap` and `ui/command` by `go test ./ui/command -update`; don't edit it.\n\n")
	b.WriteString("A key is pressed after the prefix key of its preset. The preset is set with `keymap = \"tmux\"`.\n\n")
	b.WriteString("| preset | prefix |\n|---|---|\n")
	for _, t := range tables {
		fmt.Fprintf(&b, "| %s | %s |\n", t.Name, code(t.Prefix().String()))
	}
	b.WriteString("\nKeys marked with ↻ may be repeated without the prefix for half a second. ")
	b.WriteString("The command palette has every command, also those without a key.\n")
	for _, g := range groups {
		writeKeys(&b, keymap.Normal, g.name, tables)
	}
	b.WriteString("\n# In copy mode\n\nThese keys need no prefix; the prefix key does what it always does.\n")
	for _, g := range groups {
		writeKeys(&b, keymap.Copy, g.name, tables)
	}
	writeEmacs(&b, tables[0])
	b.WriteString("\n# In a chat\n\nThese keys work in the prompt of a chat, beside readline's. The prefix key does what it always does.\n")
	for _, g := range groups {
		writeKeys(&b, keymap.Chat, g.name, tables)
	}
	b.WriteString("\n# In the transcript of a chat\n\nThese keys need no prefix.\n")
	for _, g := range groups {
		writeKeys(&b, keymap.Reading, g.name, tables)
	}
	b.WriteString("\n# In lists\n\nA list of terminals, layouts, sessions, commands, buffers, files, themes or keys opens on the current row. ")
	b.WriteString("What you type filters it: words first, then their beginnings, then parts of words. The arrows, `ctrl+n` and `ctrl+p` move, `enter` takes the row, `ctrl+u` empties the filter, `esc` leaves. ")
	b.WriteString("What else a list does has alt and a letter; `tab` shows these actions, and then the letter alone does it. In the palette `tab` completes the command.\n")
	writeAlt(&b, tables[0])
	b.WriteString("\n# Commands\n\nWhat the palette offers and a key can be bound to.\n\n")
	b.WriteString("| command | arguments | does |\n|---|---|---|\n")
	for _, c := range table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(c.Name), usage(c.Args), c.Help)
	}
	return b.String()
}

// writeEmacs writes copy mode's keys with mode-keys = "emacs", which are the same
// in every preset.
func writeEmacs(b *strings.Builder, t keymap.Table) {
	emacs, ok := t.WithModeKeys("emacs")
	if !ok {
		return
	}
	emacs.Name = "every preset"
	b.WriteString("\n# In copy mode with `mode-keys = \"emacs\"`\n\nThe keys above are vi's. These take their place.\n")
	for _, g := range groups {
		writeKeys(b, keymap.Copy, g.name, []keymap.Table{emacs})
	}
}

// writeAlt writes the keys with alt, which are the same in every preset.
func writeAlt(b *strings.Builder, t keymap.Table) {
	b.WriteString("\n# Keys with alt, without the prefix\n\nWith `alt-keys = true`, in every preset. Programs don't get these keys then.\n\n| | |\n|---|---|\n")
	for _, s := range t.WithAlt().Help(keymap.Normal, Describe) {
		for _, r := range s.Rows {
			if r.Prefixed {
				continue
			}
			keys := make([]string, len(r.Keys))
			for i, k := range r.Keys {
				keys[i] = code(k)
			}
			fmt.Fprintf(b, "| %s | %s |\n", r.Text, strings.Join(keys, " "))
		}
	}
}

// effect is a row of the documentation: a command, or one of the choices of a
// command that takes one.
type effect struct {
	title, name string
	choice      string // "" for the whole command
}

func effects(group string) []effect {
	var out []effect
	for _, c := range table {
		switch {
		case c.Group != group:
		case len(c.Args) == 1 && c.Args[0].Kind == Choice:
			for _, choice := range c.Args[0].Choices {
				_, text, _ := Describe(c.Name, []string{choice})
				out = append(out, effect{text, c.Name, choice})
			}
		default:
			out = append(out, effect{title: c.Title, name: c.Name})
		}
	}
	return out
}

// writeKeys writes the table of a group's keys in a mode, nothing when the group
// has no key in it.
func writeKeys(b *strings.Builder, m keymap.Mode, group string, tables []keymap.Table) {
	rows := 0
	for _, e := range effects(group) {
		line, keyed := "| "+e.title+" |", false
		for _, t := range tables {
			keys := keysOf(t, m, e)
			line += " " + keys + " |"
			keyed = keyed || keys != ""
		}
		if !keyed {
			continue
		}
		if rows == 0 {
			fmt.Fprintf(b, "\n## %s\n\n| |", group)
			for _, t := range tables {
				fmt.Fprintf(b, " %s |", t.Name)
			}
			b.WriteString("\n|---|" + strings.Repeat("---|", len(tables)) + "\n")
		}
		rows++
		b.WriteString(line + "\n")
	}
}

// keysOf gives the keys of an effect as Markdown.
func keysOf(t keymap.Table, m keymap.Mode, e effect) string {
	var keys []string
	for _, s := range t.Help(m, Describe) {
		for _, r := range s.Rows {
			if r.Command != e.name || e.choice != "" && !slices.Equal(r.Args, []string{e.choice}) {
				continue
			}
			for _, k := range r.Keys {
				k = code(k)
				again := func(b keymap.Binding) bool { return b.Mode == m && b.Repeat }
				if slices.ContainsFunc(t.For(e.name, r.Args...), again) {
					k += "↻"
				}
				if len(r.Args) > 0 && e.choice == "" {
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
