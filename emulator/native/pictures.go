package native

import (
	"slices"
	"strings"

	"tandemux/emulator"
)

// Bounds of what is kept. The oldest images are dropped first, those without a placement
// before others. The size of a dropped image is kept with its placements.
const (
	maxImages     = 256
	maxImagesSize = 32 << 20 // bytes of data
	maxPlacements = 4096
	maxVirtual    = 64 // of one image
)

// stored is an image, with the program's names for it.
type stored struct {
	id, number uint32 // 0 for none
	im         *emulator.Image
	virtual    map[uint32][2]int // columns and rows by the program's placement id
	packed     *emulator.Image   // im for snapshots, compressed if that helps; nil until the first
	moving
}

// placed is a picture that the engine printed.
type placed struct {
	emulator.Picture
	of    *stored // nil if the image was dropped
	id, p uint32  // the program's ids of the image and the placement
	z     int32
}

// pictures are the pictures of both screens and of the history.
type pictures struct {
	images []*stored // oldest first
	size   int
	places map[uint32]*placed
	oldest uint32 // no smaller number is in places
	last   uint32 // number of the newest placement; 24 bits
	upload *upload
}

// find returns the image that a command names, nil for none.
func (ps *pictures) find(g *graphic) *stored {
	for i := len(ps.images) - 1; i >= 0; i-- {
		st := ps.images[i]
		if g.id != 0 && st.id == g.id || g.id == 0 && g.number != 0 && st.number == g.number {
			return st
		}
	}
	return nil
}

// free returns an id that no image has.
func (ps *pictures) free() uint32 {
	id := uint32(1)
	for i := 0; i < len(ps.images); i++ {
		if ps.images[i].id == id {
			id, i = id+1, -1
		}
	}
	return id
}

// showing returns the images that have a placement.
func (ps *pictures) showing() map[*stored]bool {
	shown := map[*stored]bool{}
	for _, p := range ps.places {
		shown[p.of] = true
	}
	for _, st := range ps.images {
		if len(st.virtual) > 0 {
			shown[st] = true
		}
	}
	return shown
}

// keep stores an image, and shows it if the action is 'T'.
func (e *Engine) keep(g *graphic, im *emulator.Image) (problem string) {
	ps := &e.pics
	switch {
	case g.number != 0:
		g.id = ps.free()
	case g.id != 0:
		if old := ps.find(g); old != nil {
			e.forget(func(p *placed) bool { return p.of == old })
			ps.drop(old)
		}
	}
	st := &stored{id: g.id, number: g.number, im: im}
	ps.images = append(ps.images, st)
	ps.size += len(im.Data)
	ps.bound(st)
	if g.action == 'T' {
		return e.placePicture(g, st)
	}
	return ""
}

// bound drops images, except but, until the bounds are kept.
func (ps *pictures) bound(but *stored) {
	full := func() bool { return len(ps.images) > maxImages || ps.size > maxImagesSize }
	if !full() {
		return
	}
	shown := ps.showing()
	for full() {
		i := slices.IndexFunc(ps.images, func(st *stored) bool { return st != but && !shown[st] })
		ps.drop(ps.images[max(i, 0)])
	}
}

// drop forgets an image. Its placements stay, with its size.
func (ps *pictures) drop(st *stored) {
	i := slices.Index(ps.images, st)
	if i < 0 {
		return
	}
	ps.images = slices.Delete(ps.images, i, i+1)
	ps.size -= len(st.im.Data) + st.bytes
	husk := &emulator.Image{Width: st.im.Width, Height: st.im.Height}
	for _, p := range ps.places {
		if p.of == st {
			p.of, p.Image = nil, husk
		}
	}
}

// add adds a placement and returns its number.
func (ps *pictures) add(p *placed) uint32 {
	if ps.places == nil {
		ps.places = map[uint32]*placed{}
	}
	if ps.last++; ps.last > 0xffffff {
		ps.last, ps.oldest = 1, 1
		clear(ps.places)
	}
	ps.places[ps.last] = p
	for ; len(ps.places) > maxPlacements; ps.oldest++ {
		delete(ps.places, ps.oldest)
	}
	return ps.last
}

// placement returns the placement whose part a cell shows and its number. The number is 0
// if the cell is no picture's, the placement nil also if it was deleted.
func (e *Engine) placement(c cell) (*placed, uint32) {
	if c&clusterBit == 0 || !strings.HasPrefix(e.texts.list[c&runeMask], string(emulator.PictureRune)) {
		return nil, 0
	}
	r, g, b, _ := e.styles.list[c.style()].FG.RGB()
	n := uint32(r)<<16 | uint32(g)<<8 | uint32(b)
	return e.pics.places[n], n
}

