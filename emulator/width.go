package emulator

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// RuneWidth is the number of columns of a rune by itself, 0 to 2: that of
// wcwidth, which is what programs count with. Controls have none; what Unicode
// calls ambiguous has one.
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

const vs16 = 0xfe0f // the selector of an emoji's form

// ClusterWidth is the number of columns of a grapheme cluster, 0 to 2: those of
// its runes together, but never over two. The selector of an emoji's form (U+FE0F)
// makes it two.
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

// isEmojiBase reports whether r has an emoji's form.
func isEmojiBase(r rune) bool {
	if r < 0x80 {
		return strings.ContainsRune("0123456789#*", r)
	}
	it := graphemes.FromString("\U0001f469\u200d" + string(r)) // joined only by Extended_Pictographic
	return it.Next() && len(it.Value()) > len("\U0001f469\u200d")
}

// Clusters goes through a text by grapheme clusters, as text on a screen falls into
// cells.
type Clusters struct {
	it *graphemes.Iterator[string]
}

// ClustersOf gives the clusters of s; call Next before the first.
func ClustersOf(s string) Clusters { return Clusters{graphemes.FromString(s)} }

// Next goes to the next cluster and reports whether there is one.
func (c *Clusters) Next() bool { return c.it.Next() }

// Value is the cluster.
func (c *Clusters) Value() string { return c.it.Value() }

// Width is the number of columns of the cluster.
func (c *Clusters) Width() int { return ClusterWidth(c.it.Value()) }
