package transcript

import (
	"fmt"
	"sort"
)

// find is the search in the transcript.
type find struct {
	text string
	hits []hit
	at   int // the hit that the view went to, -1 for none
	rows int // number of rows that were searched; rows behind them are new or have changed
}

// hit is a match: a row and its cells.
type hit struct{ row, from, to int }

// NoMatch is the result of a search without a match.
const NoMatch = "no match"

// maxHits is the largest number of matches that are kept.
const maxHits = 10_000

// Find searches for a text, ignoring case unless it has capitals, and goes to the first match
// from the top of the view on, with back to the last match above its bottom. It returns what
// Found does.
func (tr *View) Find(text string, back bool) string {
	tr.find = find{text: text, at: -1}
	tr.dirty = true
	if text == "" {
		return ""
	}
	tr.match()
	if len(tr.find.hits) == 0 {
		return NoMatch
	}
	from := func(row int) int {
		return sort.Search(len(tr.find.hits), func(i int) bool { return tr.find.hits[i].row >= row })
	}
	if tr.find.at = from(tr.top); back || tr.find.at == len(tr.find.hits) {
		tr.find.at = max(from(tr.top+tr.area.H)-1, 0)
	}
	tr.showHit()
	return tr.Found()
}

// Finding returns the text that is searched for, "" for none.
func (tr *View) Finding() string { return tr.find.text }

// FindNext goes to the next match, with back to the previous one. It returns what Found does.
func (tr *View) FindNext(back bool) string {
	if tr.find.text == "" {
		return ""
	}
	tr.match()
	n := len(tr.find.hits)
	if n == 0 {
		return NoMatch
	}
	step := 1
	if back {
		step = n - 1
	}
	tr.find.at = (tr.find.at + step) % n
	tr.showHit()
	return tr.Found()
}

// Found describes the search: the number of the match and of all matches.
func (tr *View) Found() string {
	if tr.find.text == "" {
		return ""
	}
	if len(tr.find.hits) == 0 {
		return NoMatch
	}
	return fmt.Sprintf("%d of %d", tr.find.at+1, len(tr.find.hits))
}

// match searches the rows that have changed.
func (tr *View) match() {
	tr.relayout()
	f := &tr.find
	known := min(f.rows, tr.rows)
	f.rows, f.hits = tr.rows, f.hits[:sort.Search(len(f.hits), func(i int) bool { return f.hits[i].row >= known })]
	for row := known; row < tr.rows; row++ {
		l, _, ok := tr.lineAt(row)
		if !ok {
			continue
		}
		for from, to := range l.Find(f.text) {
			if len(f.hits) == maxHits {
				break
			}
			f.hits = append(f.hits, hit{row, from, to})
		}
	}
	f.at = min(f.at, len(f.hits)-1)
}

// showHit scrolls to the match.
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

// Position returns the view's position, which Restore takes.
func (tr *View) Position() (top int, follow bool) { return tr.top, tr.follow }

// Restore goes back to a position.
func (tr *View) Restore(top int, follow bool) {
	tr.top, tr.follow, tr.dirty = top, follow, true
}
