package review

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keysOf are all keys of the screen.
func keysOf() (all []string) {
	for _, b := range bindings {
		all = append(all, strings.Fields(b.keys)...)
	}
	return all
}

// TestKeys: no key is bound twice, and those that the footer and the page name are bound.
func TestKeys(t *testing.T) {
	t.Parallel()
	all := keysOf()
	for i, k := range all {
		if slices.Contains(all[:i], k) {
			t.Errorf("%s is bound twice", k)
		}
	}
	for _, label := range footer {
		if key, _, _ := strings.Cut(label, " "); !slices.Contains(all, key) {
			t.Errorf("the footer names %s", key)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tasks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Its changes\n")
	_, table, _ := strings.Cut(section, "|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	keys := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1)
	if len(keys) < 15 {
		t.Fatalf("docs/tasks.md names %d keys", len(keys))
	}
	for _, k := range keys {
		if !slices.Contains(all, k[1]) {
			t.Errorf("docs/tasks.md names %s", k[1])
		}
	}
}
