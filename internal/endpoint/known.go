package endpoint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/internal/hosts"
	"tandemux/internal/local"
)

// Known are the hosts that this user may mean: those that have names, the machines that
// ssh's configuration names, and those whose certificates were trusted.
func Known() (all []string) {
	words := func(path string, each func(words []string)) {
		text, _ := os.ReadFile(path) //nolint:errcheck // then there are none
		for line := range strings.Lines(string(text)) {
			if w := strings.Fields(line); len(w) > 1 && !strings.HasPrefix(w[0], "#") {
				each(w)
			}
		}
	}
	home, _ := os.UserHomeDir() //nolint:errcheck // then there is none
	words(filepath.Join(home, ".ssh", "config"), func(w []string) {
		if strings.EqualFold(w[0], "Host") {
			for _, name := range w[1:] {
				if !strings.ContainsAny(name, "*?!") {
					all = append(all, "ssh://"+name)
				}
			}
		}
	})
	words(filepath.Join(local.FindDirs().State, trustName), func(w []string) { all = append(all, "wss://"+w[0]) })
	list, _ := hosts.Read(local.FindDirs().Config) //nolint:errcheck // then there are none
	for _, h := range list {
		all = append(all, h.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
