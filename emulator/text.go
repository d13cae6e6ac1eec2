package emulator

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// MaxText bounds HistoryText's result, in bytes.
const MaxText = 16 << 20

// LineText returns the text of cells without trailing blanks. Empty cells and those of
// pictures are spaces, a tab is a tab if its columns are still blank.
func LineText(cells []Cell) string { return string(AppendText(nil, cells)) }

// AppendText appends the text that LineText returns.
func AppendText(buf []byte, cells []Cell) []byte {
	end := len(cells)
	for end > 0 && isBlank(&cells[end-1]) {
		end--
	}
	return appendCells(buf, cells[:end])
}

// AppendWrapped appends the text of a wrapped line, with its trailing blanks, except the last
// cell if a wide character that wrapped left it free.
func AppendWrapped(buf []byte, cells []Cell) []byte {
	n := len(cells)
	if n > 1 && cells[n-1].Rune == 0 && cells[n-1].Width == 1 {
		n--
	}
	return appendCells(buf, cells[:n])
}

func appendCells(buf []byte, cells []Cell) []byte {
	for i := 0; i < len(cells); i++ {
		c := &cells[i]
		switch {
		case c.Rune == 0 && c.Width == 0:
			// The cell behind a wide character.
		case isTab(cells[i:]):
			buf = append(buf, '\t')
			i += int(c.Tab) - 1
		case c.Rune == 0 || c.IsPicture():
			buf = append(buf, ' ')
		default:
			buf = utf8.AppendRune(buf, c.Rune)
			buf = append(buf, c.Combining...)
		}
	}
	return buf
}

// isTab reports whether cells begin with a tab whose columns are still blank.
func isTab(cells []Cell) bool {
	n := int(cells[0].Tab)
	if n == 0 || n > len(cells) {
		return false
	}
	for i := range cells[1:n] {
		if c := &cells[1+i]; !isBlank(c) || c.Tab > 0 {
			return false
		}
	}
	return true
}

func isBlank(c *Cell) bool {
	return (c.Rune == 0 && c.Width != 0 || c.Rune == ' ') && c.Combining == "" || c.IsPicture()
}

// ScreenText returns the screen as text: all rows, without trailing blanks, joined by \n.
// Tabs are spaces, so that columns keep their places; pictures are as Caption shows them.
func ScreenText(e Emulator) string {
	_, rows := e.Size()
	var buf []byte
	var cells []Cell
	for y := range rows {
		if y > 0 {
			buf = append(buf, '\n')
		}
		cells = e.Line(y, cells[:0])
		Caption(e, cells)
		for i := range cells {
			cells[i].Tab = 0
		}
		buf = AppendText(buf, cells)
	}
	return string(buf)
}

// HistoryText returns the newest n lines of history (all if n is negative) and the screen as
// text. It joins wrapped lines and cuts empty lines at the end. Of a text over MaxText bytes
// it returns the newest whole lines.
func HistoryText(e Emulator, n int) string {
	return HistoryTail(e, n, MaxText)
}

// HistoryTail is HistoryText with a bound in bytes. If the last line is longer than the
// bound, it returns the end of it.
func HistoryTail(e Emulator, n, maxBytes int) string {
	_, rows := e.Size()
	first := -e.HistoryLen()
	if n >= 0 {
		first = max(first, -n)
	}
	// Go from the bottom up, so that the cost is that of the result.
	var lines []string
	size := 0
	for y := rows - 1; y >= first; {
		var line string
		line, y = unwrapped(e, y, first)
		if line == "" && len(lines) == 0 {
			continue
		}
		size += len(line) + 1
		if size-1 > maxBytes {
			if len(lines) == 0 {
				lines = append(lines, tail(line, maxBytes))
			}
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// unwrapped returns the text of the logical line that ends on line y, from line first on, and
// the number of the line above it.
func unwrapped(e Emulator, y, first int) (string, int) {
	top := y
	for top > first && e.Wrapped(top-1) {
		top--
	}
	var buf []byte
	var cells []Cell
	for i := top; i <= y; i++ {
		cells = e.Line(i, cells[:0])
		Caption(e, cells)
		if i == y {
			buf = AppendText(buf, cells)
			break
		}
		buf = AppendWrapped(buf, cells)
	}
	return string(buf), top - 1
}

// tail returns the end of s in at most n bytes, cut between runes.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// RuneWidth returns the number of columns of a single rune, 0 to 2, as wcwidth, which
// programs use. Controls have 0, runes of ambiguous width 1.
func RuneWidth(r rune) int {
	switch {
	case r < 0xad:
	case r == 0xad, // SOFT HYPHEN
		r >= 0x600 && r <= 0x605, r == 0x6dd, r == 0x70f, r == 0x890, r == 0x891, r == 0x8e2,
		r == 0x110bd, r == 0x110cd, // signs that stand before or around numbers
		r >= 0x1f1e6 && r <= 0x1f1ff: // REGIONAL INDICATOR: two make a flag
		return 1
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7c6, r >= 0xd7cb && r <= 0xd7fb:
		return 0 // vowels and finals of Hangul, which lie in the syllable's columns
	case r >= 0x3248 && r <= 0x324f: // CIRCLED NUMBER … ON BLACK SQUARE
		return 2
	}
	return displaywidth.Rune(r)
}

const vs16 = 0xfe0f // VARIATION SELECTOR-16: shown as an emoji

// ClusterWidth returns the number of columns of a grapheme cluster, 0 to 2: the sum of its
// runes' columns, but at most two. U+FE0F makes it two if the first rune can be an emoji.
func ClusterWidth(s string) int {
	w := 0
	for i, r := range s {
		if r == vs16 && i > 0 && isEmojiBase(first(s)) {
			return 2
		}
		if w += RuneWidth(r); w >= 2 {
			return 2
		}
	}
	return w
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// isEmojiBase reports whether U+FE0F makes r an emoji.
func isEmojiBase(r rune) bool {
	if r < 0x80 {
		return strings.ContainsRune("0123456789#*", r)
	}
	it := graphemes.FromString("\U0001f469\u200d" + string(r)) // joined only by Extended_Pictographic
	return it.Next() && len(it.Value()) > len("\U0001f469\u200d")
}

// Clusters iterates over the grapheme clusters of a text, the units that cells hold.
type Clusters struct {
	it *graphemes.Iterator[string]
}

// ClustersOf returns an iterator over the clusters of s. Call Next before the first one.
func ClustersOf(s string) Clusters { return Clusters{graphemes.FromString(s)} }

// Next advances to the next cluster and reports whether there is one.
func (c *Clusters) Next() bool { return c.it.Next() }

// Value returns the cluster.
func (c *Clusters) Value() string { return c.it.Value() }

// Width returns the number of columns of the cluster.
func (c *Clusters) Width() int { return ClusterWidth(c.it.Value()) }
