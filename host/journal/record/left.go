package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/journal"
)

// Found is a journal that an earlier host left with the keeper.
type Found struct {
	Journal  *journal.Journal
	Contents *Contents
	Spare    bool
}

// Left is all that an earlier host left.
type Left struct {
	Terminals map[string]*Found // by the child's id
	Channels  []*Found          // that are no terminals: the root channel, then the oldest
	Spares    []*Found
	Stale     []*Found // nobody needs them
}

// Divide says what each journal is; lives reports whether the keeper has a child of
// an id.
func Divide(all []*Found, lives func(id string) bool) Left {
	l := Left{Terminals: map[string]*Found{}}
	channels := map[ahp.URI]*Found{}
	for _, f := range all {
		id, _, _ := strings.Cut(f.Journal.Name, " ")
		c := f.Contents
		var stale *Found
		switch {
		case lives(id):
			l.Terminals[id], stale = newest(l.Terminals[id], f)
		case f.Spare:
			l.Spares = append(l.Spares, f)
		case c.State == nil, c.Removed, c.Process != "":
			stale = f
		default:
			channels[c.Channel], stale = newest(channels[c.Channel], f)
		}
		if stale != nil {
			l.Stale = append(l.Stale, stale)
		}
	}
	l.Channels = slices.SortedFunc(maps.Values(channels), func(a, b *Found) int {
		if root := a.Contents.Channel == ahp.RootURI; root != (b.Contents.Channel == ahp.RootURI) {
			return map[bool]int{true: -1, false: 1}[root]
		}
		return cmp.Compare(a.Contents.Made, b.Contents.Made)
	})
	return l
}

// newest gives the journal that replaced the other, of two of one channel, and what
// is of no more use: not the one that the terminal's pty is read into. a may be nil.
func newest(a, b *Found) (f, stale *Found) {
	switch {
	case a == nil:
		return b, nil
	case b.Contents.State == nil || a.Contents.State != nil && a.Contents.Made > b.Contents.Made:
		a, b = b, a
	}
	if b.Journal.LandIn(a.Journal) {
		return b, nil
	}
	return b, a
}
