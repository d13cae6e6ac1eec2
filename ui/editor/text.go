package editor

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// The longest texts, in bytes.
const (
	maxText = 256 << 10
	maxLine = 4 << 10
)

// maxUndo is the largest number of undo steps.
const maxUndo = 100

// Text is a text that is being edited.
type Text struct {
	text []rune
	at   int  // the cursor, in runes
	line bool // it has only one line
	kill string
	undo []undone
	last string // kind of the last edit, so that typing a word is one undo step

	// As last laid out.
	w    int
	rows []row
	top  int // first visible row
	goal int // the column that up and down keep, plus one; 0 for the cursor's
}

type undone struct {
	text []rune
	at   int
}

// row is the part of the text on one line of the screen, in runes.
type row struct{ from, to int }

// Line returns a Text of one line.
func Line(s string) Text {
	t := Text{line: true}
	t.Insert(s)
	t.undo = nil
	return t
}

func (e *Text) String() string { return string(e.text) }

// Empty reports whether the text is empty.
func (e *Text) Empty() bool { return len(e.text) == 0 }

func (e *Text) Before() string { return string(e.text[:e.at]) }

// Set replaces the text and moves the cursor to its end.
func (e *Text) Set(s string) {
	e.save("set")
	e.text = []rune(e.tidy(s))
	e.at, e.goal = len(e.text), 0
}

// Reset empties the text and its undo history.
func (e *Text) Reset() {
	e.Set("")
	e.undo = nil
}

// breaks normalises line ends and tabs.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ", "\ufffd", "")

// Tidy removes what can't be typed from a text.
func Tidy(s string) string { return words.Lines(breaks.Replace(s)) }

func (e *Text) tidy(s string) string {
	if s = Tidy(s); e.line {
		s = strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", " ") // a pasted line has a line end
	}
	return s
}

// save adds an undo step, unless the edit continues the last one.
func (e *Text) save(edit string) {
	if edit != "" && edit == e.last {
		return
	}
	e.last = edit
	e.undo = append(e.undo, undone{append([]rune(nil), e.text...), e.at})
	if len(e.undo) > maxUndo {
		e.undo = e.undo[1:]
	}
}

func (e *Text) Insert(s string) {
	s = e.tidy(s)
	most := maxText
	if e.line {
		most = maxLine
	}
	if len(string(e.text))+len(s) > most {
		return
	}
	kind := "type"
	if s == " " || s == "\n" || len(s) > 4 {
		kind = ""
	}
	e.save(kind)
	add := []rune(s)
	text := append([]rune(nil), e.text[:e.at]...)
	e.text = append(append(text, add...), e.text[e.at:]...)
	e.at += len(add)
	e.goal = 0
}

// cut deletes a part of the text. With keep, yank inserts it again.
func (e *Text) cut(from, to int, keep bool) {
	if from >= to {
		return
	}
	if keep {
		e.save("")
		e.kill = string(e.text[from:to])
	} else {
		e.save("delete")
	}
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at, e.goal = from, 0
}

// Replace replaces a part of the text, given in runes.
func (e *Text) Replace(from, to int, s string) {
	e.save("")
	from, to = min(from, len(e.text)), min(to, len(e.text))
	rest := append([]rune(nil), e.text[to:]...)
	e.text = append(append(e.text[:from:from], []rune(e.tidy(s))...), rest...)
	e.at, e.goal = len(e.text)-len(rest), 0
}

