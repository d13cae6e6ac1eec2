package native

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/base64"
	"io"
	"strconv"

	"tandemux/emulator"
	"tandemux/emulator/picture"
)

// Bounds of pictures; see also pictures.go.
const (
	maxImageBytes  = 8 << 20 // of one image's data, after base64
	maxImageSide   = 10000   // pixels, as picture.MaxSide
	maxImagePixels = 1 << 26
)

// graphic is a command of the kitty graphics protocol: the keys that are used here.
type graphic struct {
	action, medium, packing, what byte // a, t, o, d
	quiet                         uint32
	more, stay, virtual           bool // m, C, U
	format, width, height         uint32
	id, number, placement         uint32
	shown                         // x, y, w, h, X, Y
	cols, rows                    uint32
	z                             int32
	parent                        uint32 // P: a relative placement, which is not supported
}

// shown is a part of an image, in pixels. atX and atY are the keys X and Y, which only
// frames use.
type shown struct{ x, y, w, h, atX, atY uint32 }

// graphicNumbers are the keys with a number as value, graphicLetters those with a letter.
var (
	graphicNumbers = map[byte]func(*graphic) *uint32{
		'q': func(g *graphic) *uint32 { return &g.quiet },
		'f': func(g *graphic) *uint32 { return &g.format },
		's': func(g *graphic) *uint32 { return &g.width },
		'v': func(g *graphic) *uint32 { return &g.height },
		'i': func(g *graphic) *uint32 { return &g.id },
		'I': func(g *graphic) *uint32 { return &g.number },
		'p': func(g *graphic) *uint32 { return &g.placement },
		'x': func(g *graphic) *uint32 { return &g.x },
		'y': func(g *graphic) *uint32 { return &g.y },
		'w': func(g *graphic) *uint32 { return &g.w },
		'h': func(g *graphic) *uint32 { return &g.h },
		'X': func(g *graphic) *uint32 { return &g.atX },
		'Y': func(g *graphic) *uint32 { return &g.atY },
		'c': func(g *graphic) *uint32 { return &g.cols },
		'r': func(g *graphic) *uint32 { return &g.rows },
		'P': func(g *graphic) *uint32 { return &g.parent },
	}
	graphicLetters = map[byte]func(*graphic) *byte{
		'a': func(g *graphic) *byte { return &g.action },
		't': func(g *graphic) *byte { return &g.medium },
		'o': func(g *graphic) *byte { return &g.packing },
		'd': func(g *graphic) *byte { return &g.what },
	}
)

