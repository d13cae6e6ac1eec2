package config

import (
	"fmt"
	"strings"

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
