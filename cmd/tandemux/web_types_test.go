package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/schema"
)

// pageTypes are what the page for browsers reads, with all that they refer to.
var pageTypes = []string{
	"RootState", "TerminalState", "ActivityState", "LayoutState", "SessionState", "SessionSummary", "ChatState", "Snapshot", "Envelope",
}

// shape is a schema, as far as TypeScript has words for it.
type shape struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Const      any              `json:"const"`
	Enum       []any            `json:"enum"`
	Properties map[string]shape `json:"properties"`
	Additional *shape           `json:"additionalProperties"`
	Required   []string         `json:"required"`
	Items      *shape           `json:"items"`
	AnyOf      []shape          `json:"anyOf"`
	OneOf      []shape          `json:"oneOf"`
	AllOf      []struct {
		If   shape `json:"if"`
		Then shape `json:"then"`
	} `json:"allOf"`
}

// UnmarshalJSON reads true, which is anything, too.
func (s *shape) UnmarshalJSON(b []byte) error {
	type plain shape
	if string(b) == "true" || string(b) == "false" {
		return nil
	}
	return json.Unmarshal(b, (*plain)(s))
}

// TestWebTypes: web/src/types.ts is what the schemas say. With -update it is written.
func TestWebTypes(t *testing.T) {
	const path = "../../web/src/types.ts"
	text, err := json.Marshal(schema.Document(ahp.V1))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]shape `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	done := map[string]string{}
	var want func(name string)
	var word func(s shape) string
	word = func(s shape) string {
		switch {
		case s.Ref != "":
			name := strings.TrimPrefix(s.Ref, "#/$defs/")
			want(name)
			return name
		case s.Const != nil:
			return encoded(t, s.Const)
		case len(s.Enum) > 0:
			return joined(t, s.Enum)
		case len(s.AnyOf)+len(s.OneOf) > 0:
			var all []string
			for _, o := range append(s.AnyOf, s.OneOf...) {
				if w := word(o); !slices.Contains(all, w) {
					all = append(all, w)
				}
			}
			return strings.Join(all, " | ")
		}
		switch s.Type {
		case "string", "boolean", "null":
			return s.Type.(string)
		case "integer", "number":
			return "number"
		case "array":
			if s.Items == nil {
				return "unknown[]"
			}
			item := word(*s.Items)
			if strings.Contains(item, " ") {
				item = "(" + item + ")"
			}
			return item + "[]"
		case "object":
			if s.Additional != nil {
				return "Record<string, " + word(*s.Additional) + ">"
			}
			return "Record<string, any>"
		}
		return "any"
	}
	want = func(name string) {
		s, ok := doc.Defs[name]
		if _, had := done[name]; had || !ok {
			return
		}
		done[name] = ""
		if len(s.Properties) == 0 && len(s.AllOf) == 0 {
			done[name] = fmt.Sprintf("export type %s = %s;\n", name, word(s))
			return
		}
		// What only some kinds have is optional, and a kind may be any of them.
		members, required := maps.Clone(s.Properties), s.Required
		for _, branch := range s.AllOf {
			for k, v := range branch.Then.Properties {
				if _, had := members[k]; !had {
					members[k] = v
				}
			}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "export interface %s {\n", name)
		for _, k := range slices.Sorted(maps.Keys(members)) {
			mark := "?"
			if slices.Contains(required, k) {
				mark = ""
			}
			if strings.ContainsAny(k, "/-") {
				fmt.Fprintf(&b, "  %q%s: %s;\n", k, mark, word(members[k]))
				continue
			}
			fmt.Fprintf(&b, "  %s%s: %s;\n", k, mark, word(members[k]))
		}
		b.WriteString("}\n")
		done[name] = b.String()
	}
	for _, name := range pageTypes {
		if _, ok := doc.Defs[name]; !ok {
			t.Fatalf("the schemas have no %s", name)
		}
		want(name)
	}
	got := "// Made of the JSON Schemas that `tandemux schema` prints; `go test ./cmd/tandemux -run TestWebTypes -update` writes it.\n"
	for _, name := range slices.Sorted(maps.Keys(done)) {
		got += "\n" + done[name]
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if had, err := os.ReadFile(path); err != nil || string(had) != got {
		t.Errorf("%s is not what the schemas say (%v): run this test with -update", path, err)
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func joined(t *testing.T, all []any) string {
	t.Helper()
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = encoded(t, v)
	}
	return strings.Join(words, " | ")
}
