package overlay

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/paint"
)

// maxLine bounds what can be typed into a line, in bytes.
const maxLine = 4096

// line is a line of text that is being edited. at counts runes.
type line struct {
	text []rune
	at   int
}

func newLine(s string) line {
	l := line{}
	l.insert(s)
	return l
}

func (l *line) String() string { return string(l.text) }

// insert types text; control characters are left out.
func (l *line) insert(s string) {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	add := []rune(s)
	if len(string(l.text))+len(s) > maxLine {
		return
	}
	text := append([]rune(nil), l.text[:l.at]...)
	text = append(text, add...)
	l.text = append(text, l.text[l.at:]...)
	l.at += len(add)
}

// wordStart is where the word before the cursor begins.
func (l *line) wordStart() int {
	i := l.at
	for i > 0 && l.text[i-1] == ' ' {
		i--
	}
	for i > 0 && l.text[i-1] != ' ' {
		i--
	}
	return i
}

func (l *line) cut(from, to int) {
	l.text = append(l.text[:from:from], l.text[to:]...)
	l.at = from
}

// edits are the keys that edit, as readline has them.
var edits = map[string]func(*line){
	"left":          func(l *line) { l.at = max(l.at-1, 0) },
	"ctrl+b":        func(l *line) { l.at = max(l.at-1, 0) },
	"right":         func(l *line) { l.at = min(l.at+1, len(l.text)) },
	"ctrl+f":        func(l *line) { l.at = min(l.at+1, len(l.text)) },
	"home":          func(l *line) { l.at = 0 },
	"ctrl+a":        func(l *line) { l.at = 0 },
	"end":           func(l *line) { l.at = len(l.text) },
	"ctrl+e":        func(l *line) { l.at = len(l.text) },
	"backspace":     func(l *line) { l.cut(max(l.at-1, 0), l.at) },
	"ctrl+h":        func(l *line) { l.cut(max(l.at-1, 0), l.at) },
	"delete":        func(l *line) { l.cut(l.at, min(l.at+1, len(l.text))) },
	"ctrl+d":        func(l *line) { l.cut(l.at, min(l.at+1, len(l.text))) },
	"ctrl+u":        func(l *line) { l.cut(0, l.at) },
	"ctrl+k":        func(l *line) { l.cut(l.at, len(l.text)) },
	"ctrl+w":        func(l *line) { l.cut(l.wordStart(), l.at) },
	"alt+backspace": func(l *line) { l.cut(l.wordStart(), l.at) },
}

// key edits the line and reports whether the key was one for it.
func (l *line) key(k tea.Key) bool {
	if edit, ok := edits[stroke(k)]; ok {
		edit(l)
		return true
	}
	if k.Text != "" && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		l.insert(k.Text)
		return true
	}
	return false
}

// view gives the part of the line that fits into w cells with the cursor, and
// the cursor's column.
func (l *line) view(w int) (text string, x int) {
	from := 0
	for from < l.at && paint.Width(string(l.text[from:l.at])) >= w {
		from++
	}
	return paint.Cut(string(l.text[from:]), w, ""), paint.Width(string(l.text[from:l.at]))
}
