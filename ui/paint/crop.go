package paint

import (
	"bytes"
	"compress/zlib"
	"image"
	"image/draw"
	"image/png"
	"io"

	"tandemux/emulator"
)

// maxCrop bounds the images that are decoded to be cropped, in pixels.
const maxCrop = 1 << 24

// crop gives a rectangle of an image as compressed RGBA. Cells that show a picture
// can show it as a whole only, so a part of one is a picture of its own.
func crop(im *emulator.Image, x, y, w, h int) (*emulator.Image, bool) {
	if w <= 0 || h <= 0 || x < 0 || y < 0 || x+w > im.Width || y+h > im.Height || im.Width*im.Height > maxCrop {
		return nil, false
	}
	r := io.Reader(bytes.NewReader(im.Data))
	if im.Zlib {
		z, err := zlib.NewReader(r)
		if err != nil {
			return nil, false
		}
		r = z
	}
	px := make([]byte, 0, w*h*4)
	if im.Format == 100 {
		// It may be larger than was said.
		var head bytes.Buffer
		r = io.LimitReader(r, maxCrop*4)
		size, err := png.DecodeConfig(io.TeeReader(r, &head))
		if err != nil || size.Width != im.Width || size.Height != im.Height {
			return nil, false
		}
		src, err := png.Decode(io.MultiReader(&head, r))
		if err != nil {
			return nil, false
		}
		dst := image.NewNRGBA(image.Rect(0, 0, w, h))
		draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min.Add(image.Pt(x, y)), draw.Src)
		px = dst.Pix
	} else {
		size := im.Format / 8
		row := make([]byte, im.Width*size)
		for i := range y + h {
			if _, err := io.ReadFull(r, row); err != nil {
				return nil, false
			}
			if i < y {
				continue
			}
			for j := x; j < x+w; j++ {
				p := row[j*size:]
				px = append(px, p[0], p[1], p[2])
				if size == 4 {
					px = append(px, p[3])
				} else {
					px = append(px, 0xff)
				}
			}
		}
	}
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil, false
	}
	if _, err := z.Write(px); err != nil || z.Close() != nil {
		return nil, false
	}
	return &emulator.Image{Width: w, Height: h, Format: 32, Zlib: true, Data: b.Bytes()}, true
}
