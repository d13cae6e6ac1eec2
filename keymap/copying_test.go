package keymap

import (
	"slices"
	"testing"
)

// TestModeKeys: each set takes the other one's place in every preset, and the
// user's own keys stay.
func TestModeKeys(t *testing.T) {
	for _, name := range Presets() {
		vi, _ := Preset(name)
		if same, ok := vi.WithModeKeys("vi"); !ok || len(same.Bindings()) != len(vi.Bindings()) {
			t.Errorf("%s: vi is not what it was", name)
		}
		if _, ok := vi.WithModeKeys("ed"); ok {
			t.Errorf("%s: there are keys of ed", name)
		}
		user, problems := vi.Override(Copy, map[string]string{"ctrl+j": "copy-yank", "x": "zoom"}, nil)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		emacs, ok := user.WithModeKeys("emacs")
		if !ok {
			t.Fatalf("%s: there are no keys of emacs", name)
		}
		for keys, want := range map[string]string{"ctrl+e": "copy-line-end", "alt+w": "copy-yank", "x": "zoom", "ctrl+j": "copy-yank", "h": "", "prefix d": "detach"} {
			chord, err := parseSource(keys)
			if err != nil {
				t.Fatal(err)
			}
			for i := range chord {
				if chord[i] == prefixKey {
					chord[i] = emacs.Prefix()
				}
			}
			if b, _ := emacs.Lookup(Copy, chord...); b.Command != want {
				t.Errorf("%s: %s is %q, want %q", name, keys, b.Command, want)
			}
		}
		for _, b := range vi.Bindings() {
			if b.Mode == Copy && !slices.ContainsFunc(emacs.Bindings(), func(e Binding) bool { return e.Mode == Copy && e.Command == b.Command }) {
				t.Errorf("%s: emacs has no key for %s", name, b.Command)
			}
		}
	}
}
