package native

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tandemux/emulator"

	"tandemux/emulator/native/atrest"
)

// savedPicture begins a snapshot's commands about pictures, private APC sequences that other
// terminals ignore. Behind it is one of:
//
//	I,id,number,format,compressed,width,height;base64   an image, without its data if that is too long
//	M;keys;base64                                       a step of its animation, for readGraphic
//	R,frames,state,loops,frame                          its number of frames without the first, and its Play
//	V,placement,cols,rows                               its virtual placement
//	P,n,of,id,placement,z,width,height,cols,rows,x,y,w,h  placement n; with of=1 it is the image's before
//	N,last,oldest                                       pictures.last and pictures.oldest
//
// A program may send them, too: it can do no more with them than draw pictures.
const savedPicture = "tandemux-picture;"

const (
	// maxSavedPictures bounds a snapshot's image data, in bytes of base64. The newest
	// images are saved first.
	maxSavedPictures = 1 << 20
	// maxPacked bounds the data of an image that is compressed for a snapshot, in bytes.
	maxPacked = 4 << 20
)

// packs are the formats to compress, sized those whose pixels determine the length of the
// data, known those that a snapshot may have.
var (
	packs = map[int]bool{emulator.FormatRGB: true, emulator.FormatRGBA: true, emulator.FormatSixel: true}
	sized = map[int]bool{emulator.FormatRGB: true, emulator.FormatRGBA: true}
	known = map[int]bool{
		emulator.FormatRGB: true, emulator.FormatRGBA: true, emulator.FormatPNG: true, emulator.FormatFile: true, emulator.FormatSixel: true,
	}
)

// pack returns the image, compressed if that makes it smaller.
func (st *stored) pack() *emulator.Image {
	if st.packed != nil {
		return st.packed
	}
	st.packed = st.im
	if im := st.im; !im.Zlib && packs[im.Format] && len(im.Data) <= maxPacked {
		var b bytes.Buffer
		if z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed); err == nil {
			if _, err := z.Write(im.Data); err == nil && z.Close() == nil && b.Len() < len(im.Data) {
				small := *im
				small.Zlib, small.Data = true, b.Bytes()
				st.packed = &small
			}
		}
	}
	return st.packed
}

// saved returns the images whose data is in a snapshot, and those whose frames' data is,
// too.
func (ps *pictures) saved() (has, moves map[*stored]bool) {
	has, moves = map[*stored]bool{}, map[*stored]bool{}
	size := 0
	for _, st := range slices.Backward(ps.images) {
		im := st.pack()
		if n := base64.StdEncoding.EncodedLen(len(im.Data)); im.Data != nil && size+n <= maxSavedPictures {
			has[st] = true
			size += n
		}
		n := 0
		if st.motion != nil {
			for _, s := range st.motion.Steps {
				n += base64.StdEncoding.EncodedLen(len(s.Data))
			}
		}
		if has[st] && size+n <= maxSavedPictures {
			moves[st] = true
			size += n
		}
	}
	return has, moves
}

// SnapshotPictures implements emulator.Illustrator.
func (e *Engine) SnapshotPictures() int {
	e.flush()
	w := &writer{e: e}
	w.pictures()
	return len(w.buf)
}

// pictures writes the pictures, before any cell that shows one.
func (w *writer) pictures() {
	ps := &w.e.pics
	if ps.last == 0 && len(ps.images) == 0 && ps.upload == nil {
		return
	}
	has, moves := ps.saved()
	numbers := slices.Sorted(maps.Keys(ps.places))
	place := func(of *stored) {
		for _, n := range numbers {
			if p := ps.places[n]; p.of == of {
				live := 0
				if of != nil {
					live = 1
				}
				w.rawf("\x1b_%sP,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\x1b\\", savedPicture,
					n, live, p.id, p.p, p.z, p.Image.Width, p.Image.Height, p.Cols, p.Rows, p.X, p.Y, p.Width, p.Height)
			}
		}
	}
	for _, st := range ps.images {
		im, packed := st.pack(), 0
		if im.Zlib {
			packed = 1
		}
		w.rawf("\x1b_%sI,%d,%d,%d,%d,%d,%d;", savedPicture, st.id, st.number, im.Format, packed, im.Width, im.Height)
		if has[st] {
			w.buf = base64.StdEncoding.AppendEncode(w.buf, im.Data)
		}
		w.raw("\x1b\\")
		w.motion(st, moves[st])
		for _, p := range slices.Sorted(maps.Keys(st.virtual)) {
			w.rawf("\x1b_%sV,%d,%d,%d\x1b\\", savedPicture, p, st.virtual[p][0], st.virtual[p][1])
		}
		place(st)
	}
	place(nil)
	w.rawf("\x1b_%sN,%d,%d\x1b\\", savedPicture, ps.last, ps.oldest)
	if ps.upload != nil {
		w.upload(ps.upload)
	}
}

