package api

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of docs/http.md")

// TestDocs: the documentation's table has the routes, a path a row (U114).
func TestDocs(t *testing.T) {
	t.Parallel()
	const path, from, to = "../../../docs/http.md", "-run TestDocs -update -->\n", "<!-- end -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), from)
	have, after, ended := strings.Cut(rest, to)
	if !ok || !ended {
		t.Fatal("docs/http.md has no place for the table")
	}
	var b strings.Builder
	b.WriteString("path | methods\n---|---")
	last := ""
	for _, r := range Table {
		if r.Path != last {
			fmt.Fprintf(&b, "\n`%s` |", r.Path)
		}
		fmt.Fprintf(&b, " %s", r.Method)
		last = r.Path
	}
	b.WriteString("\n")
	if *update {
		if err := os.WriteFile(path, []byte(before+from+b.String()+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != b.String() {
		t.Errorf("docs/http.md has another table than the routes: run go test ./host/task/api -run TestDocs -update")
	}
}

// TestTable: every route is whole and distinct, and what it names in its path is
// what its handler can ask for (U9, U37).
func TestTable(t *testing.T) {
	t.Parallel()
	names, places := map[string]bool{}, map[string]bool{}
	for _, r := range Table {
		at := r.Method + " " + regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(r.Path, "{}")
		switch {
		case r.handle == nil || r.Name == "" || !strings.HasSuffix(r.Summary, ".") || !strings.HasPrefix(r.Path, "/"):
			t.Errorf("%s %s is not whole", r.Method, r.Path)
		case names[r.Name] || places[at]:
			t.Errorf("%s %s, %s: there is another one", r.Method, r.Path, r.Name)
		}
		names[r.Name], places[at] = true, true
		if r.In.Kind() != reflect.Struct || r.out.Kind() == reflect.Pointer {
			t.Errorf("%s takes %v and gives %v", r.Name, r.In, r.out)
		}
	}
}

// TestDescription: the OpenAPI description is JSON, names every route, and all that it
// refers to is in it.
func TestDescription(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(description())
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Responses map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	count := 0
	for path, methods := range d.Paths {
		if !strings.HasPrefix(path, Prefix+"/") || strings.Contains(path, "...") {
			t.Errorf("the path %s", path)
		}
		for _, op := range methods {
			if op.OperationID == "" {
				t.Errorf("%s has no id", path)
			}
			count++
		}
	}
	if count != len(Table) || d.OpenAPI != "3.1.0" {
		t.Errorf("it describes %d of %d routes", count, len(Table))
	}
	for _, m := range regexp.MustCompile(`#/components/responses/(\w+)`).FindAllStringSubmatch(string(text), -1) {
		if _, ok := d.Components.Responses[m[1]]; !ok {
			t.Errorf("it refers to %s, which is not there", m[1])
		}
	}
}
