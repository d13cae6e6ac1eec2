package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"tandemux/emulator"
)

// Bounds of pictures.
const (
	MaxSide   = 10000   // pixels
	MaxPixels = 1 << 24 // of what is decoded
)

var (
	errSize = errors.New("the picture is too large, or of another size than it says")
	errData = errors.New("there is less data than pixels")
)

// Size reads what a file is, and its size, from its beginning; ok is false for one that
// is no picture, or has a side without pixels or with too many.
func Size(file []byte) (format, w, h int, ok bool) {
	r := bytes.NewReader(file)
	var c image.Config
	var err error
	switch {
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")) && len(file) >= 24:
		side := func(at int) int { return int(min(binary.BigEndian.Uint32(file[at:]), MaxSide+1)) }
		format, c.Width, c.Height = emulator.FormatPNG, side(16), side(20)
	case bytes.HasPrefix(file, []byte("GIF8")):
		format = emulator.FormatFile
		c, err = gif.DecodeConfig(r)
	case bytes.HasPrefix(file, []byte("\xff\xd8\xff")):
		format = emulator.FormatFile
		c, err = jpeg.DecodeConfig(r)
	default:
		return 0, 0, 0, false
	}
	return format, c.Width, c.Height, err == nil && sane(c.Width, c.Height)
}

func sane(w, h int) bool { return w > 0 && h > 0 && w <= MaxSide && h <= MaxSide }

// Decode gives the pixels of an image, of which a GIF shows its first frame.
func Decode(im *emulator.Image) (*image.NRGBA, error) {
	if !sane(im.Width, im.Height) || im.Width*im.Height > MaxPixels {
		return nil, errSize
	}
	r := io.Reader(bytes.NewReader(im.Data))
	if im.Zlib {
		z, err := zlib.NewReader(r)
		if err != nil {
			return nil, err
		}
		r = io.LimitReader(z, MaxPixels*4)
	}
	switch im.Format {
	case emulator.FormatRGB, emulator.FormatRGBA:
		return raw(r, im)
	case emulator.FormatSixel:
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return DecodeSixel(data, im.Width, im.Height), nil
	}
	return file(r, im)
}

// raw reads pixels row by row.
func raw(r io.Reader, im *emulator.Image) (*image.NRGBA, error) {
	out := image.NewNRGBA(image.Rect(0, 0, im.Width, im.Height))
	if im.Format == emulator.FormatRGBA {
		if _, err := io.ReadFull(r, out.Pix); err != nil {
			return nil, errData
		}
		return out, nil
	}
	row := make([]byte, im.Width*3)
	for to := out.Pix; len(to) > 0; {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, errData
		}
		for p := row; len(p) > 0; p, to = p[3:], to[4:] {
			to[0], to[1], to[2], to[3] = p[0], p[1], p[2], 0xff
		}
	}
	return out, nil
}

// file decodes a PNG, a JPEG or a GIF, if its size is the one that was said.
func file(r io.Reader, im *emulator.Image) (*image.NRGBA, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if _, w, h, ok := Size(data); !ok || w != im.Width || h != im.Height {
		return nil, errSize
	}
	decode := png.Decode
	switch {
	case data[0] == 'G':
		decode = gif.Decode
	case data[0] == 0xff:
		decode = jpeg.Decode
	}
	src, err := decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out := image.NewNRGBA(image.Rect(0, 0, im.Width, im.Height))
	b := src.Bounds() // a GIF's first frame may be a part
	draw.Draw(out, b, src, b.Min, draw.Src)
	return out, nil
}

// Pack gives pixels as an image of compressed RGBA.
func Pack(px *image.NRGBA) (*emulator.Image, error) {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	w, h := px.Rect.Dx(), px.Rect.Dy()
	for y := range h {
		at := y * px.Stride
		if _, err := z.Write(px.Pix[at : at+w*4]); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return &emulator.Image{Width: w, Height: h, Format: emulator.FormatRGBA, Zlib: true, Data: b.Bytes()}, nil
}

// Part gives a rectangle of the pixels, which shares their memory; ok is false when it
// is not inside.
func Part(px *image.NRGBA, x, y, w, h int) (part *image.NRGBA, ok bool) {
	r := image.Rect(x, y, x+w, y+h)
	if w <= 0 || h <= 0 || !r.In(px.Rect) {
		return nil, false
	}
	at := px.PixOffset(x, y)
	return &image.NRGBA{Pix: px.Pix[at:], Stride: px.Stride, Rect: image.Rect(0, 0, w, h)}, true
}

// Scale gives the pixels in another size, with transparent ones to the right and below
// up to the whole of it: each of the new ones is the mean of those that it covers.
func Scale(px *image.NRGBA, w, h, wholeW, wholeH int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, wholeW, wholeH))
	w, h = min(w, wholeW), min(h, wholeH)
	fromW, fromH := px.Rect.Dx(), px.Rect.Dy()
	if w <= 0 || h <= 0 || fromW == 0 || fromH == 0 {
		return out
	}
	for y := range h {
		y0 := y * fromH / h
		y1 := max((y+1)*fromH/h, y0+1)
		to := out.Pix[y*out.Stride:]
		for x := range w {
			x0 := x * fromW / w
			x1 := max((x+1)*fromW/w, x0+1)
			var r, g, b, a, n uint64
			for j := y0; j < y1; j++ {
				for p := px.Pix[j*px.Stride+x0*4 : j*px.Stride+x1*4]; len(p) > 0; p = p[4:] {
					alpha := uint64(p[3])
					r, g, b = r+uint64(p[0])*alpha, g+uint64(p[1])*alpha, b+uint64(p[2])*alpha
					a, n = a+alpha, n+1
				}
			}
			if a > 0 {
				to[x*4], to[x*4+1], to[x*4+2], to[x*4+3] = uint8(r/a), uint8(g/a), uint8(b/a), uint8(a/n)
			}
		}
	}
	return out
}
