package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// saidByTandemux are the texts in the source of what is no test.
func saidByTandemux(t *testing.T) (said []string) {
	for _, s := range read(t) {
		if s.test || s.dir == "bench" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					said = append(said, text)
				}
			}
			return true
		})
	}
	return said
}

// TestQuotedMessages: what docs/troubleshooting.md quotes in its headings, tandemux says.
// An … stands for anything.
func TestQuotedMessages(t *testing.T) {
	said := saidByTandemux(t)
	quoted := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(readFile(t, "docs/troubleshooting.md"), -1)
	if len(quoted) < 20 {
		t.Errorf("docs/troubleshooting.md has %d messages", len(quoted))
	}
	for _, m := range quoted {
		if !slices.ContainsFunc(said, func(text string) bool { return hasInOrder(text, strings.Split(m[1], "…")) }) {
			t.Errorf("docs/troubleshooting.md quotes %q, which tandemux does not say", m[1])
		}
	}
}

func hasInOrder(text string, parts []string) bool {
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

// between are variables that tandemux's processes, or its tests, tell each other.
var between = []string{
	"TANDEMUX_AHP_TREE", "TANDEMUX_READY_FD", "TANDEMUX_SANDBOX_PLAN", "TANDEMUX_SEED",
	"TANDEMUX_SHELL_KEPT", "TANDEMUX_SHELL_NONCE", "TANDEMUX_SHELL_RC", "TANDEMUX_SOAK",
}

// TestVariablesAreWritten: docs/scripting.md has the variables of the environment that
// are tandemux's.
func TestVariablesAreWritten(t *testing.T) {
	name := regexp.MustCompile(`^(TANDEMUX(?:_[A-Z_]*[A-Z])?)=?$`)
	var used []string
	for _, text := range saidByTandemux(t) {
		if m := name.FindStringSubmatch(text); m != nil && !slices.Contains(between, m[1]) {
			used = append(used, m[1])
		}
	}
	slices.Sort(used)
	_, table, _ := strings.Cut(readFile(t, "docs/scripting.md"), "\n## Environment\n")
	table, _, _ = strings.Cut(table, "\n## ")
	written := regexp.MustCompile(`TANDEMUX(?:_[A-Z_]+)?`).FindAllString(table, -1)
	slices.Sort(written)
	if used = slices.Compact(used); !slices.Equal(used, written) {
		t.Errorf("the variables are %q; docs/scripting.md says %q", used, written)
	}
}

// TestTypesAreWritten: pages have the types of what a task streams, and of what a hook says.
func TestTypesAreWritten(t *testing.T) {
	for _, c := range []struct{ dir, page, from, row string }{
		{"host/task", "docs/http.md", "\n## The stream\n", "`([a-z-]+)`"},
		{"host/task/hook", "docs/deploying.md", "\n| line | |\n", `"type":"([a-z-]+)"`},
	} {
		var want, written []string
		for _, s := range read(t) {
			if s.dir != c.dir || s.test {
				continue
			}
			for _, d := range s.file.Decls {
				group, is := d.(*ast.GenDecl)
				if !is || group.Tok != token.CONST || !strings.HasPrefix(group.Doc.Text(), "The types of a ") {
					continue
				}
				for _, spec := range group.Specs {
					text, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, text)
				}
			}
		}
		_, rest, _ := strings.Cut(readFile(t, c.page), c.from)
		rest, _, _ = strings.Cut(rest, "\n## ")
		for line := range strings.Lines(rest) {
			if cells := strings.Split(line, "|"); len(cells) > 2 && cells[1] != " `type` " {
				for _, m := range regexp.MustCompile(c.row).FindAllStringSubmatch(cells[1], -1) {
					written = append(written, m[1])
				}
			}
		}
		slices.Sort(want)
		slices.Sort(written)
		if len(want) == 0 || !slices.Equal(want, written) {
			t.Errorf("%s has the types %q; %s has %q", c.page, written, c.dir, want)
		}
	}
}

// TestPicturesAreShown: each picture is on a page, and made by a script or a test.
func TestPicturesAreShown(t *testing.T) {
	all := append(files(t, ".png"), files(t, ".svg")...)
	script := readFile(t, "scripts/screens.sh")
	start := readFile(t, "cmd/tandemux/start_test.go")
	shown := ""
	for _, page := range files(t, ".md") {
		shown += readFile(t, page)
	}
	for _, file := range all {
		name, is := strings.CutPrefix(file, "docs/screens/")
		if !is {
			continue
		}
		plain, _, _ := strings.Cut(name, ".")
		if !strings.Contains(shown, "screens/"+name+")") {
			t.Errorf("no page shows %s", file)
		}
		if !regexp.MustCompile(`(?m)^\s*(?:shot|theme|page) `+plain+`\b`).MatchString(script) && !strings.Contains(start, name) {
			t.Errorf("nothing makes %s", file)
		}
	}
}

// TestLettersAreWritten: pages have the letters of lists. In brackets stand the package of
// a list and what it calls the deed.
func TestLettersAreWritten(t *testing.T) {
	letters := map[string]string{}
	for _, s := range read(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			action, is := n.(*ast.CompositeLit)
			if !is || s.test {
				return true
			}
			has := map[string]string{}
			for _, e := range action.Elts {
				if kv, is := e.(*ast.KeyValueExpr); is {
					key, _ := kv.Key.(*ast.Ident)
					if lit, is := kv.Value.(*ast.BasicLit); is && key != nil && lit.Kind == token.STRING {
						has[key.Name], _ = strconv.Unquote(lit.Value)
					}
				}
			}
			if has["Letter"] != "" {
				letters[s.dir+" "+has["Label"]] = has["Letter"]
			}
			return true
		})
	}
	for page, sentences := range map[string][]string{
		"docs/tasks.md": {
			"`alt+[ui/agents answer]` | answer its question",
			"`alt+[ui/agents steer]` | send it a message",
			"`alt+[ui/agents changes]` | its changes",
			"`alt+[ui/agents discard]` | delete it, after asking",
			"`alt+[ui/agents archived]` | show cancelled ones, too",
		},
		"docs/agents.md":    {"lists the chats; `alt+[ui/agents new]` begins one"},
		"docs/daily.md":     {"`alt+[ui/copying failed only]` shows what failed, `alt+[ui/copying copy output]` copies an output"},
		"docs/from-tmux.md": {"`w`, and there alt with [ui/control to this tab]"},
	} {
		for _, s := range sentences {
			want := regexp.MustCompile(`\[([^\]]+)\]`).ReplaceAllStringFunc(s, func(name string) string { return letters[strings.Trim(name, "[]")] })
			if !strings.Contains(readFile(t, page), want) {
				t.Errorf("%s does not say %q", page, want)
			}
		}
	}
}
