package keymap

import (
	"strings"
	"testing"
)

// The keys with alt work beside every preset's and the user's own win.
func TestAltKeys(t *testing.T) {
	altKeys := column(Normal, afterPrefix, 1+len(presets), "")
	for _, name := range Presets() {
		table := presetOf(t, name)
		with := table.WithAlt()
		consistent(t, with)
		for _, r := range altKeys {
			keys, does := r.Chord.String(), strings.Join(append([]string{r.Command}, r.Args...), " ")
			if got := bound(t, with, Normal, keys); got != does {
				t.Errorf("%s: %s does %q, want %q", name, keys, got, does)
			}
			if got := bound(t, table, Normal, keys); got != "" {
				t.Errorf("%s: %s does %q without being asked for", name, keys, got)
			}
			if !strings.HasPrefix(keys, "alt+") {
				t.Errorf("%s has no alt", keys)
			}
		}
		if len(with.rows) != len(table.rows)+len(altKeys) {
			t.Errorf("%s: %d rows of %d and %d", name, len(with.rows), len(table.rows), len(altKeys))
		}
		own, problems := with.Override(Normal, map[string]string{"alt+z": "detach"}, nil)
		if got := bound(t, own, Normal, "alt+z"); got != "detach" || len(problems) > 0 {
			t.Errorf("%s: the user's alt+z does %q, %v", name, got, problems)
		}
	}
}
