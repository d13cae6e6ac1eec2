package main

import (
	"fmt"
	"strings"

	"tandemux/internal/config"
	"tandemux/internal/config/option"
	"tandemux/themes"
	"tandemux/ui/status"
)

// optionsPage writes docs/configuration.md.
func optionsPage(options []option.Option) string {
	var b strings.Builder
	b.WriteString("<!-- Made by go test ./cmd/tandemux -run Documented -update -->\n# Configuration\n\n")
	b.WriteString("tandemux reads `~/.config/tandemux/config.toml`, again each time you save it.\n")
	b.WriteString("Write one with every option as a comment, change what you like, and check it:\n\n")
	b.WriteString("```sh\nmkdir -p \"$(dirname \"$(tandemux config path)\")\"\ntandemux config default > \"$(tandemux config path)\"\ntandemux config check\n```\n\n")
	b.WriteString("The status line names a mistake; until it is mended, what held before stays.\n\n")
	b.WriteString("## Options\n\nChanges apply at once, unless the table says when.\n\noption | default, or | does\n---|---|---\n")
	for _, o := range options {
		if o.IsTable() {
			continue
		}
		values := code(o.TOML())
		for _, choice := range o.Choices {
			if q := fmt.Sprintf("%q", choice); q != o.TOML() && o.TOML()[0] == '"' {
				values += " " + code(q)
			}
		}
		does := cell(o.Doc)
		if o.Needs != option.Nothing {
			does += " Applies " + config.NeedNames[o.Needs] + "."
		}
		fmt.Fprintf(&b, "%s | %s | %s\n", code(o.Name), values, does)
	}
	b.WriteString("\n## Tables\n\nThese stand at the end of the file.\n\n```toml\n")
	for _, o := range options {
		if !o.IsTable() {
			continue
		}
		if !strings.HasSuffix(b.String(), "```toml\n") {
			b.WriteString("\n")
		}
		b.WriteString("# " + o.Doc + "\n")
		if !strings.HasPrefix(o.Example[0], "["+o.Name) {
			fmt.Fprintf(&b, "[%s]\n", o.Name)
		}
		b.WriteString(strings.Join(o.Example, "\n") + "\n")
	}
	b.WriteString("```\n\n## Segments of the status line\n\nsegment | shows\n---|---\n")
	for _, s := range status.Segments() {
		fmt.Fprintf(&b, "%s | %s\n", code(s.Name), cell(s.Doc))
	}
	b.WriteString("\nWhere there is little room, some are cut or left out.\n")
	writeThemes(&b)
	return b.String()
}

func writeThemes(b *strings.Builder) {
	var families []string
	for _, name := range themes.Choices(nil) {
		if family, dark := strings.CutSuffix(name, "-dark"); dark {
			families = append(families, code(family))
		}
	}
	b.WriteString("\n## Themes\n\n`:choose-theme` shows all, and keeps your choice.\n")
	fmt.Fprintf(b, "The families are %s; each has a `-dark` and a `-light` theme, and follows your terminal.\n\"auto\" is `tandemux`.\n", strings.Join(families, ", "))
	b.WriteString("\n![tokyo-night on a dark terminal](screens/theme-dark.png)\n![rose-pine on a light terminal](screens/theme-light.png)\n")
	b.WriteString("\nA theme of your own is a file such as `~/.config/tandemux/themes/mine.toml`, for `theme = \"mine\"`;\n`mine-dark.toml` and `mine-light.toml` are a family.\n\n")
	b.WriteString("```toml\nbase = \"nord-dark\"   # what isn't said here; else tandemux-dark\ndark = true          # meant for a dark background; else as the base\n\n[colors]\nborder_focused = \"#d33682\"   # \"#rrggbb\", \"0\" to \"15\", or \"default\"\n```\n\n")
	b.WriteString("`tandemux config check` says which of yours are hard to read. The colours are\n")
	for i, name := range themes.Tokens() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(code(name))
	}
	b.WriteString(".\n")
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func code(text string) string {
	if strings.Contains(text, "`") {
		return "`` " + cell(text) + " ``"
	}
	return "`" + cell(text) + "`"
}
