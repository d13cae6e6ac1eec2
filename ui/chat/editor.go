package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/ui/paint"
)

// maxPrompt bounds what can be typed into the prompt, in bytes.
const maxPrompt = 256 << 10

// maxUndo bounds how many texts the prompt goes back to.
const maxUndo = 100

// editor is a text of several lines that is being written. at counts runes.
type editor struct {
	text []rune
	at   int
	goal int // the column that up and down keep, -1 for the one of at
	kill string
	undo []undone
	last string // the edit before, so that typing a word is one undo

	// As last laid out.
	w    int
	rows []row
	top  int // first row that shows
}

type undone struct {
	text []rune
	at   int
}

// row is a part of the text on one line of the screen.
type row struct{ from, to int }

func (e *editor) String() string { return string(e.text) }

func (e *editor) empty() bool { return len(e.text) == 0 }

// set replaces the text; the cursor goes to its end.
func (e *editor) set(s string) {
	e.save("set")
	e.text = []rune(tidy(s))
	e.at, e.goal = len(e.text), -1
}

// tidy takes out of a text for the prompt what is no text.
func tidy(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}

// save notes the text for undo, unless the edit goes on with the one before.
func (e *editor) save(edit string) {
	if edit != "" && edit == e.last {
		return
	}
	e.last = edit
	e.undo = append(e.undo, undone{append([]rune(nil), e.text...), e.at})
	if len(e.undo) > maxUndo {
		e.undo = e.undo[1:]
	}
}