// upload writes the received part of an incomplete image. If the image is too long, or will
// be refused anyway, it writes invalid base64, so that the receiver refuses it.
func (w *writer) upload(u *upload) {
	w.raw("\x1b_G")
	for _, k := range []byte("qfsviIpxywhXYcrP") {
		if n := *graphicNumbers[k](&u.graphic); n != 0 {
			w.rawf("%c=%d,", k, n)
		}
	}
	for _, k := range []byte("ato") {
		if v := *graphicLetters[k](&u.graphic); v != 0 {
			w.rawf("%c=%c,", k, v)
		}
	}
	for k, on := range map[byte]bool{'C': u.stay, 'U': u.virtual} {
		if on {
			w.rawf("%c=1,", k)
		}
	}
	w.rawf("z=%d,m=1;", u.z)
	if u.bad != "" || base64.StdEncoding.EncodedLen(len(u.data)) > maxSavedPictures {
		w.raw("!")
	} else {
		w.buf = base64.StdEncoding.AppendEncode(w.buf, u.data)
	}
	w.raw("\x1b\\")
}

// restorePicture executes a command that writer.pictures wrote.
func (e *Engine) restorePicture(body []byte) {
	if step, ok := bytes.CutPrefix(body, []byte("M;")); ok {
		e.pics.restoreStep(step)
		return
	}
	keys, data, _ := bytes.Cut(body, []byte{';'})
	fields := bytes.Split(keys, []byte{','})
	var v [13]int
	if len(fields) > len(v)+1 || len(fields[0]) != 1 {
		return
	}
	for i, f := range fields[1:] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil || n < -1<<31 || n >= 1<<32 {
			return
		}
		v[i] = int(n)
	}
	switch kind := fmt.Sprint(string(fields[0]), len(fields)-1); kind {
	case "I6":
		e.pics.restoreImage(v, data)
	case "R4":
		if n := len(e.pics.images); n > 0 && v[0] >= 0 && v[0] < maxFrames {
			st := e.pics.images[n-1]
			st.frames = uint32(v[0])
			st.play(emulator.Play{State: uint32(v[1]), Loops: uint32(v[2]), Frame: uint32(v[3])})
		}
	case "V3":
		if n := len(e.pics.images); n > 0 && saneSize(v[1], v[2]) {
			st := e.pics.images[n-1]
			if st.virtual == nil {
				st.virtual = map[uint32][2]int{}
			}
			if len(st.virtual) < maxVirtual {
				st.virtual[uint32(v[0])] = [2]int{v[1], v[2]}
			}
		}
	case "P13":
		e.pics.restorePlace(v)
	case "N2":
		e.pics.last, e.pics.oldest = uint32(v[0])&0xffffff, uint32(v[1])&0xffffff
	}
}

func saneSize(cols, rows int) bool {
	return cols > 0 && rows > 0 && cols <= emulator.MaxPictureSide && rows <= emulator.MaxPictureSide
}

func sanePixels(w, h int) bool {
	return w > 0 && h > 0 && w <= maxImageSide && h <= maxImageSide && w*h <= maxImagePixels
}

