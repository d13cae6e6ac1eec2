package git

import (
	"strings"
	"unicode"
)

// Subject is the first line of a text that says something, as that of a commit's message:
// without what moves a cursor or reorders text, and cut at a word.
func Subject(text string, most int) string {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			switch {
			case unicode.IsSpace(r):
				return ' '
			case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
				return -1
			}
			return r
		}, line)), " ")
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return ClipWords(line, most)
		}
	}
	return ""
}

// ClipWords cuts a line to so many characters, between words where it can.
func ClipWords(line string, most int) string {
	letters := []rune(line)
	if len(letters) <= most {
		return line
	}
	cut := string(letters[:most-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
