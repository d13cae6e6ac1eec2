package native

// cell is one position of a screen in eight bytes:
//
//	63           32 31     24 23 22 21      20             0
//	+--------------+---------+-----+-------+----------------+
//	| style's index|   tab   |kind |cluster| rune, or index |
//	+--------------+---------+-----+-------+----------------+
//
// The zero cell is empty, in the default style. The style of an empty cell (rune 0)
// has only a background, as erasing leaves it. An empty cell in the default style may
// have a tab: the number of columns that a tab printed there took.
type cell uint64

const (
	runeMask   cell = 1<<21 - 1
	clusterBit cell = 1 << 21 // the low bits index clusters
	kindMask   cell = 3 << 22
	wideLead   cell = 1 << 22 // first half of a wide character
	wideTail   cell = 2 << 22 // second half: rune 0
	padding    cell = 3 << 22 // last column, left free since a wide character wrapped: rune 0
	textMask        = runeMask | clusterBit | kindMask
	tabShift        = 24
	maxTab          = 0xff
	tabMask    cell = maxTab << tabShift
	styleShift      = 32
	styleMask  cell = 0xffffffff << styleShift
)

func (c cell) style() uint32 { return uint32(c >> styleShift) }

// empty reports whether nothing was written in c.
func (c cell) empty() bool { return c&textMask == 0 || c&kindMask == padding }

// row is one screen line. Cells at used and beyond are zero.
type row struct {
	cells   []cell
	used    int
	wrapped bool // the text continues on the next line; then the last cell isn't empty
	size    lineSize
	marks   []mark
}

// touch notes that cells before x were written.
func (r *row) touch(x int) {
	if x > r.used {
		r.used = x
	}
}

// fill sets cells [from, to) to the blank b.
func (r *row) fill(from, to int, b cell) {
	if b == 0 {
		if to >= r.used {
			clear(r.cells[min(from, r.used):r.used])
			r.used = min(r.used, from)
			return
		}
		clear(r.cells[from:to])
		return
	}
	c := r.cells[from:to]
	for i := range c {
		c[i] = b
	}
	r.touch(to)
}

// reset fills the whole row with the blank b.
func (r *row) reset(b cell) {
	clear(r.cells[:r.used])
	r.used, r.wrapped, r.size = 0, false, singleSize
	if len(r.marks) > 0 {
		r.marks = r.marks[:0]
	}
	if b != 0 {
		r.fill(0, len(r.cells), b)
	}
}
