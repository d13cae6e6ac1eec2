package chat

import (
	"fmt"
	"strings"

	"tandemux/ui/paint"
)

// find is what is looked for in the transcript.
type find struct {
	text string
	hits []hit
	at   int // the hit that was gone to, -1 for none
	rows int // that hits were found in
}

// hit is a match: a row and its cells.
type hit struct{ row, from, to int }

// maxHits bounds the matches that are kept.
const maxHits = 10_000

// Find looks for a text, ignoring case unless it has capitals, and goes to the
// match nearest above the bottom of what shows, or below. It says how that went.
func (c *Chat) Find(text string, back bool) string {
	c.find = find{text: text, at: -1, rows: -1}
	c.dirty = true
	if text == "" {
		return ""
	}
	c.match()
	if len(c.find.hits) == 0 {
		return "no match"
	}
	row := c.top + c.view.transcript.H
	best := 0
	for i, h := range c.find.hits {
		if h.row < row {
			best = i
		}
	}
	if !back {
		for i, h := range c.find.hits {
			if h.row >= c.top {
				best = i
				break
			}
		}
	}
	c.find.at = best
	c.showHit()
	return c.Found()
}

// Finding is the text that is looked for.
func (c *Chat) Finding() string { return c.find.text }

// FindNext goes to the next match, or with back to the one before.
func (c *Chat) FindNext(back bool) string {
	if c.find.text == "" {
		return ""
	}
	c.match()
	n := len(c.find.hits)
	if n == 0 {
		return "no match"
	}
	if back {
		c.find.at = (c.find.at - 1 + n) % n
	} else {
		c.find.at = (c.find.at + 1) % n
	}
	c.showHit()
	return c.Found()
}

// Found says where in the matches the view is.
func (c *Chat) Found() string {
	if c.find.text == "" {
		return ""
	}
	if len(c.find.hits) == 0 {
		return "no match"
	}
	return fmt.Sprintf("%d of %d", c.find.at+1, len(c.find.hits))
}

// match finds the text again where the transcript has changed.
func (c *Chat) match() {
	c.relayout()
	f := &c.find
	if f.rows == c.rows {
		return
	}
	f.rows, f.hits = c.rows, f.hits[:0]
	fold := strings.ToLower(f.text) == f.text
	for row := range c.rows {
		l, _, ok := c.lineAt(row)
		if !ok {
			continue
		}
		text := l.Text()
		hay := text
		if fold {
			if hay = strings.ToLower(text); len(hay) != len(text) {
				hay = text // other lengths would point elsewhere
			}
		}
		for from := 0; len(f.hits) < maxHits; {
			i := strings.Index(hay[from:], f.text)
			if i < 0 {
				break
			}
			i += from
			x := l.Lead + paint.Width(text[:i])
			f.hits = append(f.hits, hit{row, x, x + paint.Width(text[i:i+len(f.text)])})
			from = i + len(f.text)
		}
	}
	f.at = min(f.at, len(f.hits)-1)
}

// showHit brings the match into view.
func (c *Chat) showHit() {
	c.dirty = true
	if c.find.at < 0 {
		return
	}
	h := max(c.view.transcript.H, 1)
	if row := c.find.hits[c.find.at].row; row < c.top || row >= c.top+h {
		c.scrollTo(row - h/2)
	}
}

// Position and Restore are for a search that is given up.
func (c *Chat) Position() (top int, follow bool) { return c.top, c.follow }

// Restore goes back to a position.
func (c *Chat) Restore(top int, follow bool) {
	c.top, c.follow, c.dirty = top, follow, true
}