// lineStart and lineEnd return the ends of the cursor's line.
func (e *Text) lineStart() int {
	i := e.at
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *Text) lineEnd() int {
	i := e.at
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

func (e *Text) wordBack() int {
	i := e.at
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}

func (e *Text) wordNext() int {
	i := e.at
	for i < len(e.text) && unicode.IsSpace(e.text[i]) {
		i++
	}
	for i < len(e.text) && !unicode.IsSpace(e.text[i]) {
		i++
	}
	return i
}

// move moves the cursor.
func (e *Text) move(to int) {
	e.at, e.goal, e.last = min(max(to, 0), len(e.text)), 0, ""
}

// back and next return the ends of the clusters beside the cursor, which may consist of several
// runes.
func (e *Text) back() int {
	if e.at == 0 {
		return 0
	}
	from := max(e.at-16, 0)
	last := e.at - 1
	at := from
	for g := emulator.ClustersOf(string(e.text[from:e.at])); g.Next(); {
		last = at
		at += utf8.RuneCountInString(g.Value())
	}
	return last
}

func (e *Text) next() int {
	if e.at == len(e.text) {
		return e.at
	}
	g := emulator.ClustersOf(string(e.text[e.at:min(e.at+16, len(e.text))]))
	g.Next()
	return e.at + max(utf8.RuneCountInString(g.Value()), 1)
}

// edits is the editing keys, as in readline.
var edits = map[string]func(*Text){
	"left": func(e *Text) { e.move(e.back()) }, "ctrl+b": func(e *Text) { e.move(e.back()) },
	"right": func(e *Text) { e.move(e.next()) }, "ctrl+f": func(e *Text) { e.move(e.next()) },
	"home": func(e *Text) { e.move(e.lineStart()) }, "ctrl+a": func(e *Text) { e.move(e.lineStart()) },
	"end": func(e *Text) { e.move(e.lineEnd()) }, "ctrl+e": func(e *Text) { e.move(e.lineEnd()) },
	"alt+b": func(e *Text) { e.move(e.wordBack()) }, "ctrl+left": func(e *Text) { e.move(e.wordBack()) }, "alt+left": func(e *Text) { e.move(e.wordBack()) },
	"alt+f": func(e *Text) { e.move(e.wordNext()) }, "ctrl+right": func(e *Text) { e.move(e.wordNext()) }, "alt+right": func(e *Text) { e.move(e.wordNext()) },
	"alt+<": func(e *Text) { e.move(0) }, "alt+>": func(e *Text) { e.move(len(e.text)) },
	"backspace": func(e *Text) { e.cut(e.back(), e.at, false) }, "ctrl+h": func(e *Text) { e.cut(e.back(), e.at, false) },
	"shift+backspace": func(e *Text) { e.cut(e.back(), e.at, false) },
	"delete":          func(e *Text) { e.cutNext() }, "ctrl+d": func(e *Text) { e.cutNext() },
	"ctrl+u": func(e *Text) { e.cut(e.lineStart(), e.at, true) },
	"ctrl+k": func(e *Text) {
		to := e.lineEnd()
		if to == e.at && to < len(e.text) {
			to++
		}
		e.cut(e.at, to, true)
	},
	"ctrl+w": func(e *Text) { e.cut(e.wordBack(), e.at, true) }, "alt+backspace": func(e *Text) { e.cut(e.wordBack(), e.at, true) },
	"ctrl+backspace": func(e *Text) { e.cut(e.wordBack(), e.at, true) },
	"alt+d": func(e *Text) {
		at, to := e.at, e.wordNext()
		e.cut(at, to, true)
	},
	"shift+enter": func(e *Text) { // only terminals with kitty's keyboard protocol send it
		if !e.line {
			e.Insert("\n")
		}
	},
	"ctrl+y": func(e *Text) { e.Insert(e.kill) },
	"ctrl+_": func(e *Text) { e.unedit() }, "ctrl+/": func(e *Text) { e.unedit() }, "ctrl+z": func(e *Text) { e.unedit() },
}

// cutNext deletes the character at the cursor.
func (e *Text) cutNext() {
	at := e.at
	e.cut(at, e.next(), false)
}

// unedit undoes the last edit.
func (e *Text) unedit() {
	if n := len(e.undo); n > 0 {
		u := e.undo[n-1]
		e.undo, e.last = e.undo[:n-1], ""
		e.text, e.at, e.goal = u.text, u.at, 0
	}
}

// Layout lays the text out in rows of w cells and returns their number.
func (e *Text) Layout(w int) int {
	e.w, e.rows = max(w, 1), e.rows[:0]
	from := 0
	for i := 0; i <= len(e.text); i++ {
		if i < len(e.text) && e.text[i] != '\n' {
			continue
		}
		e.wrap(from, i)
		from = i + 1
	}
	return len(e.rows)
}

// wrap lays out a line in rows, at blanks if possible.
func (e *Text) wrap(from, to int) {
	start, used, blank := from, 0, -1
	for i := from; i < to; {
		n, cells := 1, 1
		if e.text[i] >= utf8.RuneSelf || i+1 < to && e.text[i+1] >= utf8.RuneSelf {
			g := emulator.ClustersOf(string(e.text[i:min(i+16, to)]))
			g.Next()
			n, cells = max(utf8.RuneCountInString(g.Value()), 1), g.Width()
		}
		if used+cells > e.w && i > start {
			cut := i
			if blank > start {
				cut = blank
			}
			e.rows = append(e.rows, row{start, cut})
			start, blank = cut, -1
			used = paint.Width(string(e.text[start:i]))
		}
		if e.text[i] == ' ' {
			blank = i + 1
		}
		used += cells
		i += n
	}
	e.rows = append(e.rows, row{start, to})
}

// place returns the cursor's column and row, as last laid out.
func (e *Text) place() (x, y int) {
	for i, r := range e.rows {
		last := i+1 == len(e.rows) || e.rows[i+1].from > r.to // the line ends here
		if e.at >= r.from && (e.at < r.to || e.at == r.to && last) {
			return paint.Width(string(e.text[r.from:e.at])), i
		}
	}
	return 0, max(len(e.rows)-1, 0)
}

// View lays the text out in w cells. It returns at most h rows, with the cursor's among them, and
// the cursor's place in them.
func (e *Text) View(w, h int) (rows []string, x, y int) {
	e.Layout(w)
	x, y = e.place()
	e.top = max(min(max(e.top, y-h+1), y, len(e.rows)-h), 0)
	for _, r := range e.rows[e.top:min(e.top+h, len(e.rows))] {
		rows = append(rows, string(e.text[r.from:r.to]))
	}
	return rows, x, y - e.top
}

// Window returns the part of the text around the cursor that fits on one line of w cells, and the
// cursor's column.
func (e *Text) Window(w int) (text string, x int) {
	flat := strings.ReplaceAll(string(e.text), "\n", " ")
	before := len(string(e.text[:e.at]))
	from := 0
	for g := emulator.ClustersOf(flat[:before]); paint.Width(flat[from:before]) >= w && g.Next(); {
		from += len(g.Value())
	}
	return paint.Cut(flat[from:], w, ""), paint.Width(flat[from:before])
}

// Click moves the cursor to a cell of what View returned last.
func (e *Text) Click(x, y int) {
	if y += e.top; y >= 0 && y < len(e.rows) {
		e.move(e.column(y, x))
	}
}

// Vertical moves the cursor by n rows and reports whether there is such a row.
func (e *Text) Vertical(n int) bool {
	e.Layout(e.w)
	x, y := e.place()
	e.goal = cmp.Or(e.goal, x+1)
	if y += n; y < 0 || y >= len(e.rows) {
		return false
	}
	goal := e.goal
	e.move(e.column(y, goal-1))
	e.goal = goal
	return true
}

// column returns the index of the rune at a column of a row.
func (e *Text) column(y, x int) int {
	r := e.rows[y]
	at, used := r.from, 0
	for g := emulator.ClustersOf(string(e.text[r.from:r.to])); g.Next(); {
		if used+g.Width() > x {
			break
		}
		used += g.Width()
		at += utf8.RuneCountInString(g.Value())
	}
	if at == r.to && y+1 < len(e.rows) && e.rows[y+1].from == r.to && at > r.from {
		at-- // that place is on the next row
	}
	return at
}

// Key edits the text. It reports whether the key was for editing.
func (e *Text) Key(k tea.Key) bool {
	if edit, ok := edits[Stroke(k)]; ok {
		edit(e)
		return true
	}
	if k.Text != "" && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		e.Insert(k.Text)
		return true
	}
	return false
}

// Stroke names a key: by its text, or by its name and modifiers.
func Stroke(k tea.Key) string {
	if k.Text != "" && k.Text != " " && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		return k.Text
	}
	return k.Keystroke()
}
