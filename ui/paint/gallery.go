package paint

import (
	"encoding/base64"
	"image"
	"maps"
	"slices"
	"strconv"

	"tandemux/emulator"
	"tandemux/emulator/picture"
)

// Bounds of the pictures that the outer terminal keeps. The pictures that were not drawn for
// longest are deleted first.
const (
	maxGallery     = 256
	maxGallerySize = 64 << 20 // bytes
	// pieceSize is the part of an image in one command, in bytes before base64 (kitty's protocol
	// allows 4096 bytes of base64).
	pieceSize = 3072
)

// Mode is how the outer terminal shows pictures.
type Mode uint8

// The modes.
const (
	Boxes  Mode = iota // not at all
	Cells              // kitty's graphics, with cells that stand for parts of a picture
	Placed             // kitty's graphics, with placements over blank cells
	Sixel              // sixels, painted into blank cells
	Inline             // iTerm2's images, painted into blank cells
)

// Outer is the properties of the outer terminal that matter for pictures.
type Outer struct {
	Mode         Mode
	CellW, CellH int  // pixels
	Colors       int  // of a sixel picture
	Moves        bool // it plays animations of kitty's protocol
}

// painted reports whether pictures are pixels, which writing over them erases.
func (o *Outer) painted() bool { return o.Mode == Sixel || o.Mode == Inline }

// Gallery is the pictures that the outer terminal has. Each is sent once, under an id of the
// gallery's, with the size in cells in which it shows. Cells that name the id then show it,
// wherever they are painted. In painted modes, where the outer terminal keeps no pictures, the
// gallery keeps their pixels in the size in which they show, and paints them (Paint).
//
// Pictures are sent in parts, so that typing isn't delayed: Cell asks for a picture, Pump sends
// some of what was asked for, and until a picture has arrived its cells are a box. Only the event
// loop may use the gallery.
type Gallery struct {
	outer Outer
	base  uint32 // id of the first slot; 24 bits, the low 8 zero
	slots []slot
	index map[work]int
	queue []int // slots to be sent, in order
	size  int
	limit int // the largest size
	clock uint64
	out   []byte // deletions to be sent

	placed     map[block]int // in mode Placed
	lastPlaced int
	shown      []part // in painted modes, for each cell of the screen what was painted there
}

// work is a picture, or a part of one, in a size in cells.
type work struct {
	im               *emulator.Image
	cols, rows       int
	x, y, w, h, cuts int
}

// slot is an id of a picture in the outer terminal.
type slot struct {
	work
	owner any
	used  uint64
	state slotState
	rest  []byte // not sent yet
	sent  bool   // some of it was sent
	size  int
	px    image.Image // in painted modes
	moves moves
}

type slotState uint8

const (
	slotFree slotState = iota
	slotQueued
	slotShown
	slotBad // it can't be shown
)

// NewGallery makes a gallery. The seed gives the range of its ids, so that other programs most
// likely use none of them.
func NewGallery(seed uint64) *Gallery {
	return &Gallery{base: uint32(seed*0x9e3779b97f4a7c15>>48)<<8 | 0x10000, index: map[work]int{}, limit: maxGallerySize}
}

// Switch sets the properties of the outer terminal.
func (g *Gallery) Switch(o Outer) {
	if o.Moves = o.Moves && !o.painted(); !o.painted() {
		o = Outer{Mode: o.Mode, Moves: o.Moves} // cell size and colours don't matter
	}
	if g.outer != o {
		g.Forget()
	}
	g.outer = o
}

// On reports whether pictures are shown.
func (g *Gallery) On() bool { return g.outer.Mode != Boxes }

// Numbers returns the range of ids that may be in use: n ids from first on.
func (g *Gallery) Numbers() (first uint32, n int) {
	if g.outer.painted() {
		return g.base, 0
	}
	return g.base, len(g.slots)
}

