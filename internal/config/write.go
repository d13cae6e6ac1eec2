package config

import (
	"cmp"
	"fmt"
	"strings"

	"tandemux/themes"
	"tandemux/ui/status"
)

// width is that of the comments in the file.
const width = 78

// File gives a configuration file with every option at its default, commented
// out, and what it does.
func File() string {
	var b strings.Builder
	b.WriteString("# The configuration of tandemux. Each line says what holds without it: take\n")
	b.WriteString("# the # from what you want otherwise. The file is read again when it is saved;\n")
	b.WriteString("# a mistake in it is named, and what held before stays.\n")
	for _, o := range options {
		b.WriteString("\n")
		wrap(&b, o.Doc)
		switch o.Kind {
		case Choice:
			wrap(&b, "One of "+quoted(o.Choices)+".")
		case Int:
			wrap(&b, fmt.Sprintf("From %d to %d.", o.Min, o.Max))
		case List:
			if len(o.Choices) > 0 {
				break // its words have them
			}
			wrap(&b, "Segments: "+strings.Join(segmentNames(), ", ")+".")
		}
		if o.Needs != Nothing {
			wrap(&b, "A change applies "+needNames[o.Needs]+".")
		}
		switch o.Kind {
		case Table:
			fmt.Fprintf(&b, "[%s]\n", o.Name)
		case Tables: // The example has their names.
		default:
			fmt.Fprintf(&b, "#%s = %s\n", o.Name, o.Default)
		}
		for _, line := range o.Example {
			b.WriteString("#" + line + "\n")
		}
	}
	return b.String()
}

// wrap writes a comment.
func wrap(b *strings.Builder, text string) {
	line := "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width && line != "#" {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

func segmentNames() []string {
	var names []string
	for _, s := range status.Segments() {
		names = append(names, s.Name)
	}
	return names
}

// Markdown writes the documentation: docs/configuration.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n")
	b.WriteString("Made from the tables in `internal/config`, `ui/status` and `themes` by\n`go test ./internal/config -update`; don't edit it.\n\n")
	b.WriteString("tandemux reads `$XDG_CONFIG_HOME/tandemux/config.toml`, mostly `~/.config/tandemux/config.toml`.\n")
	b.WriteString("`tandemux config default` prints one with a comment for every option, `tandemux config path`\n")
	b.WriteString("says where it belongs, and `tandemux config check` names every mistake with its line.\n")
	b.WriteString("It is read again when it is saved. A mistake in it is named in the status line, and\nwhat held before stays.\n\n")
	b.WriteString("## Options\n\n| option | kind | default | takes effect | does |\n|---|---|---|---|---|\n")
	for _, o := range options {
		kind, def := kindNames[o.Kind], code(o.Default)
		if o.Kind == Choice {
			words := make([]string, len(o.Choices))
			for i, c := range o.Choices {
				words[i] = code(fmt.Sprintf("%q", c))
			}
			kind = strings.Join(words, ", ")
		}
		def = cmp.Or(map[Kind]string{Table: "empty", Tables: "empty"}[o.Kind], def)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(o.Name), kind, def, needNames[o.Needs], cell(o.Doc))
	}
	for _, o := range options {
		switch o.Kind {
		case Table:
			fmt.Fprintf(&b, "\n```toml\n[%s]\n%s\n```\n", o.Name, strings.Join(o.Example, "\n"))
		case Tables:
			fmt.Fprintf(&b, "\n```toml\n%s\n```\n", strings.Join(o.Example, "\n"))
		}
	}
	b.WriteString("\n## Segments of the status line\n\n| segment | shows |\n|---|---|\n")
	for _, s := range status.Segments() {
		fmt.Fprintf(&b, "| %s | %s |\n", code(s.Name), cell(s.Doc))
	}
	b.WriteString("\nWhere there is little room, some are shortened and others left out. With `time` or\n`date` the line is drawn once a minute; otherwise nothing ticks.\n")
	writeThemes(&b)
	return b.String()
}

func writeThemes(b *strings.Builder) {
	b.WriteString("\n## Themes\n\nFamilies follow your terminal's light or dark; one of their two themes stays.\n\n| family | themes |\n|---|---|\n")
	for _, name := range themes.Names() {
		if family, dark := strings.CutSuffix(name, "-dark"); dark {
			fmt.Fprintf(b, "| %s | %s, %s |\n", code(family), code(name), code(family+"-light"))
		}
	}
	fmt.Fprintf(b, "| | %s, of your terminal's own sixteen colours |\n", code(themes.Terminal))
	b.WriteString("\n![tokyo-night on a dark terminal](screens/theme-dark.png)\n![rose-pine on a light terminal](screens/theme-light.png)\n")
	b.WriteString("\nA theme of your own is a file such as `~/.config/tandemux/themes/mine.toml`, chosen with\n`theme = \"mine\"`; `mine-dark.toml` and `mine-light.toml` make a family `mine`.\n\n")
	b.WriteString("```toml\nbase = \"nord-dark\"   # what isn't said here; tandemux-dark when left out\ndark = true          # meant for a dark background; the base's when left out\n\n[colors]\nborder_focused = \"#d33682\"   # \"#rrggbb\", \"0\" to \"15\", or \"default\"\n```\n\n")
	b.WriteString("The colours: ")
	for i, name := range themes.Tokens() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(code(name))
	}
	b.WriteString(".\n`tandemux config check` says which of yours are hard to read.\n")
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func code(text string) string { return "`" + cell(text) + "`" }

// SetTheme gives a configuration with another theme and everything else as it
// is. The document must be valid.
func SetTheme(doc []byte, theme string) []byte {
	line := fmt.Sprintf("theme = %q", theme)
	rows := strings.SplitAfter(string(doc), "\n")
	if n := lines(doc)[place("theme")]; n > 0 && n <= len(rows) {
		old := strings.TrimRight(rows[n-1], "\r\n")
		end := rows[n-1][len(old):]
		if i := comment(old); i >= 0 {
			line += " " + old[i:]
		}
		rows[n-1] = line + end
		return []byte(strings.Join(rows, ""))
	}
	// Before the first table, where it would belong to that: at the top, or in
	// place of the default that is commented out.
	for i, row := range rows {
		if strings.HasPrefix(row, "[") {
			break
		}
		if strings.HasPrefix(row, "#theme =") {
			rows[i] = line + "\n"
			return []byte(strings.Join(rows, ""))
		}
	}
	return []byte(line + "\n" + string(doc))
}

// comment gives where the comment of a line with a text in quotes starts, -1 for
// none.
func comment(line string) int {
	quote := byte(0)
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0 && c == '\\' && quote == '"':
			return -1 // no theme's name has one
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == '#':
			return i
		}
	}
	return -1
}