// readGraphic parses a command; ok is false if its keys are malformed.
func readGraphic(body []byte) (g graphic, payload []byte, ok bool) {
	keys, payload, _ := bytes.Cut(body, []byte{';'})
	g = graphic{action: 't', medium: 'd', what: 'a', format: 32}
	for pair := range bytes.SplitSeq(keys, []byte{','}) {
		if len(pair) == 0 {
			continue
		}
		key, v, _ := bytes.Cut(pair, []byte{'='})
		if len(key) != 1 || len(v) == 0 {
			return g, nil, false
		}
		k := key[0]
		if letter := graphicLetters[k]; letter != nil {
			*letter(&g) = v[0]
			continue
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || n < -1<<31 || n >= 1<<32 {
			return g, nil, false
		}
		switch to := graphicNumbers[k]; {
		case to != nil:
			*to(&g) = uint32(n)
		case k == 'm':
			g.more = n == 1
		case k == 'C':
			g.stay = n == 1
		case k == 'U':
			g.virtual = n == 1
		case k == 'z':
			g.z = int32(n)
		}
	}
	return g, payload, true
}

// upload is an image, or a frame, whose data is still incomplete.
type upload struct {
	graphic
	data []byte
	bad  string // the error to answer at its end; "" for none
}

// graphics executes a command of the kitty graphics protocol.
func (e *Engine) graphics(body []byte) {
	g, payload, ok := readGraphic(body)
	if ok && g.medium != 'd' && e.read != nil {
		if body := e.read(body); body != nil {
			g, payload, ok = readGraphic(body)
		}
	}
	if !ok {
		return
	}
	switch g.action {
	case 'q':
		// A query does not touch an upload that is going on.
		up := &upload{graphic: g, bad: g.refusal()}
		up.add(payload)
		_, problem := up.image()
		e.answerGraphic(&g, problem)
	case 't', 'T', 'f':
		e.transmit(g, payload)
	case 'p':
		e.put(g)
	case 'd':
		e.pics.upload = nil
		e.deletePictures(g)
	case 'a', 'c':
		animate(e, g)
	}
}

// answerGraphic tells the child a command's result; problem is "" for success. While no
// viewer can show pictures, it is silent, like a terminal without graphics.
func (e *Engine) answerGraphic(g *graphic, problem string) {
	if !e.sys.Outer.Pictures || g.id == 0 && g.number == 0 || g.quiet >= 2 || g.quiet == 1 && problem == "" {
		return
	}
	b := []byte("\x1b_G")
	for _, k := range []struct {
		name string
		n    uint32
	}{{"i=", g.id}, {"I=", g.number}, {"p=", g.placement}} {
		if k.n != 0 {
			if b[len(b)-1] != 'G' {
				b = append(b, ',')
			}
			b = strconv.AppendUint(append(b, k.name...), uint64(k.n), 10)
		}
	}
	problem = cmp.Or(problem, "OK")
	e.sys.Reply(string(append(append(append(b, ';'), problem...), "\x1b\\"...)))
}

// transmit takes an image's or a frame's data, or the next piece of it.
func (e *Engine) transmit(g graphic, payload []byte) {
	up := e.pics.upload
	if up == nil {
		up = &upload{graphic: g, bad: g.refusal()}
		e.pics.upload = up
	} else {
		up.quiet = max(up.quiet, g.quiet)
	}
	up.add(payload)
	if g.more {
		return
	}
	e.pics.upload = nil
	im, problem := up.image()
	switch {
	case problem != "":
	case up.action == 'f':
		problem = addFrame(e, &up.graphic, im)
	default:
		problem = e.keep(&up.graphic, im)
	}
	e.answerGraphic(&up.graphic, problem)
}

// refusal returns the error for an image that can't be taken, "" for one that can. Files
// and shared memory (any medium but 'd') are only read by Options.Read, before.
func (g *graphic) refusal() string {
	switch {
	case g.id != 0 && g.number != 0:
		return "EINVAL:i and I are given both"
	case g.medium != 'd':
		return "EBADF:the data can't be read here"
	case g.packing != 0 && g.packing != 'z':
		return "EINVAL:unknown compression"
	case g.format != 24 && g.format != 32 && g.format != 100:
		return "EINVAL:unknown format"
	case g.format != 100 && (g.width == 0 || g.height == 0):
		return "EINVAL:width and height are needed"
	case g.width > maxImageSide || g.height > maxImageSide || uint64(g.width)*uint64(g.height) > maxImagePixels:
		return "EFBIG:the image is too large"
	}
	return ""
}

// add decodes a piece of base64 and appends it.
func (u *upload) add(payload []byte) {
	if u.bad != "" {
		return
	}
	enc := base64.StdEncoding
	if len(payload)%4 != 0 {
		enc = base64.RawStdEncoding
	}
	n := len(u.data)
	if n+enc.DecodedLen(len(payload)) > maxImageBytes+2 {
		u.fail("EFBIG:the image is too large")
		return
	}
	data, err := enc.AppendDecode(u.data, payload)
	if err != nil {
		u.fail("EINVAL:the data is not base64")
		return
	}
	u.data = data
}

func (u *upload) fail(why string) { u.bad, u.data = why, nil }

// image returns the complete image, or the error to answer.
func (u *upload) image() (im *emulator.Image, problem string) {
	if u.bad != "" {
		return nil, u.bad
	}
	im = &emulator.Image{
		Width: int(u.width), Height: int(u.height), Format: int(u.format), Zlib: u.packing == 'z', Data: u.data,
	}
	switch size := im.Width * im.Height * im.Format / 8; {
	case u.format == emulator.FormatPNG:
		if !pngSize(im) || !sanePixels(im.Width, im.Height) {
			return nil, "EBADPNG:not a PNG, or one that is too large"
		}
	case im.Zlib:
		if len(im.Data) < 2 || im.Data[0]&0xf != 8 || (uint(im.Data[0])<<8|uint(im.Data[1]))%31 != 0 {
			return nil, "EINVAL:the data is not compressed"
		}
	case len(im.Data) < size:
		return nil, "ENODATA:there is less data than pixels"
	default:
		im.Data = im.Data[:size:size]
	}
	return im, ""
}

// pngSize sets im's size from the PNG's header, which may be compressed by zlib.
func pngSize(im *emulator.Image) (ok bool) {
	head := im.Data
	if im.Zlib {
		z, err := zlib.NewReader(bytes.NewReader(head))
		if err != nil {
			return false
		}
		head = make([]byte, 64)
		n, _ := io.ReadFull(z, head) // picture.Size rejects a short header
		head = head[:n]
	}
	var format int
	format, im.Width, im.Height, ok = picture.Size(head)
	return ok && format == emulator.FormatPNG
}

// put shows an image that was transmitted before.
func (e *Engine) put(g graphic) {
	st := e.pics.find(&g)
	if st == nil {
		e.answerGraphic(&g, "ENOENT:there is no such image")
		return
	}
	g.id = st.id
	e.answerGraphic(&g, e.placePicture(&g, st))
}
