package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// TestNames: the page names what other hosts have as package ahp/hosted does.
func TestNames(t *testing.T) {
	r := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{Contents: `import {split, at, inward, outward} from "./names";
			globalThis.split = (uri) => split(uri).join(" ");
			globalThis.at = at;
			globalThis.into = (m) => JSON.stringify(inward("build", JSON.parse(m), false));
			globalThis.out = (m) => JSON.stringify(outward("build", JSON.parse(m)));`, ResolveDir: "../src"},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2017, Platform: api.PlatformNeutral,
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	vm := goja.New()
	if _, err := vm.RunString(newer + string(r.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	var f struct {
		Split, Into, Out func(string) string
		At               func(host, there string) string
	}
	for name, to := range map[string]any{"split": &f.Split, "into": &f.Into, "out": &f.Out, "at": &f.At} {
		if err := vm.ExportTo(vm.Get(name), to); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../ahp/hosted/testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Split []struct{ URI, Host, There string }
		In    []struct{ Name, Msg, Want string }
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases.Split) == 0 || len(cases.In) == 0 {
		t.Fatalf("the cases: %v", err)
	}
	for _, c := range cases.Split {
		if got := f.Split(c.URI); got != c.Host+" "+c.There {
			t.Errorf("split(%q) is %q, not %q, %q", c.URI, got, c.Host, c.There)
		}
		if back := f.At(c.Host, c.There); back != c.URI {
			t.Errorf("at(%q, %q) is %q, not %q", c.Host, c.There, back, c.URI)
		}
	}
	for _, c := range cases.In {
		if !json.Valid([]byte(c.Msg)) || strings.Contains(c.Msg, "clientId") {
			continue // the page reads JSON alone, and tells its clients apart by the connection
		}
		got := f.Into(c.Msg)
		if got != c.Want {
			t.Errorf("%s: %s\n became %s\n not    %s", c.Name, c.Msg, got, c.Want)
		}
		if back := f.Out(got); back != c.Msg {
			t.Errorf("%s: going out gives %s\n not %s", c.Name, back, c.Msg)
		}
	}
	// The root channel of a host has its name, too.
	if got := f.Out(`{"channel":"ahp-root://build","text":"ahp-root://build"}`); got != `{"channel":"ahp-root://","text":"ahp-root://build"}` {
		t.Errorf("a host's root goes out as %s", got)
	}
}
