package paint

import (
	"encoding/base64"
	"strconv"

	"tandemux/emulator"
)

// Bounds of what the outer terminal is given to keep; what was drawn longest ago
// goes first.
const (
	maxGallery     = 256
	maxGallerySize = 64 << 20 // bytes
	// pieceSize is how much of an image goes in one command, in bytes before base64
	// (kitty's protocol has 4096 of base64).
	pieceSize = 3072
)

// Gallery is the pictures that the outer terminal has: each is sent once, under a
// number of the gallery's own, with the size in cells in which it is to show. From
// then on cells that name the number show it, wherever they are painted.
//
// It is sent in parts, so that typing goes on meanwhile: Cell asks for a picture,
// Pump sends some of what was asked for, and until a picture is there its cells are
// a box. The gallery belongs to the event loop.
type Gallery struct {
	on    bool
	base  uint32 // number of the first slot; 24 bits, the low 8 zero
	slots []slot
	index map[work]int
	queue []int // slots to be sent, in order
	size  int
	limit int // of size
	clock uint64
	out   []byte // deletions to be sent

	placing    bool // the outer terminal knows placements only; see Place
	placed     map[block]int
	lastPlaced int
}

// work is a picture in a size.
type work struct {
	im               *emulator.Image
	cols, rows       int
	x, y, w, h, cuts int
}

// slot is a number of the outer terminal's.
type slot struct {
	work
	owner any
	used  uint64
	state slotState
	rest  []byte // to be sent yet
	sent  bool   // some was
	size  int
}

type slotState uint8

const (
	slotFree slotState = iota
	slotQueued
	slotShown
	slotBad // can't be shown
)

// NewGallery gives a gallery whose numbers begin at one made of the seed, so that
// they are most likely nobody else's.
func NewGallery(seed uint64) *Gallery {
	return &Gallery{base: uint32(seed*0x9e3779b97f4a7c15>>48)<<8 | 0x10000, index: map[work]int{}, limit: maxGallerySize}
}

// Switch says whether the outer terminal shows pictures, and whether only as
// placements. Switched off, everything is a box.
func (g *Gallery) Switch(on, placing bool) {
	if g.on != on || g.placing != placing {
		g.Forget()
	}
	g.on, g.placing = on, placing
}

// On reports whether pictures are shown.
func (g *Gallery) On() bool { return g.on }

// Numbers gives the range of numbers that may be in use: n from first on.
func (g *Gallery) Numbers() (first uint32, n int) { return g.base, len(g.slots) }

// Forget says that the outer terminal has nothing any more.
func (g *Gallery) Forget() {
	g.slots, g.queue, g.size, g.out, g.placed = nil, nil, 0, nil, nil
	clear(g.index)
}

// Drop frees what was asked for by an owner.
func (g *Gallery) Drop(owner any) {
	for i := range g.slots {
		if g.slots[i].state != slotFree && g.slots[i].owner == owner {
			g.free(i)
		}
	}
}

// Cell gives what to draw for a cell of a picture, which ok says is there: a cell
// that names it to the outer terminal, or a part of a box.
func (g *Gallery) Cell(owner any, c *emulator.Cell, p emulator.Placeholder, pic emulator.Picture, ok bool) emulator.Cell {
	if ok && g != nil && g.on && pic.Image.Data != nil && p.Row < min(pic.Rows, emulator.MaxPictureSide) && p.Col < min(pic.Cols, emulator.MaxPictureSide) {
		if i, shown := g.slot(owner, pic); shown {
			n := g.base + uint32(i)
			return emulator.Cell{
				Rune: emulator.PlaceholderRune, Width: 1,
				Combining: string(emulator.AppendPlaceholder(nil, 0, p.Row, p.Col, 0)),
				Style:     emulator.Style{FG: emulator.RGB(uint8(n>>16), uint8(n>>8), uint8(n)), BG: c.Style.BG},
			}
		}
	}
	return emulator.CaptionCell(c, p, pic, ok)
}

// slot gives the slot of a picture, asking for it if it has none.
func (g *Gallery) slot(owner any, pic emulator.Picture) (i int, shown bool) {
	k := work{im: pic.Image, cols: pic.Cols, rows: pic.Rows}
	if !pic.Whole() {
		k.x, k.y, k.w, k.h, k.cuts = pic.X, pic.Y, pic.Width, pic.Height, 1
	}
	g.clock++
	i, ok := g.index[k]
	if !ok {
		if i = g.room(len(pic.Image.Data)); i < 0 {
			return 0, false
		}
		g.slots[i] = slot{work: k, owner: owner, state: slotQueued, size: len(pic.Image.Data)}
		g.index[k] = i
		g.size += len(pic.Image.Data)
		g.queue = append(g.queue, i)
	}
	g.slots[i].used = g.clock
	return i, g.slots[i].state == slotShown
}

