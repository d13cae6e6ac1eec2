package main

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/cli"
)

// lastPart is the short form of a terminal's URI: what `tandemux ls` prints.
func lastPart(uri ahp.URI) string {
	return uri[strings.LastIndexAny(uri, "/:")+1:]
}

// nameOf is the name that somebody gave a terminal, "" for none.
func nameOf(t ahp.TerminalInfo) string {
	if t.Meta == nil {
		return ""
	}
	return t.Meta.Name
}

// titleOf is what a terminal is called without regard to its name.
func titleOf(t ahp.TerminalInfo) string {
	if nameOf(t) == "" {
		return t.Title
	}
	return t.Meta.Title
}

// resolve finds the terminal that an id means: the URI, its last part, its name,
// or a unique prefix of the last part, in this order. A title is none of these:
// programs set it.
func resolve(terminals []ahp.TerminalInfo, id string) (ahp.TerminalInfo, error) {
	if id == "" {
		return ahp.TerminalInfo{}, cli.Usagef("a terminal's id is empty; `tandemux ls` lists them")
	}
	rules := []func(ahp.TerminalInfo) bool{
		func(t ahp.TerminalInfo) bool { return t.Resource == id },
		func(t ahp.TerminalInfo) bool { return lastPart(t.Resource) == id },
		func(t ahp.TerminalInfo) bool { return nameOf(t) == id },
		func(t ahp.TerminalInfo) bool { return strings.HasPrefix(lastPart(t.Resource), id) },
	}
	for _, rule := range rules {
		var found []ahp.TerminalInfo
		for _, t := range terminals {
			if rule(t) {
				found = append(found, t)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return ahp.TerminalInfo{}, fmt.Errorf("%q could be any of %s; give more of the id", id, shortIDs(found))
		}
	}
	for _, t := range terminals {
		if titleOf(t) == id {
			short := lastPart(t.Resource)
			return ahp.TerminalInfo{}, fmt.Errorf("%q is the title of %s, and a title is no address, as programs set it: use the id %s, or give the terminal a name with `tandemux rename %s NAME`", cli.Short(id), short, short, short)
		}
	}
	return ahp.TerminalInfo{}, fmt.Errorf("no terminal matches %q; `tandemux ls` lists them", id)
}

func shortIDs(terminals []ahp.TerminalInfo) string {
	const most = 5
	var ids []string
	for _, t := range terminals[:min(len(terminals), most)] {
		ids = append(ids, lastPart(t.Resource))
	}
	slices.Sort(ids)
	if len(terminals) > most {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}
