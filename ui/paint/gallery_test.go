package paint

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/png"
	"io"
	"testing"

	"tandemux/emulator"
)

func packed(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b) //nolint:errcheck // never fails
	z.Close()  //nolint:errcheck // never fails
	return out.Bytes()
}

// Whatever a program sent as an image, cropping gives RGBA of the size asked for or
// nothing.
func FuzzCrop(f *testing.F) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 7, 5))); err != nil {
		f.Fatal(err)
	}
	for _, data := range [][]byte{b.Bytes(), b.Bytes()[:40], make([]byte, 7*5*4), packed(make([]byte, 7*5*3)), packed(b.Bytes()), nil} {
		for i, format := range []int{24, 32, 100} {
			f.Add(data, format, i%2 == 0, 7, 5, 1, 2, 3, 3)
		}
	}
	f.Add([]byte{}, 32, false, 1<<30, 1<<30, -1, 0, 1<<31, 5)
	f.Fuzz(func(t *testing.T, data []byte, format int, zip bool, width, height, x, y, w, h int) {
		if format != 24 && format != 32 {
			format = 100
		}
		if width < 1 || height < 1 || width > 2000 || height > 2000 {
			return // the emulator keeps no such image
		}
		im, ok := crop(&emulator.Image{Width: width, Height: height, Format: format, Zlib: zip, Data: data}, x, y, w, h)
		if !ok {
			return
		}
		z, err := zlib.NewReader(bytes.NewReader(im.Data))
		if err != nil {
			t.Fatal(err)
		}
		px, err := io.ReadAll(z)
		if err != nil || len(px) != w*h*4 || im.Width != w || im.Height != h || im.Format != 32 {
			t.Fatalf("%d bytes for %d×%d, %v: %+v", len(px), w, h, err, *im)
		}
	})
}

// An image that says it is smaller than its data is not decoded.
func TestCropTakesNoLargerImage(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 700, 500))); err != nil {
		t.Fatal(err)
	}
	if _, ok := crop(&emulator.Image{Width: 7, Height: 5, Format: 100, Data: b.Bytes()}, 1, 1, 2, 2); ok {
		t.Error("it was cropped")
	}
	if _, ok := crop(&emulator.Image{Width: 700, Height: 500, Format: 100, Data: b.Bytes()}, 1, 1, 2, 2); !ok {
		t.Error("as it is, it was not cropped")
	}
}

// The outer terminal is given so many pictures and bytes at most; what was drawn
// longest ago goes, and what is drawn is there.
func TestGalleryIsBounded(t *testing.T) {
	g := NewGallery(1)
	g.Switch(true, false)
	draw := func(im *emulator.Image) bool {
		pic := emulator.Picture{Image: im, Cols: 1, Rows: 1, Width: im.Width, Height: im.Height}
		c := g.Cell(nil, &emulator.Cell{}, emulator.Placeholder{}, pic, true)
		return c.Rune == emulator.PlaceholderRune
	}
	pump := func() string {
		var buf []byte
		for more := true; more; {
			buf, _, more = g.Pump(buf, 1<<30)
		}
		return string(buf)
	}
	var all []*emulator.Image
	for range 3 * maxGallery {
		im := &emulator.Image{Width: 1, Height: 1, Format: 24, Data: make([]byte, 3)}
		all = append(all, im)
		draw(im)
		pump()
		if !draw(im) {
			t.Fatalf("picture %d is not there", len(all))
		}
	}
	if _, n := g.Numbers(); n != maxGallery {
		t.Errorf("%d numbers are in use", n)
	}
	if draw(all[0]) {
		t.Error("the first one is still there")
	}
	pump()
	g.limit = 64 << 10
	big := make([]byte, g.limit/4)
	for range 8 {
		draw(&emulator.Image{Width: 1, Height: 1, Format: 24, Data: big})
		if out := pump(); !bytes.Contains([]byte(out), []byte("a=d,d=I")) {
			t.Fatal("nothing was freed for a large one")
		}
		if g.size > g.limit {
			t.Fatalf("%d bytes are kept", g.size)
		}
	}
}

// A deletion never comes between the pieces of an image.
func TestGalleryKeepsImagesWhole(t *testing.T) {
	g := NewGallery(2)
	g.Switch(true, false)
	show := func(owner string, n int) {
		im := &emulator.Image{Width: 1, Height: 1, Format: 24, Data: make([]byte, n)}
		g.Cell(owner, &emulator.Cell{}, emulator.Placeholder{}, emulator.Picture{Image: im, Cols: 1, Rows: 1, Width: 1, Height: 1}, true)
	}
	show("a", 3)
	g.Pump(nil, 1<<20)
	show("b", 10*pieceSize)
	g.Pump(nil, 1)
	g.Drop("a")
	out, _, more := g.Pump(nil, 1)
	if bytes.Contains(out, []byte("a=d")) || !more {
		t.Errorf("in the middle of an image: %.80q", out)
	}
	out, arrived, more := g.Pump(nil, 1<<20)
	if i, j := bytes.Index(out, []byte("a=p")), bytes.Index(out, []byte("a=d,d=I,q=2,i="+fmt.Sprint(g.base))); i < 0 || j < i || !arrived || more {
		t.Errorf("the rest is %.200q", out)
	}
}
