package rules

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMap: docs/contributing/architecture.md, Packages, has every package once, below
// those that it imports.
func TestMap(t *testing.T) {
	_, table, ok := strings.Cut(readFile(t, "docs/contributing/architecture.md"), "\n## Packages\n")
	table, _, end := strings.Cut(table, "\n## ")
	if !ok || !end {
		t.Fatal("docs/contributing/architecture.md has no section Packages")
	}
	at := map[string]int{}
	for line := range strings.Lines(table) {
		names, _, row := strings.Cut(line, " | ")
		if !row {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			if at[m[1]] != 0 {
				t.Errorf("docs/contributing/architecture.md has %s twice", m[1])
			}
			at[m[1]] = len(at) + 1
		}
	}
	there := map[string]bool{}
	for _, s := range read(t) {
		if there[s.dir] = true; at[s.dir] == 0 {
			t.Errorf("docs/contributing/architecture.md does not have %s", s.dir)
			at[s.dir] = len(at) + 1
		}
		for _, spec := range s.file.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if pkg, ours := strings.CutPrefix(imp, module+"/"); ours && !s.test && at[pkg] >= at[s.dir] {
				t.Errorf("docs/contributing/architecture.md has %s above %s, which it imports", s.dir, pkg)
			}
		}
	}
	for pkg := range at {
		if !there[pkg] {
			t.Errorf("docs/contributing/architecture.md has %s, which is not there", pkg)
		}
	}
}
