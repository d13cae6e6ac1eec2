package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// reducersIn gives the page's reducers as a function of an engine for JavaScript: from a
// case, as JSON, to the state that it ends with.
func reducersIn(t *testing.T) func(c string) string {
	t.Helper()
	r := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: `import {reducers} from "./reduce"; import {reduceAnnotations} from "./annotations"; reducers.annotations = reduceAnnotations; globalThis.run = (text) => { const c = JSON.parse(text); const r = reducers[c.reducer]; return JSON.stringify(c.actions.reduce((s, a) => r(s, a), c.initial)); }`, ResolveDir: "../src"},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2017, Platform: api.PlatformNeutral,
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	vm := goja.New()
	if _, err := vm.RunString(newer + string(r.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	var run func(string) string
	if err := vm.ExportTo(vm.Get("run"), &run); err != nil {
		t.Fatal(err)
	}
	return run
}

// newer are methods that browsers have and this engine may not.
const newer = `
Array.prototype.with ??= function (i, v) { const a = [...this]; a[i] = v; return a; };
Array.prototype.toSpliced ??= function (...x) { const a = [...this]; a.splice(...x); return a; };
Array.prototype.toSorted ??= function (f) { return [...this].sort(f); };
Object.hasOwn ??= (o, k) => Object.prototype.hasOwnProperty.call(o, k);
`

// readers are cases of what package ahp's decoder does with what others write: the host has
// done that with all that it sends, and the page reads only what its host sends.
var readers = []string{
	"0.5 state without exitCode is a running terminal in 1.x",
	"output behind an earlier command's end goes to the open one", // rounds numbers
	"unknown parts and members of states pass by",
	"1.x terminal list with both claims, lifecycles and meta",
	"1.x failed is 0.5's creationFailed",
}

// TestReducers: the page's reducers pass the cases that those of package ahp pass, but for
// the profile 0.5, which the page does not speak.
func TestReducers(t *testing.T) {
	run := reducersIn(t)
	for _, file := range []string{"testdata/cases.json", "testdata/chat_cases.json", "annotation/testdata/cases.json"} {
		text, err := os.ReadFile(filepath.Join("../../ahp", file))
		if err != nil {
			t.Fatal(err)
		}
		var cases []map[string]any
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Fatalf("%s has no cases", file)
		}
		for _, c := range cases {
			t.Run(c["description"].(string), func(t *testing.T) {
				if c["profile"] == "0.5.x" {
					t.Skip("of 0.5, which the page does not speak")
				}
				if slices.Contains(readers, c["description"].(string)) {
					t.Skip("of the decoder, not of the reducer")
				}
				in, err := json.Marshal(c)
				if err != nil {
					t.Fatal(err)
				}
				var got any
				if err := json.Unmarshal([]byte(run(string(in))), &got); err != nil {
					t.Fatal(err)
				}
				if want := dropped(c["expected"]); !reflect.DeepEqual(dropped(got), want) {
					t.Errorf("got  %s\nwant %s", encoded(got), encoded(want))
				}
			})
		}
	}
}

func encoded(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// dropped is a value without its null members, which mean the same as none.
func dropped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, e := range v {
			if e != nil {
				m[k] = dropped(e)
			}
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = dropped(e)
		}
		return l
	}
	return v
}

// TestWhole: what a tool is called with is shown whole: also what JSON's readers lose.
func TestWhole(t *testing.T) {
	r := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: `import {inputText, edits} from "./edit"; globalThis.run = (text) => { const c = JSON.parse(text); return JSON.stringify({text: inputText(c), edits: edits(c)}); }`, ResolveDir: "../src"},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2017, Platform: api.PlatformNeutral,
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	vm := goja.New()
	if _, err := vm.RunString(newer + string(r.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	var run func(string) string
	if err := vm.ExportTo(vm.Get("run"), &run); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ call, want string }{
		{`{"toolInput":"{\"command\":\"ls \\u003ca\\u003e\",\"cwd\":\"/\",\"n\":[1]}"}`, `{"text":"ls <a>\ncwd: /\nn: [1]","edits":[]}`},
		{`{"toolInput":"{ \"command\": \"a\",\n \"command\": \"b\"}"}`, `{"text":"{ \"command\": \"a\",\n \"command\": \"b\"}\n\n{\n  \"command\": \"b\"\n}","edits":[]}`},
		{`{"toolInput":"{\"a\":\"\\\\u0041\"}"}`, `{"text":"a: \\u0041","edits":[]}`},
		{`{"toolInput":"not JSON"}`, `{"text":"not JSON","edits":[]}`},
		{`{"toolInput":{"uri":"x"}}`, `{"edits":[]}`}, // is not there: it can't be allowed
		{`{"edits":{"items":[{"after":{"uri":"a"}}]}}`, `{"text":"","edits":[{"path":"a","lines":["what changes in it is not in the message"],"partial":true}]}`},
	} {
		if got := run(c.call); got != c.want {
			t.Errorf("%s is shown as %s, want %s", c.call, got, c.want)
		}
	}
}
