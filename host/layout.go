package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// maxLayoutRefs bounds the terminals that a layout names.
const maxLayoutRefs = 1000

// layouts are those that clients show.
type layouts struct {
	most     int
	activity *activity.Activity
	changed  func(tx core.Tx) // told that others show terminals now
	list     []*layout
}

// layout is the body of a layout channel.
type layout struct {
	ch    *core.Channel
	value ahp.LayoutState
}

func (l *layout) Reduce(a ahp.Action)  { l.value = ahp.ReduceLayout(l.value, a) }
func (l *layout) State(tx core.Tx) any { return l.value }
func (l *layout) Settle(tx core.Tx)    {}

// open gives the layout of a URI, made on first use: never written, empty.
// Those who may not write layouts cannot take more than half the places.
func (ls *layouts) open(tx core.Tx, p *auth.Principal, uri ahp.URI) (*core.Channel, error) {
	name, _ := strings.CutPrefix(uri, ahp.LayoutScheme+"/")
	if !isLayoutName(name) {
		return nil, ahp.InvalidParams("channel: %q is not a layout: use %s/NAME with a name of 1 to 64 letters, digits, blanks and punctuation but no slash", uri, ahp.LayoutScheme)
	}
	most := ls.most
	if !p.May(auth.ScopeAdmin) {
		most = (most + 1) / 2
	}
	if len(ls.list) >= most && !ls.drop(tx) {
		return nil, ahp.Errorf(ahp.CodeConflict, "open layout %s: there are %d layouts already, the most this host keeps", uri, len(ls.list))
	}
	l := &layout{value: ahp.LayoutState{Terminals: []ahp.URI{}}}
	l.ch = tx.NewChannel(uri, l)
	ls.list = append(ls.list, l)
	return l.ch, nil
}

// revive makes a layout that an earlier host left.
func (ls *layouts) revive(ch *core.Channel, state json.RawMessage) (core.Body, error) {
	l := &layout{ch: ch}
	if err := ahp.Unmarshal(state, &l.value); err != nil {
		return nil, err
	}
	ls.list = append(ls.list, l)
	return l, nil
}

// drop makes room by forgetting a layout that holds nothing and that
// nobody looks at.
func (ls *layouts) drop(tx core.Tx) bool {
	i := slices.IndexFunc(ls.list, func(l *layout) bool { return l.value.Rev == 0 && len(l.ch.Links()) == 0 })
	if i < 0 {
		return false
	}
	tx.RemoveChannel(ls.list[i].ch)
	ls.list = slices.Delete(ls.list, i, i+1)
	return true
}

func isLayoutName(s string) bool {
	return s != "" && len(s) <= 64 && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) })
}

// change replaces a layout's document; of two writers that saw the same
// revision the second is refused and tries again.
func (ls *layouts) change(tx core.Tx, d *requests.Dispatch) string {
	return ls.replace(tx, d.Channel.Body.(*layout), d.Action.(ahp.LayoutChanged), d.By)
}

func (ls *layouts) replace(tx core.Tx, l *layout, a ahp.LayoutChanged, by *core.By) string {
	switch {
	case a.Rev != l.value.Rev+1:
		return fmt.Sprintf("the layout is at revision %d, so the next is %d, not %d: apply the change to the newest one", l.value.Rev, l.value.Rev+1, a.Rev)
	case len(a.Doc) > ahp.MaxLayoutBytes:
		return fmt.Sprintf("the layout is larger than %d bytes", ahp.MaxLayoutBytes)
	case len(a.Doc) > 0 && !bytes.HasPrefix(bytes.TrimSpace(a.Doc), []byte("{")):
		return "the layout is not a JSON object"
	case len(a.Terminals) > maxLayoutRefs:
		return fmt.Sprintf("the layout names more than %d terminals", maxLayoutRefs)
	case slices.ContainsFunc(a.Terminals, func(u ahp.URI) bool { return len(u) > params.MaxURI }):
		return fmt.Sprintf("the layout names a terminal by more than %d bytes", params.MaxURI)
	}
	tx.Apply(l.ch, a, by)
	ls.changed(tx)
	return ""
}

// seenFirst are all layouts, those that somebody looks at first.
func (ls *layouts) seenFirst() []*layout {
	all := slices.Clone(ls.list)
	slices.SortStableFunc(all, func(a, b *layout) int { return min(len(b.ch.Links()), 1) - min(len(a.ch.Links()), 1) })
	return all
}

// recount counts the clients that show a layout: those that follow it and the
// activity, as an interface does and a command that edits it does not.
func (ls *layouts) recount(tx core.Tx, ch *core.Channel) {
	switch ch.Body.(type) {
	case *activity.Activity:
		for _, l := range ls.list {
			ls.recount(tx, l.ch)
		}
	case *layout:
		n := 0
		for range showing(ch.Body.(*layout)) {
			n++
		}
		ls.activity.Watched(tx, ch.URI, n)
	}
}

// showing are the connections of those who show a layout, by the same rule.
func showing(l *layout) iter.Seq[*core.Link] {
	return func(yield func(*core.Link) bool) {
		for _, link := range l.ch.Links() {
			if link.Watches(ahp.ActivityURI) && !yield(link) {
				return
			}
		}
	}
}

// shownIn maps terminals to the layouts that show them. counts has how much each layout
// shows; it is nil where none shows anything.
func (ls *layouts) shownIn(tx core.Tx) (shown map[ahp.URI][]ahp.URI, counts *ahp.RootMeta) {
	shown = map[ahp.URI][]ahp.URI{}
	for _, l := range ls.list {
		for _, t := range l.value.Terminals {
			if !slices.Contains(shown[t], l.ch.URI) {
				shown[t] = append(shown[t], l.ch.URI)
				if counts == nil {
					counts = &ahp.RootMeta{Layouts: map[ahp.URI]int{}}
				}
				counts.Layouts[l.ch.URI]++
			}
		}
	}
	for _, uris := range shown {
		slices.Sort(uris)
	}
	return shown, counts
}
