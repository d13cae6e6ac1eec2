package transcript

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

// NoMatch is what is said of a text that is not there.
const NoMatch = "no match"

// maxHits bounds the matches that are kept.
const maxHits = 10_000

// Find looks for a text, ignoring case unless it has capitals, and goes to the
// match nearest above the bottom of what shows, or below. It says how that went.
func (tr *View) Find(text string, back bool) string {
	tr.find = find{text: text, at: -1, rows: -1}
	tr.dirty = true
	if text == "" {
		return ""
	}
	tr.match()
	if len(tr.find.hits) == 0 {
		return NoMatch
	}
	row := tr.top + tr.area.H
	best := 0
	for i, h := range tr.find.hits {
		if h.row < row {
			best = i
		}
	}
	if !back {
		for i, h := range tr.find.hits {
			if h.row >= tr.top {
				best = i
				break
			}
		}
	}
	tr.find.at = best
	tr.showHit()
	return tr.Found()
}

// Finding is the text that is looked for.
func (tr *View) Finding() string { return tr.find.text }

// FindNext goes to the next match, or with back to the one before.
func (tr *View) FindNext(back bool) string {
	if tr.find.text == "" {
		return ""
	}
	tr.match()
	n := len(tr.find.hits)
	if n == 0 {
		return NoMatch
	}
	if back {
		tr.find.at = (tr.find.at - 1 + n) % n
	} else {
		tr.find.at = (tr.find.at + 1) % n
	}
	tr.showHit()
	return tr.Found()
}

// Found says where in the matches the view is.
func (tr *View) Found() string {
	if tr.find.text == "" {
		return ""
	}
	if len(tr.find.hits) == 0 {
		return NoMatch
	}
	return fmt.Sprintf("%d of %d", tr.find.at+1, len(tr.find.hits))
}

// match finds the text again where the transcript has changed.
func (tr *View) match() {
	tr.relayout()
	f := &tr.find
	if f.rows == tr.rows {
		return
	}
	f.rows, f.hits = tr.rows, f.hits[:0]
	fold := strings.ToLower(f.text) == f.text
	for row := range tr.rows {
		l, _, ok := tr.lineAt(row)
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
func (tr *View) showHit() {
	tr.dirty = true
	if tr.find.at < 0 {
		return
	}
	h := max(tr.area.H, 1)
	if row := tr.find.hits[tr.find.at].row; row < tr.top || row >= tr.top+h {
		tr.scrollTo(row - h/2)
	}
}

// Position and Restore are for a search that is given up.
func (tr *View) Position() (top int, follow bool) { return tr.top, tr.follow }

// Restore goes back to a position.
func (tr *View) Restore(top int, follow bool) {
	tr.top, tr.follow, tr.dirty = top, follow, true
}
