package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/status"
)

var quoted = regexp.MustCompile("`` (.+?) ``|`([^`]+)`")

// tokens gives what is set as code in a cell.
func tokens(cell string) []string {
	var list []string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		list = append(list, strings.ReplaceAll(m[1]+m[2], `\|`, "|"))
	}
	return list
}

// rows gives the rows of the tables below a heading.
func rows(t *testing.T, text, heading string) [][]string {
	t.Helper()
	_, text, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var all [][]string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| "+strings.ToLower(heading)+" |") {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", `\|`)
		}
		all = append(all, cells[1:len(cells)-1])
	}
	return all
}

// bindings gives the commands of a table by the keys after the prefix.
func bindings(t keymap.Table) map[string]string {
	m := map[string]string{}
	for _, b := range t.Bindings() {
		if b.Mode == keymap.Normal {
			m[strings.TrimPrefix(b.Keys, t.Prefix().String()+" ")] = b.Command
		}
	}
	return m
}

// TestSwitchingTable: everything that docs/from-tmux.md names is there, no row is
// empty without a reason, and what tmux has on a key the tmux preset has too.
func TestSwitchingTable(t *testing.T) {
	doc, err := os.ReadFile("../../docs/from-tmux.md")
	if err != nil {
		t.Fatal(err)
	}
	preset := func(name string) keymap.Table { table, _ := keymap.Preset(name); return table }
	ours, tmux := bindings(preset("default").WithAlt()), bindings(preset("tmux"))
	root := newRoot()
	for _, heading := range []string{"tmux", "zellij"} {
		all := rows(t, string(doc), heading)
		if len(all) < 30 {
			t.Errorf("%s: %d rows", heading, len(all))
		}
		for _, r := range all {
			if len(r) != 3 || r[0] == "" || r[1] == "" {
				t.Errorf("%s: the row %q is not whole", heading, r)
				continue
			}
			if r[1] == "–" && r[2] == "" {
				t.Errorf("%s: %s has neither a key nor a reason", heading, r[0])
			}
			var does []string
			for _, token := range tokens(r[1]) {
				name, ok := named(root, ours, token)
				if !ok {
					t.Errorf("%s: %s: there is no %q", heading, r[0], token)
				}
				does = append(does, name)
			}
			if len(does) == 0 && r[1] != "–" && !strings.HasPrefix(r[1], "the ") {
				t.Errorf("%s: %s: %q names nothing", heading, r[0], r[1])
			}
			if heading == "tmux" && !strings.Contains(r[2], "preset") {
				sameInTmux(t, r, does, tmux)
			}
			for _, token := range tokens(r[2]) {
				if _, ok := named(root, ours, token); !ok && (strings.HasPrefix(token, ":") || strings.HasPrefix(token, "alt+")) {
					t.Errorf("%s: %s: the note names %q, which is not there", heading, r[0], token)
				}
			}
		}
	}
}

// named reports whether a word of the table is there: a key after the prefix or
// with alt, a command of the palette or of the shell, an option, a segment. name
// is the command's.
func named(root *cobra.Command, keys map[string]string, token string) (name string, ok bool) {
	if name, ok = keys[token]; ok {
		return name, true
	}
	if rest, is := strings.CutPrefix(token, ":"); is {
		_, ok = command.Find(rest)
		return rest, ok
	}
	if words := strings.Fields(token); words[0] == "tandemux" {
		c, rest, err := root.Find(words[1:])
		return token, err == nil && (len(words) == 1 || c != root) && (len(rest) == 0 || rest[0] == strings.ToUpper(rest[0]))
	}
	ok = strings.Contains(defaultFile(), "\n#"+token+" = ") ||
		slices.ContainsFunc(status.Segments(), func(s status.Segment) bool { return s.Name == token })
	return token, ok
}

// spelled are tmux's names of keys in ours.
var spelled = strings.NewReplacer("C-", "ctrl+", "M-", "alt+", "Left", "left", "Up", "up", "Space", "space", "Pg", "pg")

// sameInTmux checks that the keys of tmux that its preset binds do what the row
// says.
func sameInTmux(t *testing.T, r, does []string, tmux map[string]string) {
	t.Helper()
	for _, token := range tokens(r[0]) {
		key, ok := strings.CutPrefix(token, "C-b ")
		if !ok {
			continue
		}
		has, bound := tmux[spelled.Replace(key)]
		if bound && !slices.Contains(does, has) {
			t.Errorf("tmux: %s does %s in the preset, the row says %v", token, has, does)
		}
	}
}
