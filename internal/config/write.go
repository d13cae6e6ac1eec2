package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/internal/config/option"
)

// width is that of the comments in the file.
const width = 78

// File gives a configuration file with every option at what it holds, the default,
// commented out, and what it does.
func File(options []option.Option) string {
	var b strings.Builder
	b.WriteString("# The configuration of tandemux. Each line says what holds without it: take\n")
	b.WriteString("# the # from what you want otherwise. The file is read again when it is saved;\n")
	b.WriteString("# a mistake in it is named, and what held before stays.\n")
	for _, o := range Ordered(options) {
		b.WriteString("\n")
		wrap(&b, o.Doc)
		switch o.Value.(type) {
		case *string:
			if o.Choices != nil {
				wrap(&b, "One of "+option.Quoted(o.Choices)+".")
			}
		case *int, *time.Duration:
			wrap(&b, fmt.Sprintf("From %d to %d.", o.Min, o.Max))
		}
		if o.Hint != "" {
			wrap(&b, o.Hint)
		}
		if o.Needs != option.Nothing {
			wrap(&b, "A change applies "+NeedNames[o.Needs]+".")
		}
		switch o.Value.(type) {
		case *map[string]string:
			fmt.Fprintf(&b, "[%s]\n", o.Name)
		case option.Tables: // The example has their names.
		default:
			fmt.Fprintf(&b, "#%s = %s\n", o.Name, o.TOML())
		}
		for _, line := range o.Example {
			b.WriteString("#" + line + "\n")
		}
	}
	return b.String()
}

// NeedNames are the needs for people.
var NeedNames = [...]string{option.Nothing: "at once", option.NewTerminal: "in new terminals", option.Restart: "at the next start of tandemux"}

// Ordered gives options in the order of a file: tables last, since what follows one is
// a part of it.
func Ordered(options []option.Option) []option.Option {
	ordered := slices.Clone(options)
	rank := map[bool]int{true: 1}
	slices.SortStableFunc(ordered, func(a, b option.Option) int { return rank[a.IsTable()] - rank[b.IsTable()] })
	return ordered
}

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

// commented is a line with a text in quotes and a comment.
var commented = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^=]*=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*')\s*(#.*)`)
})

// SetTheme gives a configuration with another theme and everything else as it
// is. The document must be valid.
func SetTheme(doc []byte, theme string) []byte {
	line := fmt.Sprintf("theme = %q", theme)
	rows := strings.SplitAfter(string(doc), "\n")
	if n := lines(doc)[place("theme")]; n > 0 && n <= len(rows) {
		old := strings.TrimRight(rows[n-1], "\r\n")
		end := rows[n-1][len(old):]
		if m := commented().FindStringSubmatch(old); m != nil {
			line += " " + m[1]
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
