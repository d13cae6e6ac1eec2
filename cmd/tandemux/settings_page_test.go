package main

import (
	"fmt"
	"strings"

	"tandemux/internal/config"
	"tandemux/internal/config/option"
	"tandemux/themes"
	"tandemux/ui/status"
)

// kindOf is an option's kind for people.
func kindOf(o option.Option) string {
	switch o.Value.(type) {
	case *string:
		if o.Choices == nil {
			return "text"
		}
		words := make([]string, len(o.Choices))
		for i, c := range o.Choices {
			words[i] = code(fmt.Sprintf("%q", c))
		}
		return strings.Join(words, ", ")
	case *bool, *option.Not:
		return "true or false"
	case *[]string:
		return "list of texts"
	case *map[string]string:
		return "table"
	case option.Tables:
		return "tables"
	}
	return "whole number"
}

// optionsPage writes docs/configuration.md.
func optionsPage(options []option.Option) string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n")
	b.WriteString("Made from the options of `cmd/tandemux/settings.go`, of `ui/status` and `themes` by\n`go test ./cmd/tandemux -run Documented -update`; don't edit it.\n\n")
	b.WriteString("tandemux reads `$XDG_CONFIG_HOME/tandemux/config.toml`, mostly `~/.config/tandemux/config.toml`.\n")
	b.WriteString("`tandemux config default` prints one with a comment for every option, `tandemux config path`\n")
	b.WriteString("says where it belongs, and `tandemux config check` names every mistake with its line.\n")
	b.WriteString("It is read again when it is saved. A mistake in it is named in the status line, and\nwhat held before stays.\n\n")
	b.WriteString("## Options\n\n| option | kind | default | takes effect | does |\n|---|---|---|---|---|\n")
	for _, o := range options {
		def := "empty"
		if !o.IsTable() {
			def = code(o.TOML())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(o.Name), kindOf(o), def, config.NeedNames[o.Needs], cell(o.Doc))
	}
	for _, o := range options {
		if _, one := o.Value.(*map[string]string); one {
			fmt.Fprintf(&b, "\n```toml\n[%s]\n%s\n```\n", o.Name, strings.Join(o.Example, "\n"))
		} else if o.IsTable() {
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
	for _, name := range themes.Choices(nil) {
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
