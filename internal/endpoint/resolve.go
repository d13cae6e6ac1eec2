package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/cli"
	"tandemux/internal/hosts"
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
