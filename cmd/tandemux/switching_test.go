package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/status"
)

var quoted = lazily("`` (.+?) ``|`([^`]+)`")

// tokens gives what is set as code in a cell.
func tokens(cell string) []string {
	var list []string
	for _, m := range quoted().FindAllStringSubmatch(cell, -1) {
		list = append(list, strings.ReplaceAll(m[1]+m[2], `\|`, "|"))
	}
	return list
}

// rows gives the rows of the tables of two columns below a heading.
func rows(t *testing.T, text, heading string) (all [][2]string) {
	t.Helper()
	_, text, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, m := range regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`).FindAllStringSubmatch(text, -1) {
		if m[1] != heading {
			all = append(all, [2]string{m[1], m[2]})
		}
	}
	return all
}

// tmuxKeys are tmux's default keys after its prefix (3.3a, list-keys -T prefix), each with
// the command of tandemux that does the same; those without one do something else, or
// nothing, in the preset, and docs/from-tmux.md says why.
const tmuxKeys = `
C-b send-prefix
C-z suspend
Space next-layout
! break-out
" split-down
# choose-buffer
$ rename-layout
% split-right
& close-tab
, rename-tab
- delete-buffer
1 go-tab
2 go-tab
3 go-tab
4 go-tab
5 go-tab
6 go-tab
7 go-tab
8 go-tab
9 go-tab
: palette
; focus-last
= choose-buffer
? help
E even
[ copy-mode
] paste-buffer
c new-tab
d detach
l last-tab
m mark-pane
n next-tab
o focus-next
p previous-tab
r redraw
s layouts
w terminals
x close-pane
z zoom
{ swap-previous
} swap-next
PgUp scroll-page-up
Up focus-up
Down focus-down
Left focus-left
Right focus-right
M-1 arrange
M-2 arrange
M-3 arrange
M-4 arrange
M-5 arrange
M-Up resize-up
M-Down resize-down
M-Left resize-left
M-Right resize-right
C-Up resize-up
C-Down resize-down
C-Left resize-left
C-Right resize-right
C-o rotate
M-o rotate
' go-tab
( switch-layout
) switch-layout
L switch-layout
. move-tab
i pane-info
q pane-numbers
~ messages
M-n next-alert
< menu
> menu
/
0
C
D
M
f
t
DC
M-p
S-Left
S-Right
S-Up
S-Down
`

// listKeys gives the keys of tmux's prefix table: of 3.3a as it is kept here, or what the
// tmux of that version on PATH says.
func listKeys(t *testing.T) (keys []string) {
	const version = "3.3a"
	list, err := os.ReadFile("testdata/tmux-" + version + "-prefix-keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := exec.Command("tmux", "-V").Output(); err != nil || strings.TrimSpace(string(v)) != "tmux "+version {
		t.Logf("there is no tmux %s here to ask: %s%v", version, v, err)
	} else {
		cmd := exec.Command("tmux", "-f", os.DevNull, "-S", filepath.Join(t.TempDir(), "s"), "list-keys", "-T", "prefix")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "SHELL=/bin/sh"}
		said, err := cmd.Output()
		if err != nil || string(said) != string(list) {
			t.Errorf("tmux lists other keys than are kept: %v\n%s", err, said)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^bind-key +(?:-r )?-T prefix +(\S+)`).FindAllStringSubmatch(string(list), -1) {
		keys = append(keys, regexp.MustCompile(`^\\(.)$`).ReplaceAllString(m[1], "$1"))
	}
	return keys
}

// TestTmuxKeysAreKnown: each key of tmux's prefix table is in tmuxKeys, and no other.
func TestTmuxKeysAreKnown(t *testing.T) {
	var known []string
	for line := range strings.Lines(strings.TrimSpace(tmuxKeys)) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		known = append(known, strings.NewReplacer("PgUp", "PPage").Replace(key))
	}
	list := listKeys(t)
	slices.Sort(known)
	slices.Sort(list)
	if !slices.Equal(known, list) {
		t.Errorf("tmux has\n%q, known are\n%q", list, known)
	}
}

// TestSwitchingTable: everything that docs/from-tmux.md names is there. Of tmux's keys the
// page has those that the preset has not, and no other.
func TestSwitchingTable(t *testing.T) {
	doc, err := os.ReadFile("../../docs/from-tmux.md")
	if err != nil {
		t.Fatal(err)
	}
	bindings := func(name string) map[string]string {
		table, _ := keymap.Preset(name)
		if name == "default" {
			table = table.WithAlt()
		}
		m := map[string]string{}
		for _, b := range table.Bindings() {
			if b.Mode == keymap.Normal {
				m[strings.TrimPrefix(b.Keys, table.Prefix().String()+" ")] = b.Command
			}
		}
		return m
	}
	root, tmux := newRoot(), bindings("tmux")
	differ := map[string]bool{}
	for heading, keys := range map[string]map[string]string{"tmux": tmux, "zellij": bindings("default")} {
		all := rows(t, string(doc), heading)
		if len(all) < 20 {
			t.Errorf("%s: %d rows", heading, len(all))
		}
		for _, r := range all {
			for _, token := range tokens(r[0]) {
				if key, is := strings.CutPrefix(token, "C-b "); is {
					differ[key] = true
				}
			}
			for _, token := range tokens(r[1]) {
				if !named(root, keys, token) {
					t.Errorf("%s: %s: there is no %q", heading, r[0], token)
				}
			}
		}
	}
	for key, of := range map[string][]string{"9": nil, "S-Left": {"S-Right", "S-Up", "S-Down"}} { // ends of ranges
		for _, k := range of {
			differ[k] = differ[key]
		}
	}
	differ["9"] = false
	for line := range strings.Lines(strings.TrimSpace(tmuxKeys)) {
		key, does, same := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch has := tmux[spelled.Replace(key)]; {
		case same && differ[key]:
			t.Errorf("docs/from-tmux.md says that C-b %s differs, and it does not", key)
		case same && has != does:
			t.Errorf("tmux: C-b %s does %q in the preset, not %q", key, has, does)
		case !same && !differ[key]:
			t.Errorf("docs/from-tmux.md does not say that C-b %s differs", key)
		}
		delete(differ, key)
	}
	for key, is := range differ {
		if is {
			t.Errorf("docs/from-tmux.md names C-b %s, which tmux does not have", key)
		}
	}
}

// named reports whether a word of the table is there: a key after the prefix or with alt,
// a command of the palette or of the shell, an option, a segment, or a file.
func named(root *cobra.Command, keys map[string]string, token string) bool {
	if rest, is := strings.CutPrefix(token, ":"); is && rest != "" {
		_, ok := command.Find(rest)
		return ok
	}
	if rest, is := strings.CutPrefix(token, "tandemux"); is {
		return unknownWord(root, strings.Fields(rest)) == ""
	}
	return keys[token] != "" || strings.HasPrefix(token, "~/") ||
		strings.Contains(defaultFile(), "\n#"+token+" = ") ||
		slices.ContainsFunc(status.Segments(), func(s status.Segment) bool { return s.Name == token })
}

// spelled are tmux's names of keys in ours.
var spelled = strings.NewReplacer("C-", "ctrl+", "M-", "alt+", "Left", "left", "Right", "right", "Up", "up", "Down", "down", "Space", "space", "PgUp", "pgup")
