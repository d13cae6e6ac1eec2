package panes

import (
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/words"
)

// tree is the list of layouts: layouts, their tabs, and the panes of tabs with several.
type tree struct {
	ps     *Panes
	others map[string]layout.Layout // the layouts that are not on the screen, as they are read
	at     map[string]spot          // by the rows' keys
}

// spot is a layout, or a pane in it.
type spot struct {
	layout string
	pane   layout.PaneID // "" for the whole layout
	shows  ahp.URI
}

// maxRead is how many layouts are read for the list.
const maxRead = 64

// openLayouts lists the layouts, or switches to the named one.
func openLayouts(ps *Panes, args []string) {
	if len(args) > 0 {
		ps.goLayout(args[0])
		return
	}
	t := &tree{ps: ps, others: map[string]layout.Layout{}, at: map[string]spot{}}
	names, _ := ps.layoutNames()
	for _, name := range names[:min(len(names), maxRead)] {
		if name == ps.Name {
			continue
		}
		ps.readLayout(name, func(st ahp.LayoutState) {
			if l, err := layout.Decode(st.Doc); err == nil {
				t.others[name] = l
				ps.loop.Dirty |= loop.Panes
			}
		})
	}
	whole := func(key string) bool { return t.at[key].pane == "" }
	list := &overlay.List{Source: overlay.Source{
		Title: "Layouts", Width: 170, Current: ps.Name, Columns: []overlay.Column{{Fills: true, Least: 16}, {Right: true, Muted: true, Least: 16}},
		Rows: t.rows, EnterKeys: "enter go",
		Enter: func(key string) bool { ps.goSpot(t.at[key]); return true },
		Actions: []overlay.Action{
			{Letter: "n", Label: "new", NoRow: true, Do: func(string) { ps.loop.Open(overlay.NewPrompt("new layout", "", ps.goLayout)) }},
			{Letter: "r", Label: "rename", Close: true, For: whole, Do: func(name string) {
				ps.loop.Ask(nil, "rename layout", name, func(to string) { ps.nameLayout(name, to) })
			}},
			{Letter: "x", Label: "delete", Close: true, For: whole, Do: ps.deleteLayout},
		},
	}}
	list.Preview = ps.do.Preview(list, func(key string) ahp.URI { return t.at[key].shows })
	ps.loop.Open(list)
}

// goSpot switches to a layout, or focuses a pane in it.
func (ps *Panes) goSpot(to spot) {
	if to.layout != ps.Name {
		ps.layouts.at = to.pane
		ps.goLayout(to.layout)
		return
	}
	ps.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(to.pane) })
}

func (t *tree) rows() (rows []overlay.Row) {
	clear(t.at)
	names, terminals := t.ps.layoutNames()
	for _, name := range names {
		facts := words.Plural(terminals[name], "terminal")
		l := t.others[name]
		if name == t.ps.Name {
			facts += ", here"
			l = t.ps.Doc.Shown
		}
		at := spot{layout: name}
		if tab, ok := l.Tab(); ok {
			at.shows = tab.Focused().Terminal
		}
		t.at[name] = at
		rows = append(rows, overlay.Row{Key: name, Filter: name, Cells: []overlay.Cell{{Text: name}, {Text: facts}}})
		for i, tab := range l.Tabs {
			rows = append(rows, t.tab(name, i, tab)...)
		}
	}
	return rows
}

func (t *tree) tab(name string, i int, tab layout.Tab) []overlay.Row {
	title := t.ps.TabName(tab)
	row := func(id, text, what string, leaf *layout.Node) overlay.Row {
		key := name + "/" + id
		t.at[key] = spot{name, leaf.Pane, leaf.Terminal}
		return overlay.Row{Key: key, Filter: strings.TrimSpace(text) + " " + what + " " + name, Facts: []string{fmt.Sprintf("layout %s, tab %d", name, i+1)}, Cells: []overlay.Cell{{Text: text}, {Text: what}}}
	}
	panes := tab.Panes()
	text := fmt.Sprintf("  %d %s", i+1, title)
	if len(panes) == 1 {
		return []overlay.Row{row(tab.ID, text, t.where(panes[0].Terminal), panes[0])}
	}
	rows := []overlay.Row{row(tab.ID, text, words.Plural(len(panes), "pane"), tab.Focused())}
	for _, leaf := range panes {
		rows = append(rows, row(string(leaf.Pane), "      "+t.ps.NameOf(leaf.Name, leaf.Terminal), t.where(leaf.Terminal), leaf))
	}
	return rows
}

// where is a terminal's working directory, "" if unknown.
func (t *tree) where(uri ahp.URI) string {
	if term := t.ps.Terms.Get(uri); term != nil {
		return words.Clean(words.Shorten(fileuri.Path(term.Cwd), t.ps.loop.Home))
	}
	return ""
}
