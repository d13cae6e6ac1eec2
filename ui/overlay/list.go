package overlay

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Row is a row of a list.
type Row struct {
	Key    string // identifies it; "" for a heading, which can't be chosen
	Filter string // the text for the filter, which begins with the row's name
	Cells  []Cell // one for each column
	Facts  []string
}

// Cell is a text in a row. The zero Style means its column's.
type Cell struct {
	Text  string
	Style look.Style
}

// Column is a column of a list. Columns get room from left to right; those without room are left
// out.
type Column struct {
	Most  int  // its largest width in cells; 0 for any
	Least int  // the width that it may be cut to; 0 means that it is not cut
	Fills bool // it gets the rest of the width, at least Least; true for one column
	Right bool // align right
	Front bool // cut at the front
	Muted bool
}

// Action is something else that a list does than Enter: with Alt and the action's letter, or with
// Tab and then the letter. A letter without these goes to the filter.
type Action struct {
	Letter, Label string // Letter is a letter, or "enter" for alt+enter
	// Do is called with the chosen row's key. If Close is set the list closes then.
	Do    func(key string)
	Close bool
	// NoRow says that the action needs no row.
	NoRow bool
	// For reports whether a row has the action; nil for all rows.
	For func(key string) bool
}

// Source is what a list shows and does.
type Source struct {
	Title   string
	None    string // text if there is no row; if it is "" the text is as without a match
	Width   int    // its largest width, in cells
	Strip   int    // smallest width of rows in several columns beside each other; 0 for one column
	Columns []Column
	Rows    func() []Row
	Current string // key of the row that is chosen at first; "" for the first row

	// Enter handles Enter on the chosen row and reports whether the list closes; nil does
	// nothing. EnterKeys describes it in the footer.
	Enter     func(key string) bool
	EnterKeys string
	Actions   []Action
	// Moved, if not nil, is called whenever another row is chosen.
	Moved func(key string)
	// Preview, if not nil, draws more about the chosen row beside or below the list.
	Preview func(c *paint.Canvas, r paint.Rect, key string, l look.Look)
	// ClickEnters says that the first click on a row enters it instead of choosing it.
	ClickEnters bool
	// Words says that the keys are words to type, with other words after them. Tab completes
	// them.
	Words bool
}

// List is an overlay with rows to choose from and a filter.
type List struct {
	Source

	query  editor.Text
	at     string // key of the chosen row; "" for none
	chosen int    // its index in shown
	top    int    // index in shown of the first row on the screen
	shown  []Row
	total  int        // number of rows without the filter
	inside paint.Rect // of the rows, as last drawn
	strip  int        // width of a row
	menu   bool       // the actions show, and letters run them
}

// NewChoice makes a list of names with one chosen. The keys are the indexes.
func NewChoice(title string, names []string, chosen int, accept func(n int)) *List {
	rows := make([]Row, len(names))
	w := max(40, paint.Width(title)+6)
	for i, name := range names {
		rows[i] = Row{Key: strconv.Itoa(i), Filter: name, Cells: []Cell{{Text: name}}}
		w = max(w, paint.Width(name)+4)
	}
	return &List{Source: Source{
		Title: title, Width: min(w, 90), Columns: []Column{{Fills: true}}, Rows: func() []Row { return rows },
		Current: strconv.Itoa(chosen), EnterKeys: "enter use", ClickEnters: true,
		Enter: func(key string) bool { accept(Index(key)); return true },
	}}
}

// Index returns the index that a key of a choice stands for.
func Index(key string) int {
	n, _ := strconv.Atoi(key) // the key is a number
	return n
}

// listMoves is the keys that move the choice, and by how many rows.
var listMoves = map[string]int{
	"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20,
}

// match updates the rows. The choice stays on its row, or at its index if the row is gone.
func (o *List) match() {
	if o.shown == nil {
		o.at, o.query = o.Current, editor.Line("")
	}
	all := o.Rows()
	o.total = len(all)
	at := matching(len(all), o.Typed(), func(i int) string { return all[i].Filter })
	if words := strings.Fields(o.Typed()); o.Words && len(words) > 0 {
		if i := slices.IndexFunc(all, func(r Row) bool { return r.Key == words[0] }); i >= 0 {
			at = []int{i}
		}
	}
	o.shown = make([]Row, len(at))
	for i, n := range at {
		if o.shown[i] = all[n]; o.at != "" && all[n].Key == o.at {
			o.chosen = i
		}
	}
	o.move(0)
}

// move moves the choice by n rows and past headings.
func (o *List) move(n int) {
	o.chosen = min(max(o.chosen+n, 0), max(len(o.shown)-1, 0))
	for _, step := range [...]int{max(min(n, 1), -1), 1, -1} {
		i := o.chosen
		for step != 0 && i >= 0 && i < len(o.shown) && o.shown[i].Key == "" {
			i += step
		}
		if i >= 0 && i < len(o.shown) {
			o.chosen = i
		}
	}
	before := o.at
	if key := o.key(); key != "" {
		o.at = key
	}
	if o.at != before && o.Moved != nil {
		o.Moved(o.at)
	}
}

