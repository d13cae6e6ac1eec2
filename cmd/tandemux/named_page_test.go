package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandemux/host/task/registry"
	"tandemux/internal/cli"
	"tandemux/internal/config/option"
	"tandemux/internal/local"
	"tandemux/themes"
	"tandemux/ui/layout/layoutfile"
)

var (
	span = lazily("``.+?``|`[^`]+`")
	// called is tandemux where a shell would run it, and its words.
	called   = lazily(`(?:^|[(;|&]) *(?:[A-Z_]+=\S* +)*tandemux((?: +(?:"[^"]*"|'[^']*'|[^\s\x60|;&()<>#]+))*)`)
	optioned = lazily(`^--[a-z0-9-]+`)
	// assigned is an option of the configuration with its value.
	assigned = lazily(`^([a-z][a-z-]*) = \S`)
	target   = lazily(`\bmake ([a-z][a-z-]+)`)
)

// completeRoot is the command line as it is run, with help, man and completion.
func completeRoot(t *testing.T) *cobra.Command {
	root := newRoot()
	root.SetOut(io.Discard)
	if code := cli.Run(t.Context(), root, []string{"--version"}, ""); code != 0 {
		t.Fatalf("tandemux --version exits with %d", code)
	}
	root.AddCommand(&cobra.Command{Use: "keeper", Hidden: true}) // which main runs
	return root
}

// TestNamedOnPages: each command (U114), option and make target that a page names is there, and
// each block of toml is a configuration, an agent's definition, a layout or a theme.
func TestNamedOnPages(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	root := completeRoot(t)
	options := map[string]bool{}
	everyCommand(root, func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { options["--"+f.Name] = true })
	})
	files, _ := filepath.Glob("../tandemux-hub/*.go") //nolint:errcheck // the pattern is one
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`flag:\"([a-z-]+)").FindAllStringSubmatch(string(text), -1) {
			options["--"+m[1]] = true
		}
	}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(page)
		code := ""
		prose := string(text)
		for _, b := range blocks(t, page) {
			inside := strings.Join(b.commands, "\n")
			prose = strings.Replace(prose, "```"+b.kind+"\n"+inside+"\n```", "", 1)
			switch b.kind {
			case "sh", "console":
				code += inside + "\n"
			case "json":
				if !json.Valid([]byte(inside)) {
					t.Errorf("%s:%d: not JSON", name, b.line)
				}
			case "toml":
				if why := meansNothing(t, inside); why != "" {
					t.Errorf("%s:%d: no configuration, definition, layout or theme: %s", name, b.line, why)
				}
			}
		}
		for _, s := range span().FindAllString(prose, -1) {
			s = strings.ReplaceAll(strings.Trim(s, "`"), "\n", " ")
			code += s + "\n"
			if m := assigned().FindStringSubmatch(s); m != nil && !slices.ContainsFunc(defaults().options, func(o option.Option) bool {
				return o.Name == m[1] || slices.ContainsFunc(o.Example, func(e string) bool { return strings.Contains(e, m[1]+" = ") })
			}) {
				t.Errorf("%s: there is no option %s", name, m[1])
			}
			if o := optioned().FindString(s); o != "" && !options[o] {
				t.Errorf("%s: no command has the option %s", name, o)
			}
		}
		for line := range strings.Lines(code) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			for _, m := range called().FindAllStringSubmatch(line, -1) {
				if why := unknownWord(root, strings.Fields(m[1])); why != "" {
					t.Errorf("%s: `tandemux%s`: %s", name, m[1], why)
				}
			}
			for _, m := range target().FindAllStringSubmatch(line, -1) {
				if strings.HasPrefix(line, "make") && !regexp.MustCompile(`(?m)^`+m[1]+`:`).Match(makefile) {
					t.Errorf("%s: there is no `make %s`", name, m[1])
				}
			}
		}
	}
}

func everyCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, below := range c.Commands() {
		everyCommand(below, do)
	}
}

// unknownWord says which of a command's words tandemux does not know, if one is. Words in
// capitals stand for others; what follows an argument is the command's.
func unknownWord(c *cobra.Command, words []string) string {
	for i := 0; i < len(words); i++ {
		word := strings.Trim(words[i], "[].,:")
		switch {
		case word == "--" || word == "…" || word == "" || c.DisableFlagParsing: // another program's
			return ""
		case word == "-":
		case strings.HasPrefix(word, "-"):
			name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
			f := c.Flag(name)
			if !strings.HasPrefix(word, "--") {
				f = c.Flags().ShorthandLookup(name[:1])
			}
			if f == nil {
				return "there is no option " + word
			}
			if f.NoOptDefVal == "" && !given {
				i++
			}
		case c.HasSubCommands():
			if strings.ToUpper(word) == word {
				return ""
			}
			at := slices.IndexFunc(c.Commands(), func(below *cobra.Command) bool { return below.Name() == word })
			if at < 0 && strings.Contains(c.Use, " ") { // it takes what is no command, too
				continue
			}
			if at < 0 {
				return "there is no command " + word
			}
			c = c.Commands()[at]
		}
	}
	return ""
}

// meansNothing says why a text is none of the kinds of TOML that tandemux reads.
func meansNothing(t *testing.T, text string) string {
	_, err := registry.ParseDefinition([]byte(text))
	if err == nil {
		return ""
	}
	if _, err := layoutfile.Parse(strings.NewReader(text)); err == nil {
		return ""
	}
	if _, err := themes.Load([]byte(text)); err == nil {
		return ""
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := readSettings(local.Dirs{Config: dir}, path); len(problems) > 0 {
		return problems[0].Text
	}
	return ""
}