// room gives a free slot for so many bytes.
func (g *Gallery) room(size int) int {
	free := -1
	for i := range g.slots {
		if g.slots[i].state == slotFree {
			free = i
		}
	}
	if free < 0 && len(g.slots) < maxGallery {
		g.slots = append(g.slots, slot{})
		free = len(g.slots) - 1
	}
	for free < 0 || g.size+size > g.limit && g.size > 0 {
		oldest := -1
		for i := range g.slots {
			if s := &g.slots[i]; s.state == slotShown && (oldest < 0 || s.used < g.slots[oldest].used) {
				oldest = i
			}
		}
		if oldest < 0 {
			return free
		}
		g.free(oldest)
		if free < 0 {
			free = oldest
		}
	}
	return free
}

// free takes a slot's picture away from the outer terminal.
func (g *Gallery) free(i int) {
	s := &g.slots[i]
	if s.sent {
		g.out = append(g.out, "\x1b_Ga=d,d=I,q=2,i="+strconv.Itoa(int(g.base)+i)+"\x1b\\"...)
	}
	for k, q := range g.queue {
		if q == i {
			g.queue = append(g.queue[:k:k], g.queue[k+1:]...)
			break
		}
	}
	for b := range g.placed {
		if b.slot == i {
			delete(g.placed, b) // they go with the image
		}
	}
	delete(g.index, s.work)
	g.size -= s.size
	*s = slot{}
}

// Pump appends what sends some of the pictures that were asked for, about limit
// bytes at most. arrived says that one of them is there now, so that what shows it
// has to be drawn again; more that there is more to be sent.
func (g *Gallery) Pump(buf []byte, limit int) (out []byte, arrived, more bool) {
	if len(g.queue) == 0 && len(g.out) == 0 {
		return buf, false, false
	}
	end := len(buf) + limit
	for len(g.queue) > 0 && len(buf) < end {
		i := g.queue[0]
		if s := &g.slots[i]; !s.sent && !s.begin() {
			s.state = slotBad
			g.queue = g.queue[1:]
			continue
		}
		var done bool
		if buf, done = g.piece(buf, i); done {
			g.slots[i].state, g.slots[i].rest = slotShown, nil
			g.queue = g.queue[1:]
			arrived = true
		}
	}
	if len(g.queue) == 0 || !g.slots[g.queue[0]].sent { // not in the middle of an image
		buf = append(buf, g.out...)
		g.out = g.out[:0]
	}
	return buf, arrived, len(g.queue) > 0 || len(g.out) > 0
}

// begin makes ready what is to be sent.
func (s *slot) begin() bool {
	if s.cuts != 0 {
		im, ok := crop(s.im, s.x, s.y, s.w, s.h)
		if !ok {
			return false
		}
		s.rest = im.Data
		return true
	}
	s.rest = s.im.Data
	return len(s.rest) > 0
}

// piece appends the next piece of slot i, behind the last one what makes cells show
// it. An image that was there under the number is replaced.
func (g *Gallery) piece(buf []byte, i int) (out []byte, done bool) {
	s := &g.slots[i]
	n := strconv.Itoa(int(g.base) + i)
	buf = append(buf, "\x1b_G"...)
	if !s.sent {
		format, w, h, packed := s.im.Format, s.im.Width, s.im.Height, s.im.Zlib
		if s.cuts != 0 {
			format, w, h, packed = 32, s.w, s.h, true
		}
		buf = append(buf, "a=t,i="+n+",f="+strconv.Itoa(format)+",s="+strconv.Itoa(w)+",v="+strconv.Itoa(h)+","...)
		if packed {
			buf = append(buf, "o=z,"...)
			if format == 100 {
				buf = append(buf, "S="+strconv.Itoa(len(s.rest))+","...)
			}
		}
		s.sent = true
	}
	k := min(len(s.rest), pieceSize)
	if done = k == len(s.rest); done {
		buf = append(buf, "q=2,m=0;"...)
	} else {
		buf = append(buf, "q=2,m=1;"...)
	}
	buf = base64.StdEncoding.AppendEncode(buf, s.rest[:k])
	buf = append(buf, "\x1b\\"...)
	if s.rest = s.rest[k:]; done && !g.placing {
		buf = append(buf, "\x1b_Ga=p,U=1,q=2,i="+n+",c="+strconv.Itoa(s.cols)+",r="+strconv.Itoa(s.rows)+"\x1b\\"...)
	}
	return buf, done
}