func (ps *pictures) restoreImage(v [13]int, data []byte) {
	im := &emulator.Image{Format: v[2], Zlib: v[3] == 1, Width: v[4], Height: v[5]}
	if !sanePixels(im.Width, im.Height) || !known[im.Format] {
		return
	}
	if len(data) > 0 {
		raw, err := base64.StdEncoding.AppendDecode(nil, data)
		if err != nil || len(raw) > maxImageBytes || !im.Zlib && sized[im.Format] && len(raw) != im.Width*im.Height*im.Format/8 {
			return
		}
		im.Data = raw
	}
	st := &stored{id: uint32(v[0]), number: uint32(v[1]), im: im}
	ps.images = append(ps.images, st)
	ps.size += len(im.Data)
	ps.bound(st)
}

func (ps *pictures) restorePlace(v [13]int) {
	n := uint32(v[0]) & 0xffffff
	pic := emulator.Picture{
		Image: &emulator.Image{Width: v[5], Height: v[6]}, Cols: v[7], Rows: v[8], X: v[9], Y: v[10], Width: v[11], Height: v[12],
	}
	if !sanePixels(v[5], v[6]) || !saneSize(v[7], v[8]) || !sanePixels(v[11], v[12]) ||
		pic.X < 0 || pic.Y < 0 || pic.X+pic.Width > v[5] || pic.Y+pic.Height > v[6] || len(ps.places) >= maxPlacements {
		return
	}
	p := &placed{Picture: pic, id: uint32(v[2]), p: uint32(v[3]), z: int32(v[4])}
	if k := len(ps.images); v[1] == 1 && k > 0 {
		if st := ps.images[k-1]; st.im.Width == v[5] && st.im.Height == v[6] {
			p.of, p.Image = st, st.im
		}
	}
	if ps.places == nil {
		ps.places = map[uint32]*placed{}
	}
	ps.places[n] = p
}

// run is the longest sequence of cells at a line's end that show adjacent parts of a
// picture.
type run struct {
	x        int    // the column where it begins
	end      []int  // the offset in the encoded line behind each of its cells
	n        uint32 // its placement
	row, col int    // of its last cell in the picture
}

// fit cuts a picture at a line's end to the new width, since it must not wrap. It extends a
// picture that the old width had cut, as far as there is room now.
func (s *source) fit(l histLine, data []byte, from, to int) (histLine, []byte) {
	cells := int(l.cells)
	if len(s.e.pics.places) == 0 || l.flags != 0 || cells <= to && (cells != from || to <= from) {
		return l, data
	}
	r := s.e.lastRun(data)
	p := s.e.pics.places[r.n]
	switch {
	case len(r.end) == 0 || r.x >= to || r.x+len(r.end) != cells:
		return l, data
	case cells > to:
		l.cells = uint16(to)
		return l, data[:r.end[to-r.x-1]]
	case p == nil:
		return l, data
	}
	s.cut = append(s.cut[:0], data...)
	for r.col++; r.col < p.Cols && cells < to; r.col++ {
		at := len(s.cut)
		s.cut = emulator.AppendPlaceholder(append(s.cut, atrest.Cluster, 0), emulator.PictureRune, r.row, r.col, 0)
		s.cut[at+1] = byte(len(s.cut) - at - 2)
		cells++
	}
	l.cells = uint16(cells)
	return l, s.cut
}

// lastRun finds the run at the end of an encoded line.
func (e *Engine) lastRun(line []byte) (r run) {
	var st style
	x := 0
	for at := 0; at < len(line); {
		t, n := atrest.Next(line[at:])
		at += n
		if t.Kind == atrest.Style {
			st, _ = e.decodeStyle(t.Text)
			continue
		}
		part := emulator.Placeholder{}
		if t.Kind == atrest.Cluster {
			c := emulator.Cell{Style: st.Style}
			c.Rune, c.Combining = splitCluster(string(t.Text))
			emulator.Placeholders([]emulator.Cell{c}, func(_ int, p emulator.Placeholder) { part = p })
		}
		switch {
		case !part.Own:
			r = run{}
		case len(r.end) > 0 && r.n == part.ID && r.row == part.Row && r.col+1 == part.Col:
			r.col++
			r.end = append(r.end, at)
		default:
			r = run{x: x, n: part.ID, row: part.Row, col: part.Col, end: []int{at}}
		}
		x += t.Width()
	}
	return r
}