// key is the chosen row's key, "" for none.
func (o *List) key() string {
	if o.chosen >= len(o.shown) {
		return ""
	}
	return o.shown[o.chosen].Key
}

// Chosen returns the key of the chosen row, "" for none.
func (o *List) Chosen() string {
	o.match()
	return o.key()
}

// Typed returns the text of the filter.
func (o *List) Typed() string { return o.query.String() }

// edited handles a change of the filter. It chooses the best match. Without a filter the choice
// stays, or is the current row if there was none.
func (o *List) edited() {
	switch {
	case o.Typed() != "":
		o.Home()
	case o.at == "":
		o.at = o.Current
	}
	o.match()
}

func (o *List) Home() { o.at, o.chosen = "", 0 }

// Complete sets the filter to a word and a blank.
func (o *List) Complete(word string) {
	o.query = editor.Line(word + " ")
	o.edited()
}

func (o *List) Key(k tea.Key) bool {
	o.match()
	s := editor.Stroke(k)
	if n, ok := listMoves[s]; ok {
		o.move(n)
		return false
	}
	switch s {
	case "enter":
		return o.enter()
	case "esc", "ctrl+c", "ctrl+g":
		was := o.menu
		o.menu = false
		return !was
	case "tab":
		if o.Words && o.key() != "" {
			o.Complete(o.key())
		}
		o.menu = !o.menu && len(o.offered()) > 0
		return false
	}
	for _, a := range o.offered() {
		if s == "alt+"+a.Letter || o.menu && s == a.Letter {
			o.menu = false
			if key := o.key(); key != "" || a.NoRow {
				a.Do(key)
				return a.Close
			}
			return false
		}
	}
	if !o.menu && o.query.Key(k) {
		o.edited()
	}
	return false
}

// offered returns the actions for the chosen row.
func (o *List) offered() []Action {
	return slices.DeleteFunc(slices.Clone(o.Actions), func(a Action) bool { return a.For != nil && !a.For(o.key()) })
}

func (o *List) enter() bool {
	key := o.key()
	return (key != "" || o.total == 0) && o.Enter != nil && o.Enter(key)
}

func (o *List) Paste(text string) {
	o.menu = false
	o.match()
	o.query.Insert(text)
	o.edited()
}

// Click implements Clicker: it chooses a row, or enters it if it was chosen.
func (o *List) Click(x, y int) bool {
	o.menu = false
	if !o.inside.Contains(x, y) {
		return false
	}
	i := o.top + (x-o.inside.X)/o.strip*o.inside.H + y - o.inside.Y
	if i >= len(o.shown) || o.shown[i].Key == "" {
		return false
	}
	again := i == o.chosen || o.ClickEnters
	o.move(i - o.chosen)
	return again && o.enter()
}

func (o *List) Wheel(n int) { o.move(n) }

// How well a word of the filter matches a text; later is better.
const (
	fitsNot       = iota
	fitsScattered // its letters occur in order, with others between them
	fitsWithin    // part of a word
	fitsPrefix    // the beginning of a word
	fitsWord      // a word
)

// fit returns how well text matches a word of the filter, both in lower case, and whether at the
// start of text.
func fit(text, word string) (how int, start bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			break
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		is := fitsWithin
		if !isWord(before) {
			if is = fitsPrefix; !isWord(after) {
				is = fitsWord
			}
		}
		if is > how {
			how, start = is, i == 0
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
	if how != fitsNot {
		return how, start
	}
	rest := text
	for _, r := range word {
		i := strings.IndexRune(rest, r)
		if i < 0 {
			return fitsNot, false
		}
		_, size := utf8.DecodeRuneInString(rest[i:])
		rest = rest[i+size:]
	}
	return fitsScattered, false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// matching returns the indexes of the rows, of n, whose text matches all words of the query,
// ignoring case. Rows are ordered by the word that matches worst: whole words come first, then
// beginnings of words, then parts. Scattered letters count only if nothing matches better. Among
// equal rows those come first that begin with a word of the query; the others stay in order.
func matching(n int, query string, text func(i int) string) []int {
	type match struct{ row, how, starts int }
	var found []match
	words := strings.Fields(strings.ToLower(query))
	best := fitsNot
	for i := range n {
		m := match{row: i, how: fitsWord}
		t := ""
		if len(words) > 0 {
			t = strings.ToLower(text(i))
		}
		for _, w := range words {
			how, start := fit(t, w)
			if m.how = min(m.how, how); start {
				m.starts++
			}
		}
		if m.how != fitsNot {
			found = append(found, m)
			best = max(best, m.how)
		}
	}
	if best > fitsScattered {
		found = slices.DeleteFunc(found, func(m match) bool { return m.how == fitsScattered })
	}
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.how, a.how), cmp.Compare(b.starts, a.starts))
	})
	rows := make([]int, len(found))
	for i, m := range found {
		rows[i] = m.row
	}
	return rows
}
