package main

import (
	"fmt"
	"slices"
	"strings"

	"cotty/ahp"
)

// lastPart is the short form of a terminal's URI: what `cotty ls` prints.
func lastPart(uri ahp.URI) string {
	return uri[strings.LastIndexAny(uri, "/:")+1:]
}

// resolve finds the terminal that an id means: the URI, its last part, a
// unique prefix of that, or a title, in this order.
func resolve(terminals []ahp.TerminalInfo, id string) (ahp.TerminalInfo, error) {
	if id == "" {
		return ahp.TerminalInfo{}, usagef("a terminal's id is empty; `cotty ls` lists them")
	}
	rules := []func(ahp.TerminalInfo) bool{
		func(t ahp.TerminalInfo) bool { return t.Resource == id },
		func(t ahp.TerminalInfo) bool { return lastPart(t.Resource) == id },
		func(t ahp.TerminalInfo) bool { return strings.HasPrefix(lastPart(t.Resource), id) },
		func(t ahp.TerminalInfo) bool { return t.Title == id },
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
	return ahp.TerminalInfo{}, fmt.Errorf("no terminal matches %q; `cotty ls` lists them", id)
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
