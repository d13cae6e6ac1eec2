package endpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/cli"
	"tandemux/internal/hosts"
	"tandemux/internal/local"
)

// LastPart is the short form of a terminal's URI: what `tandemux ls` prints.
func LastPart(uri ahp.URI) string {
	short := uri[strings.LastIndexAny(uri, "/:")+1:]
	if host := hosted.Host(uri); host != "" {
		return host + ":" + short
	}
	return short
}

// NameOf is the name that somebody gave a terminal, "" for none.
func NameOf(t ahp.TerminalInfo) string {
	if t.Meta == nil {
		return ""
	}
	return t.Meta.Name
}

// TitleOf is what a terminal is called without regard to its name.
func TitleOf(t ahp.TerminalInfo) string {
	if NameOf(t) == "" {
		return t.Title
	}
	return t.Meta.Title
}

// Resolve finds the terminal that an id means: the URI, its last part, its name,
// or a unique prefix of the last part, in this order. A title is none of these:
// programs set it.
func Resolve(terminals []ahp.TerminalInfo, id string) (ahp.TerminalInfo, error) {
	if id == "" {
		return ahp.TerminalInfo{}, cli.Usagef("a terminal's id is empty; `tandemux ls` lists them")
	}
	found := matching(
		terminals,
		func(t ahp.TerminalInfo) bool { return t.Resource == id },
		func(t ahp.TerminalInfo) bool { return LastPart(t.Resource) == id },
		func(t ahp.TerminalInfo) bool { return NameOf(t) == id },
		func(t ahp.TerminalInfo) bool { return strings.HasPrefix(LastPart(t.Resource), id) },
	)
	switch len(found) {
	case 0:
	case 1:
		return found[0], nil
	default:
		return ahp.TerminalInfo{}, fmt.Errorf("%q could be any of %s; give more of the id", id, shortIDs(found))
	}
	for _, t := range terminals {
		if TitleOf(t) == id {
			short := LastPart(t.Resource)
			return ahp.TerminalInfo{}, fmt.Errorf("%q is the title of %s, and a title is no address, as programs set it: use the id %s, or give the terminal a name with `tandemux rename %s NAME`", cli.Short(id), short, short, short)
		}
	}
	if name, _, may := hosts.Cut(id); may {
		return ahp.TerminalInfo{}, ahp.NotFound("no terminal matches %q, and no host is called %s; `tandemux ls` lists terminals, `tandemux hosts ls` hosts", id, name)
	}
	return ahp.TerminalInfo{}, ahp.NotFound("no terminal matches %q; `tandemux ls` lists them", id)
}

// matching are those that the first rule fits that fits any.
func matching[T any](all []T, rules ...func(T) bool) (found []T) {
	for _, rule := range rules {
		for _, one := range all {
			if rule(one) {
				found = append(found, one)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

func shortIDs(terminals []ahp.TerminalInfo) string {
	const most = 5
	var ids []string
	for _, t := range terminals[:min(len(terminals), most)] {
		ids = append(ids, LastPart(t.Resource))
	}
	slices.Sort(ids)
	if len(terminals) > most {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}

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
