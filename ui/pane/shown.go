package pane

import (
	"tandemux/ui/paint"
)

// Text is a visible line of text as its program wrote it: wrapped lines are joined.
type Text struct {
	Bytes []byte
	Links []Linked // the program's hyperlinks (OSC 8)

	at    stretch
	cells []int // for each byte its cell in at
	shown *window
}

// Linked is a range of a text's bytes and the address that it links to.
type Linked struct {
	From, To int
	URI      string
}

// Place says where a view's lines are drawn. If it has not changed, a view in copy mode shows the
// same lines at the same rows.
type Place struct {
	rect  paint.Rect
	epoch int
}

// PlaceOf returns where a view's lines are drawn.
func PlaceOf(v *View) (p Place) {
	v.with(func(*Feed) { p = Place{v.rect, v.epoch} })
	return p
}

// Texts returns the texts that a view shows, from the top.
func Texts(v *View) (all []Text) {
	v.with(func(*Feed) {
		_, newest := v.bounds()
		next := 0
		for row := range v.rect.H {
			line := v.lineAt(row)
			if line > newest {
				return
			}
			if len(all) > 0 && line < next {
				continue
			}
			t := Text{at: v.stretch(line), shown: &v.window}
			next = t.at.last() + 1
			t.Bytes, t.cells = t.at.text(false)
			for i, c := range t.cells {
				link := t.at.cells[c].Link
				last := len(t.Links) - 1
				switch {
				case link == "":
				case last >= 0 && t.Links[last].To == i && t.Links[last].URI == bounded(link):
					t.Links[last].To++
				case bounded(link) != "":
					t.Links = append(t.Links, Linked{i, i + 1, link})
				}
			}
			all = append(all, t)
		}
	})
	return all
}

// Piece is text at a cell of the canvas.
type Piece struct {
	X, Y int
	Text string
}

// Where returns where a range of the text's bytes is drawn: a piece for each row that shows.
func (t *Text) Where(from, to int) (pieces []Piece) {
	w := t.shown
	for i := from; i < to; {
		end := i + 1
		for end < to && t.cells[end] == t.cells[i] {
			end++
		}
		p := t.at.spot(t.cells[i])
		x, y := p.x-w.ox, w.row(p.line)
		if x >= 0 && x < w.rect.W && y >= 0 && y < w.rect.H {
			x, y = x+w.rect.X, y+w.rect.Y
			if n := len(pieces) - 1; n >= 0 && pieces[n].Y == y && pieces[n].X+paint.Width(pieces[n].Text) == x {
				pieces[n].Text += string(t.Bytes[i:end])
			} else {
				pieces = append(pieces, Piece{x, y, string(t.Bytes[i:end])})
			}
		}
		i = end
	}
	return pieces
}
