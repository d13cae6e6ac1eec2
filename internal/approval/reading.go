package approval

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Row is a piece of a line that fits the width.
type Row struct {
	Kind Kind
	Lead string // what stands before the text: the kind's mark, or blanks where a line goes on
	Text string
}

// leads are what stands before lines.
var leads = map[Kind]string{Command: "$ ", Added: "+ ", Removed: "- ", Same: "  "}

// Rows breaks the view's lines into rows of at most w cells. Nothing is left out:
// a line that is longer goes on in the next row.
func (v View) Rows(w int) []Row {
	var out []Row
	for _, l := range v.Lines {
		lead := leads[l.Kind]
		rest := strings.Repeat(" ", max(len(lead), 2))
		if w < 12 {
			lead, rest = "", ""
		}
		for i, text := range Wrap(l.Text, w-len(lead), w-len(rest)) {
			if i > 0 {
				lead = rest
			}
			out = append(out, Row{l.Kind, lead, text})
		}
	}
	return out
}

// Wrap breaks a line into rows of at most first, and then rest, cells: after a
// blank or before an escape where there is one near the end, else anywhere. The rows joined are the
// line.
func Wrap(s string, first, rest int) []string {
	var out []string
	w := max(first, 1)
	for {
		used, at, blank := 0, 0, 0
		full := false
		for g := displaywidth.StringGraphemes(s); g.Next(); {
			if used+g.Width() > w && at > 0 {
				full = true
				break
			}
			if g.Value() == "<" && used > w/2 {
				blank = at // an escape stays whole
			}
			used += g.Width()
			at += len(g.Value())
			if g.Value() == " " && used > w/2 {
				blank = at
			}
		}
		if !full {
			return append(out, s)
		}
		if blank > 0 {
			at = blank
		}
		out, s, w = append(out, s[:at]), s[at:], max(rest, 1)
	}
}

// Reading is a question that is being read: nothing can be allowed before all of
// it was shown.
type Reading struct {
	View
	// At is the option that Enter takes, -1 for none.
	At int

	laid, moved bool // was shown; was scrolled since
	whole       bool // all of it was shown
	w, top      int
	seen, total int // rows, from the first on
	page        int // rows that show
}

func NewReading(v View) *Reading { return &Reading{View: v, At: -1} }

// Frame is what shows of a question.
type Frame struct {
	Rows    []Row
	From    int  // how many rows stand above these
	Options bool // the options show below
	Left    int  // rows below these
}

// Lay lays the question out in w cells and h rows, of which the options take some,
// and takes what the frame has as shown to the person. While a part was not shown
// the options don't show; then one row is left for saying how much there is to come.
func (r *Reading) Lay(w, h, options int) Frame {
	rows := r.Rows(w)
	if w != r.w { // what was shown before was cut elsewhere
		r.w, r.seen = w, 0
		if !r.whole {
			r.top, r.moved = 0, false
		}
	}
	r.total = len(rows)
	beside := max(h-options, 1) // rows of the text beside the options
	switch {
	case r.whole:
	case !r.laid && r.total <= h-options:
		r.whole, r.At = true, r.Default
	case r.moved && r.seen >= r.total-beside:
		r.whole, r.top = true, r.total
	}
	r.laid, r.moved = true, false
	r.page = beside
	if !r.whole {
		r.page = max(h-1, 1)
	}
	r.top = min(max(r.top, 0), max(r.total-r.page, 0))
	end := min(r.top+r.page, r.total)
	r.seen = max(r.seen, end)
	return Frame{Rows: rows[r.top:end], From: r.top, Options: r.whole, Left: r.total - end}
}

// More says how much is left to read.
func (f Frame) More() string {
	switch f.Left {
	case 0:
		return "enter shows the answers"
	case 1:
		return "1 line more: enter goes on"
	}
	return fmt.Sprintf("%d lines more: enter goes on", f.Left)
}

// Whole reports whether all of the question was shown.
func (r *Reading) Whole() bool { return r.whole }

// Short reports whether all of the text shows at once.
func (r *Reading) Short() bool { return r.laid && r.total <= r.page }

// Scroll moves the text by n rows, not past what was shown.
func (r *Reading) Scroll(n int) {
	r.top = max(min(r.top+n, r.seen), 0)
	r.moved = r.moved || n > 0
}

// Page moves the text by a page, back for a negative n.
func (r *Reading) Page(n int) { r.Scroll(n * max(r.page, 1)) }

// Move moves among the options; before all was shown, it scrolls.
func (r *Reading) Move(n, options int) {
	switch {
	case !r.whole:
		r.Scroll(n)
	case r.At < 0 && n < 0:
		r.At = options - 1
	default:
		r.At = (max(r.At, -1) + n + options) % options
	}
}

// Can says why an option can't be taken, "" where it can be.
func (r *Reading) Can(o Option) string {
	switch {
	case o.Allows && r.Partial != "":
		return r.Partial
	case o.Allows && !r.whole:
		return "read it to its end first"
	}
	return ""
}

// Find gives the option of a key: its own, or its number.
func (v View) Find(key string) (Option, bool) {
	for i, o := range v.Options {
		if key == o.Key || len(key) == 1 && key[0] == byte('1'+i) {
			return o, true
		}
	}
	return Option{}, false
}