// Forget drops everything, as the outer terminal has no pictures any more.
func (g *Gallery) Forget() {
	g.slots, g.queue, g.size, g.out, g.placed, g.shown = nil, nil, 0, nil, nil, nil
	clear(g.index)
}

// Drop frees the pictures that an owner asked for.
func (g *Gallery) Drop(owner any) {
	for i := range g.slots {
		if g.slots[i].state != slotFree && g.slots[i].owner == owner {
			g.free(i)
		}
	}
}

// Cell returns what to draw for a cell of a picture: a cell that names the picture to the outer
// terminal, or a part of a box. ok says that the picture exists.
func (g *Gallery) Cell(owner any, c *emulator.Cell, p emulator.Placeholder, pic emulator.Picture, ok bool) emulator.Cell {
	if ok && g != nil && g.On() && pic.Image.Data != nil && p.Row < min(pic.Rows, emulator.MaxPictureSide) && p.Col < min(pic.Cols, emulator.MaxPictureSide) {
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

// slot returns the slot of a picture, and whether it shows. It asks for the picture if it has no
// slot.
func (g *Gallery) slot(owner any, pic emulator.Picture) (i int, shown bool) {
	k := work{im: pic.Image, cols: pic.Cols, rows: pic.Rows}
	if !pic.Whole() {
		k.x, k.y, k.w, k.h, k.cuts = pic.X, pic.Y, pic.Width, pic.Height, 1
	}
	g.clock++
	i, ok := g.index[k]
	if !ok {
		size := g.cost(k)
		if i = g.room(size); i < 0 {
			return 0, false
		}
		g.slots[i] = slot{work: k, owner: owner, state: slotQueued, size: size}
		g.index[k] = i
		g.size += size
		g.queue = append(g.queue, i)
	}
	s := &g.slots[i]
	if s.used = g.clock; g.outer.Moves && s.moves.want(pic.Motion) && s.state == slotShown && !slices.Contains(g.queue, i) {
		g.queue = append(g.queue, i)
	}
	return i, g.slots[i].state == slotShown
}

// room returns a free slot for a picture of size bytes, -1 if there is none.
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

// free frees a slot and deletes its picture from the outer terminal.
func (g *Gallery) free(i int) {
	s := &g.slots[i]
	if s.sent && !g.outer.painted() {
		g.out = append(g.out, "\x1b_Ga=d,d=I,q=2,i="+strconv.Itoa(int(g.base)+i)+"\x1b\\"...)
	}
	g.queue = slices.DeleteFunc(g.queue, func(q int) bool { return q == i })
	maps.DeleteFunc(g.placed, func(b block, _ int) bool { return b.slot == i }) // the outer terminal deletes placements with the image
	g.unpaint(i)
	delete(g.index, s.work)
	g.size -= s.size
	*s = slot{}
}

// Pump appends commands that send pictures, about limit bytes at most. arrived says that a
// picture is complete, so that what shows it must be drawn again. more says that there is more to
// send.
func (g *Gallery) Pump(buf []byte, limit int) (out []byte, arrived, more bool) {
	if len(g.queue) == 0 && len(g.out) == 0 {
		return buf, false, false
	}
	if g.outer.painted() {
		g.paintNext()
		return buf, true, len(g.queue) > 0
	}
	end := len(buf) + limit
	for len(g.queue) > 0 && len(buf) < end {
		i := g.queue[0]
		s := &g.slots[i]
		if !s.sent && !s.begin() {
			s.state = slotBad
			g.queue = g.queue[1:]
			continue
		}
		done := false
		if s.state == slotShown {
			buf, done = g.move(buf, i)
		} else if buf, done = g.piece(buf, i); done {
			s.state, s.rest, arrived = slotShown, nil, true
			done = !g.outer.Moves || s.moves.motion == nil
		}
		if done {
			g.queue = g.queue[1:]
		}
	}
	if len(g.queue) == 0 || !g.slots[g.queue[0]].sent { // never within an image
		buf = append(buf, g.out...)
		g.out = g.out[:0]
	}
	return buf, arrived, len(g.queue) > 0 || len(g.out) > 0
}

// begin prepares a slot's data for sending. It reports whether there is any.
func (s *slot) begin() bool {
	im := s.im
	if s.moves.motion == nil && s.cuts == 0 {
		s.moves.motion = picture.Motion(im) // a GIF's animation
	}
	if s.repacked() {
		var ok bool
		if im, ok = s.repack(); !ok {
			return false
		}
	}
	s.rest = im.Data
	return len(s.rest) > 0
}

// piece appends the next piece of slot i, and after the last piece the command that lets cells
// show it. It replaces an earlier image of that id.
func (g *Gallery) piece(buf []byte, i int) (out []byte, done bool) {
	s := &g.slots[i]
	n := strconv.Itoa(int(g.base) + i)
	buf = append(buf, "\x1b_G"...)
	if !s.sent {
		format, w, h, packed := s.im.Format, s.im.Width, s.im.Height, s.im.Zlib
		if s.repacked() {
			format, packed = emulator.FormatRGBA, true
			w, h = s.pixels()
		}
		buf = append(buf, "a=t,i="+n+",f="+strconv.Itoa(format)+",s="+strconv.Itoa(w)+",v="+strconv.Itoa(h)+","...)
		if packed {
			buf = append(buf, "o=z,"...)
			if format == emulator.FormatPNG {
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
	if s.rest = s.rest[k:]; done && g.outer.Mode == Cells {
		buf = append(buf, "\x1b_Ga=p,U=1,q=2,i="+n+",c="+strconv.Itoa(s.cols)+",r="+strconv.Itoa(s.rows)+"\x1b\\"...)
	}
	return buf, done
}

// moves is the part of an animation that the outer terminal has.
type moves struct {
	motion *emulator.Motion // the animation to send; nil for none
	step   int              // number of steps sent
	begun  bool             // the next step was begun
	play   emulator.Play    // as sent last
}

// want sets the animation to send and reports whether it has changed. An animation with missing
// frames is ignored.
func (m *moves) want(now *emulator.Motion) bool {
	if now == nil || m.motion == now {
		return false
	}
	for _, s := range now.Steps[min(m.step, len(now.Steps)):] {
		if s.Data == nil && len(s.Keys) > 2 && s.Keys[:3] == "a=f" {
			return false
		}
	}
	m.motion = now
	return true
}

// move appends the next piece of the animation in slot i. done says that all is sent.
func (g *Gallery) move(buf []byte, i int) (out []byte, done bool) {
	s := &g.slots[i]
	m := &s.moves
	n := strconv.Itoa(int(g.base) + i)
	if m.motion == nil {
		return buf, true
	}
	if m.step < len(m.motion.Steps) {
		step := m.motion.Steps[m.step]
		if !m.begun {
			m.begun, s.rest = true, step.Data
			buf = append(buf, "\x1b_G"+step.Keys+",q=2,i="+n...)
		} else {
			buf = append(buf, "\x1b_Ga=f,q=2"...)
		}
		k := min(len(s.rest), pieceSize)
		if last := k == len(s.rest); last {
			m.begun = false
			m.step++
		} else {
			buf = append(buf, ",m=1"...)
		}
		buf = append(buf, ';')
		buf = base64.StdEncoding.AppendEncode(buf, s.rest[:k])
		s.rest = s.rest[k:]
		return append(buf, "\x1b\\"...), false
	}
	if p := m.motion.Play; p != m.play {
		m.play = p
		buf = append(buf, "\x1b_Ga=a,q=2,i="+n...)
		for _, k := range [...]struct {
			name string
			n    uint32
		}{{",s=", p.State}, {",v=", p.Loops}, {",c=", p.Frame}} {
			if k.n != 0 {
				buf = strconv.AppendUint(append(buf, k.name...), uint64(k.n), 10)
			}
		}
		buf = append(buf, "\x1b\\"...)
	}
	return buf, true
}