// forget deletes the placements for which goes is true and their cells on the screens.
// Their cells in history stay, without a picture.
func (e *Engine) forget(goes func(*placed) bool) {
	gone := false
	for n, p := range e.pics.places {
		if goes(p) {
			delete(e.pics.places, n)
			gone = true
		}
	}
	if !gone {
		return
	}
	for i := range e.screens {
		for y, r := range e.screens[i].lines {
			for x, c := range r.cells[:r.used] {
				if p, n := e.placement(c); p != nil || n == 0 {
					continue
				}
				r.cells[x] = e.half(c)
				if &e.screens[i] == e.scr {
					e.mark(y, x, x+1)
				}
			}
		}
	}
	e.last.ok = false
}

// visible returns the placements on the current screen that have a cell for which where is
// true.
func (e *Engine) visible(where func(x, y int) bool) map[*placed]bool {
	found := map[*placed]bool{}
	for y, r := range e.scr.lines {
		for x, c := range r.cells[:r.used] {
			if p, _ := e.placement(c); p != nil && where(x, y) {
				found[p] = true
			}
		}
	}
	return found
}

// places are the values of d that delete by place, with the test of a cell's place.
var places = map[byte]func(g *graphic, e *Engine, x, y int) bool{
	'a': func(*graphic, *Engine, int, int) bool { return true },
	'z': func(*graphic, *Engine, int, int) bool { return true },
	'c': func(_ *graphic, e *Engine, x, y int) bool { return x == e.cur.x && y == e.cur.y },
	'p': func(g *graphic, _ *Engine, x, y int) bool { return x+1 == int(g.x) && y+1 == int(g.y) },
	'q': func(g *graphic, _ *Engine, x, y int) bool { return x+1 == int(g.x) && y+1 == int(g.y) },
	'x': func(g *graphic, _ *Engine, x, _ int) bool { return x+1 == int(g.x) },
	'y': func(g *graphic, _ *Engine, _, y int) bool { return y+1 == int(g.y) },
}

// deletePictures is a=d. Deletion by place only concerns placements on the screen.
func (e *Engine) deletePictures(g graphic) {
	what, data := g.what|0x20, g.what < 'a'
	affected := map[*stored]bool{} // whose data is dropped if no placement is left
	gone := func(p *placed) bool {
		if p.of != nil {
			affected[p.of] = true
		}
		return true
	}
	if at := places[what]; at != nil {
		if len(e.pics.places) == 0 {
			return
		}
		found := e.visible(func(x, y int) bool { return at(&g, e, x, y) })
		e.forget(func(p *placed) bool {
			return found[p] && (what != 'z' && what != 'q' || p.z == g.z) && gone(p)
		})
	} else {
		e.deleteNamed(&g, what, affected, gone)
	}
	if !data {
		return
	}
	shown := e.pics.showing()
	for st := range affected {
		if !shown[st] {
			e.pics.drop(st)
		}
	}
}

// deleteNamed deletes by id (i), number (n) or range of ids (r).
func (e *Engine) deleteNamed(g *graphic, what byte, affected map[*stored]bool, gone func(*placed) bool) {
	named := map[*stored]bool{}
	switch what {
	case 'i', 'n':
		if what == 'n' {
			g.id = 0
		}
		if st := e.pics.find(g); st != nil {
			named[st] = true
		}
	case 'r':
		for _, st := range e.pics.images {
			named[st] = st.id != 0 && st.id >= g.x && st.id <= g.y
		}
	}
	for st, is := range named {
		if is {
			affected[st] = true
			if g.placement == 0 || what == 'r' {
				st.virtual = nil
			} else {
				delete(st.virtual, g.placement)
			}
		}
	}
	e.forget(func(p *placed) bool {
		return named[p.of] && (g.placement == 0 || what == 'r' || p.p == g.placement) && gone(p)
	})
	if len(named) > 0 {
		e.damageAll = true // there may be cells that the program printed for them
	}
}

// Picture implements emulator.Illustrator.
func (e *Engine) Picture(ph emulator.Placeholder) (emulator.Picture, bool) {
	if ph.Own {
		if p := e.pics.places[ph.ID]; p != nil {
			pic := p.Picture
			if p.of != nil {
				pic.Motion = p.of.motion
			}
			return pic, true
		}
		return emulator.Picture{}, false
	}
	if ph.ID == 0 {
		return emulator.Picture{}, false
	}
	st := e.pics.find(&graphic{id: ph.ID})
	if st == nil || len(st.virtual) == 0 {
		return emulator.Picture{}, false
	}
	size, ok := st.virtual[ph.Placement]
	if !ok {
		if ph.Placement != 0 {
			return emulator.Picture{}, false
		}
		first := ^uint32(0)
		for p := range st.virtual {
			first = min(first, p)
		}
		size = st.virtual[first]
	}
	return emulator.Picture{Image: st.im, Cols: size[0], Rows: size[1], Width: st.im.Width, Height: st.im.Height, Motion: st.motion}, true
}
