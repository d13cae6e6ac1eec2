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
	Key    string // tells it from the others; "" for a heading, which is never chosen
	Filter string // what the filter looks into, what names the row first
	Cells  []Cell // one for each column
	Facts  []string
}

// Cell is a text in a row. The zero Style is its column's.
type Cell struct {
	Text  string
	Style look.Style
}

// Column is a column of a list. Columns get room from left to right; what has none
// is left out.
type Column struct {
	Most  int  // its width at most, in cells; 0 for any
	Least int  // what it may be cut to for want of room; 0 for nothing
	Fills bool // it takes what the others leave, Least at least; one does
	Right bool // its texts stand at its right end
	Front bool // its texts are cut at the front
	Muted bool
}

// Action is something that a list does besides what Enter does: with Alt and its
// letter, or with Tab and then the letter. A letter alone always goes to the
// filter.
type Action struct {
	Letter, Label string // a letter, or "enter", which takes Alt
	// Do does it with the chosen row's key; Close says that this ends the list.
	Do    func(key string)
	Close bool
	// NoRow is for actions that need no row.
	NoRow bool
	// For says which rows it is for, nil for all.
	For func(key string) bool
}

// Source is what a list shows and does.
type Source struct {
	Title   string
	None    string // said when there is no row at all, "" for what is said when none matches
	Width   int    // of the list at most, in cells
	Strip   int    // the least width of a row where they stand beside each other, 0 where not
	Columns []Column
	Rows    func() []Row
	Current string // the key of the row to begin with; "" for the first one

	// Enter is what Enter does with the chosen row, nil for nothing; it reports
	// whether the list is done. EnterKeys says so in the footer.
	Enter     func(key string) bool
	EnterKeys string
	Actions   []Action
	// Moved, if not nil, is called with each row that the choice comes to.
	Moved func(key string)
	// Preview, if not nil, draws more of the chosen row beside or below the list.
	Preview func(c *paint.Canvas, r paint.Rect, key string, l look.Look)
	// ClickEnters says that the first click on a row enters it, not the second.
	ClickEnters bool
	// Words says that keys are words that can be typed, with others behind them; Tab
	// completes one.
	Words bool
}

// List is an overlay with rows to choose from and a filter.
type List struct {
	Source

	query  editor.Text
	at     string // the key of the chosen row; "" for none
	chosen int    // its index in shown
	top    int    // index in shown of the first row on the screen
	shown  []Row
	total  int        // how many rows there are without the filter
	inside paint.Rect // of the rows, as last drawn
	strip  int        // width of each of them
	menu   bool       // the actions are shown, and letters act
}

// NewChoice gives a list of names, one of which is chosen. Keys are their indices.
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

// Index is the index that a key of a choice stands for.
func Index(key string) int {
	n, _ := strconv.Atoi(key) // it was made from one
	return n
}

// listMoves are the keys that move the choice, and by how many rows.
var listMoves = map[string]int{
	"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20,
}

// match brings the rows up to date; the choice stays on its row, or in its place
// when that has gone.
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

// move moves the choice by n rows, past headings.
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

// key is the chosen row's, "" when there is none.
func (o *List) key() string {
	if o.chosen >= len(o.shown) {
		return ""
	}
	return o.shown[o.chosen].Key
}

// Chosen is the key of the row chosen now, "" for none.
func (o *List) Chosen() string {
	o.match()
	return o.key()
}

// Typed is what the rows are filtered by.
func (o *List) Typed() string { return o.query.String() }

// edited follows a change of the query: the best match is chosen. Without a query
// the choice stays, or goes back to the current row when there was none.
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

// Complete makes the query a word with a blank behind it.
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

// offered are the actions that there are for the chosen row.
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

// Click implements Clicker: it chooses a row, and enters the chosen one.
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

// How well a word of a query fits a text, the least well first.
const (
	fitsNot       = iota
	fitsScattered // its letters occur in order, others between them
	fitsWithin    // it is part of a word
	fitsPrefix    // a word begins with it
	fitsWord      // it is a word
)

// fit says how well text fits a word of a query, both in lower case, and whether at
// its very start.
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

// matching gives the indices of the n rows whose text fits all words of the query,
// in either case. A row is as good as the word that fits it least: whole words
// come before beginnings of words, those before parts of words; letters that are
// merely scattered over the text count when nothing fits better. Of rows that are
// as good, those come first that begin with a word of the query; the rest stay in
// order.
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