// insert types text.
func (e *editor) insert(s string) {
	s = tidy(s)
	if len(string(e.text))+len(s) > maxPrompt {
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
	e.goal = -1
}

// cut takes a part out and keeps it for yank.
func (e *editor) cut(from, to int, keep bool) {
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
	e.at, e.goal = from, -1
}

// replace puts a text in the place of a part.
func (e *editor) replace(from, to int, s string) {
	e.save("")
	from, to = min(from, len(e.text)), min(to, len(e.text))
	rest := append([]rune(nil), e.text[to:]...)
	e.text = append(append(e.text[:from:from], []rune(tidy(s))...), rest...)
	e.at, e.goal = len(e.text)-len(rest), -1
}

// lineStart and lineEnd are the ends of the line that the cursor is in.
func (e *editor) lineStart() int {
	i := e.at
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *editor) lineEnd() int {
	i := e.at
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

func (e *editor) wordBack() int {
	i := e.at
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}

func (e *editor) wordNext() int {
	i := e.at
	for i < len(e.text) && unicode.IsSpace(e.text[i]) {
		i++
	}
	for i < len(e.text) && !unicode.IsSpace(e.text[i]) {
		i++
	}
	return i
}

// move puts the cursor somewhere.
func (e *editor) move(to int) {
	e.at, e.goal, e.last = min(max(to, 0), len(e.text)), -1, ""
}

// back and next are the ends of the characters beside the cursor, which may
// consist of several runes.
func (e *editor) back() int {
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

func (e *editor) next() int {
	if e.at == len(e.text) {
		return e.at
	}
	g := emulator.ClustersOf(string(e.text[e.at:min(e.at+16, len(e.text))]))
	g.Next()
	return e.at + max(utf8.RuneCountInString(g.Value()), 1)
}

// edits are the keys that edit, as readline has them.
var edits = map[string]func(*editor){
	"left": func(e *editor) { e.move(e.back()) }, "ctrl+b": func(e *editor) { e.move(e.back()) },
	"right": func(e *editor) { e.move(e.next()) }, "ctrl+f": func(e *editor) { e.move(e.next()) },
	"home": func(e *editor) { e.move(e.lineStart()) }, "ctrl+a": func(e *editor) { e.move(e.lineStart()) },
	"end": func(e *editor) { e.move(e.lineEnd()) }, "ctrl+e": func(e *editor) { e.move(e.lineEnd()) },
	"alt+b": func(e *editor) { e.move(e.wordBack()) }, "ctrl+left": func(e *editor) { e.move(e.wordBack()) }, "alt+left": func(e *editor) { e.move(e.wordBack()) },
	"alt+f": func(e *editor) { e.move(e.wordNext()) }, "ctrl+right": func(e *editor) { e.move(e.wordNext()) }, "alt+right": func(e *editor) { e.move(e.wordNext()) },
	"alt+<": func(e *editor) { e.move(0) }, "alt+>": func(e *editor) { e.move(len(e.text)) },
	"backspace": func(e *editor) { e.cut(e.back(), e.at, false) }, "ctrl+h": func(e *editor) { e.cut(e.back(), e.at, false) },
	"shift+backspace": func(e *editor) { e.cut(e.back(), e.at, false) },
	"delete":          func(e *editor) { e.cutNext() }, "ctrl+d": func(e *editor) { e.cutNext() },
	"ctrl+u": func(e *editor) { e.cut(e.lineStart(), e.at, true) },
	"ctrl+k": func(e *editor) {
		to := e.lineEnd()
		if to == e.at && to < len(e.text) {
			to++
		}
		e.cut(e.at, to, true)
	},
	"ctrl+w": func(e *editor) { e.cut(e.wordBack(), e.at, true) }, "alt+backspace": func(e *editor) { e.cut(e.wordBack(), e.at, true) },
	"ctrl+backspace": func(e *editor) { e.cut(e.wordBack(), e.at, true) },
	"alt+d": func(e *editor) {
		at, to := e.at, e.wordNext()
		e.cut(at, to, true)
	},
	"shift+enter": func(e *editor) { e.insert("\n") }, // only terminals with kitty's keys report it
	"ctrl+y":      func(e *editor) { e.insert(e.kill) },
	"ctrl+_":      func(e *editor) { e.unedit() }, "ctrl+/": func(e *editor) { e.unedit() }, "ctrl+z": func(e *editor) { e.unedit() },
}

// cutNext deletes the character at the cursor.
func (e *editor) cutNext() {
	at := e.at
	e.cut(at, e.next(), false)
}

// unedit goes back to the text before.
func (e *editor) unedit() {
	if n := len(e.undo); n > 0 {
		u := e.undo[n-1]
		e.undo, e.last = e.undo[:n-1], ""
		e.text, e.at, e.goal = u.text, u.at, -1
	}
}

// layout cuts the text into rows of w cells and gives their number.
func (e *editor) layout(w int) int {
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

// wrap cuts a line into rows, at blanks where there are any.
func (e *editor) wrap(from, to int) {
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

// place is the row and column of the cursor, as last laid out.
func (e *editor) place() (x, y int) {
	for i, r := range e.rows {
		last := i+1 == len(e.rows) || e.rows[i+1].from > r.to // a line's end
		if e.at >= r.from && (e.at < r.to || e.at == r.to && last) {
			return paint.Width(string(e.text[r.from:e.at])), i
		}
	}
	return 0, max(len(e.rows)-1, 0)
}

// vertical moves the cursor by rows; it reports whether there was one.
func (e *editor) vertical(n int) bool {
	e.layout(max(e.w, 1))
	x, y := e.place()
	if e.goal < 0 {
		e.goal = x
	}
	if y += n; y < 0 || y >= len(e.rows) {
		return false
	}
	goal := e.goal
	e.move(e.column(y, goal))
	e.goal = goal
	return true
}

// column is the rune at a column of a row.
func (e *editor) column(y, x int) int {
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
		at-- // that place is the next row's
	}
	return at
}

// key edits the text and reports whether the key was one for it.
func (e *editor) key(k tea.Key) bool {
	if edit, ok := edits[strokeOf(k)]; ok {
		edit(e)
		return true
	}
	if k.Text != "" && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		e.insert(k.Text)
		return true
	}
	return false
}

// strokeOf names a key: by what it types, or by its keys and modifiers.
func strokeOf(k tea.Key) string {
	if k.Text != "" && k.Text != " " && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		return k.Text
	}
	return k.Keystroke()
}
