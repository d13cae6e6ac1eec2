package api

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestStatusesAreWritten: docs/http.md has the statuses of all errors that the
// description names.
func TestStatusesAreWritten(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n## Errors\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var words []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d{3}(?: \d{3})*) \|`).FindAllStringSubmatch(section, -1) {
		for text := range strings.FieldsSeq(row[1]) {
			status, _ := strconv.Atoi(text)
			answer := httptest.NewRecorder()
			Refuse(answer, status, "")
			var said Error
			if err := json.Unmarshal(answer.Body.Bytes(), &said); err != nil {
				t.Fatal(err)
			}
			words = append(words, said.Code)
		}
	}
	field, _ := reflect.TypeFor[Error]().FieldByName("Code")
	want := strings.Split(field.Tag.Get("enum"), ",")
	slices.Sort(want)
	if slices.Sort(words); !slices.Equal(words, want) {
		t.Errorf("docs/http.md has the statuses of %q; errors are %q", words, want)
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
		if r.In.Kind() != reflect.Struct || r.Out.Kind() == reflect.Pointer {
			t.Errorf("%s takes %v and gives %v", r.Name, r.In, r.Out)
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
