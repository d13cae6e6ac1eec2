package picture

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"tandemux/emulator"
)

// dots gives the pixels as letters, by rows: of primary colours, grey and nothing.
func dots(px *image.NRGBA) string {
	var b strings.Builder
	for y := range px.Rect.Dy() {
		for x := range px.Rect.Dx() {
			switch c := px.NRGBAAt(x, y); {
			case c.A == 0:
				b.WriteByte('.')
			case c.R > 200 && c.G < 50 && c.B < 50:
				b.WriteByte('r')
			case c.G > 200 && c.R < 50 && c.B < 50:
				b.WriteByte('g')
			case c.B > 200 && c.R < 50 && c.G < 50:
				b.WriteByte('b')
			case c.R > 200 && c.G > 200 && c.B > 200:
				b.WriteByte('w')
			default:
				b.WriteByte('?')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestSixel(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"bits are rows, from the top", `q"1;1#1;2;100;0;0@A`, "r.\n.r\n"},
		{"a repeat, the left again, another colour", `q"1;1#1;2;100;0;0!3@$#2;2;0;100;0A!2?A`, "rrr.\ng..g\n"},
		{"bands", `q"1;1#1;2;0;0;100@--@`, "b\n" + strings.Repeat(".\n", 11) + "b\n"},
		{"the size that is said, and more than that", `q"1;1;3;2#1;2;100;0;0C`, "...\n...\nr..\n"},
		{"twice as high", `q#1;2;100;0;0@`, "r\nr\n"},
		{"its height by P1", `2q#1;2;100;0;0@`, "r\nr\nr\nr\nr\n"},
		{"hues: blue, red, green", `9q#1;1;0;50;100@#1;1;120;50;100@#1;1;240;50;100@`, "brg\n"},
		{"white by lightness", `9q#1;1;77;100;100@`, "w\n"},
		{"a register that changes", `9q#1;2;100;0;0@#1;2;0;100;0@`, "rg\n"},
		{"what is not of it", "9q#1;2;100;0;0\r\n @ \x7f@", "rr\n"},
	} {
		w, h, ok := SixelSize([]byte(c.data))
		if !ok {
			t.Errorf("%s: %d×%d is no size", c.name, w, h)
			continue
		}
		if got := dots(DecodeSixel([]byte(c.data), w, h)); got != c.want {
			t.Errorf("%s: %q is\n%swant\n%s", c.name, c.data, got, c.want)
		}
	}
	for _, data := range []string{"", "q", "0;1", "q????", "q$-#1", `q"1;1;9999;9999`, `q!99999999999999999999~!99999~` + strings.Repeat("-!9999~", 2000)} {
		if w, h, ok := SixelSize([]byte(data)); ok {
			t.Errorf("%.40q is %d×%d", data, w, h)
		}
	}
}

// What asks for more work than its pixels are worth is given up.
func TestSixelWork(t *testing.T) {
	for repeats, done := range map[int]bool{10: true, maxSixelWork/(4000*6) + 1: false} {
		data := []byte(`q"1;1;4000;4000` + strings.Repeat("!4000~$", repeats) + "-@")
		w, h, ok := SixelSize(data)
		if !ok {
			t.Fatalf("%d×%d", w, h)
		}
		if px := DecodeSixel(data, w, h); (px.NRGBAAt(0, 6).A != 0) != done {
			t.Errorf("drawn over %d times, the rest is there: %v", repeats, !done)
		}
	}
}

// sample is a picture with some colours and some transparent pixels.
func sample(r *rand.Rand, w, h, colors int) *image.NRGBA {
	px := image.NewNRGBA(image.Rect(0, 0, w, h))
	all := []color.NRGBA{{}}
	for range colors {
		all = append(all, rgb(r.IntN(101), r.IntN(101), r.IntN(101)))
	}
	for i := range w * h {
		px.SetNRGBA(i%w, i/w, all[r.IntN(len(all))])
	}
	return px
}

// A picture of few colours is the same when it has been a sixel picture, and so is each
// part of it.
func TestSixelRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		px := sample(r, 1+r.IntN(70), 1+r.IntN(40), 1+r.IntN(100))
		pal := Quantise(px, 256)
		rect := px.Rect
		if i%2 == 1 {
			rect = image.Rect(rect.Dx()/3, rect.Dy()/3, rect.Dx(), rect.Dy())
		}
		data := AppendSixel(nil, pal, rect)
		body := bytes.TrimSuffix(bytes.TrimPrefix(data, []byte("\x1bP")), []byte("\x1b\\"))
		body = append([]byte("9"), body[bytes.IndexByte(body, 'q'):]...)
		w, h, ok := SixelSize(body)
		if !ok || w != rect.Dx() || h != rect.Dy() {
			t.Fatalf("%d: %d×%d for %v", i, w, h, rect)
		}
		got := DecodeSixel(body, w, h)
		for y := range h {
			for x := range w {
				if g, want := got.NRGBAAt(x, y), px.NRGBAAt(rect.Min.X+x, rect.Min.Y+y); g != want {
					t.Fatalf("%d: pixel %d,%d is %v, want %v", i, x, y, g, want)
				}
			}
		}
	}
}

// A picture of many colours is near to what it was, in as many as were asked for.
func TestQuantise(t *testing.T) {
	const w, h = 128, 128
	px := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		px.SetNRGBA(i%w, i/w, color.NRGBA{R: uint8(2 * (i % w)), G: uint8(2 * (i / w)), B: uint8(i % 256), A: 0xff})
	}
	for _, c := range []struct{ colors, off int }{{256, 12}, {17, 40}, {2, 255}} {
		pal := Quantise(px, c.colors)
		if len(pal.Palette) > c.colors {
			t.Errorf("%d colours, %d were asked for", len(pal.Palette), c.colors)
		}
		sum := 0
		for i, n := range pal.Pix {
			if n == 0 {
				t.Fatalf("pixel %d is transparent", i)
			}
			got, want := pal.Palette[n].(color.NRGBA), px.NRGBAAt(i%w, i/w)
			sum += abs(int(got.R)-int(want.R)) + abs(int(got.G)-int(want.G)) + abs(int(got.B)-int(want.B))
		}
		if off := sum / (3 * w * h); off > c.off {
			t.Errorf("in %d colours the mean is off by %d", c.colors, off)
		}
	}
}

func TestScale(t *testing.T) {
	px := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	red, blue := color.NRGBA{R: 255, A: 255}, color.NRGBA{B: 255, A: 255}
	px.SetNRGBA(0, 0, red)
	px.SetNRGBA(1, 0, red)
	px.SetNRGBA(0, 1, blue)
	px.SetNRGBA(1, 1, color.NRGBA{})
	if got, want := dots(Scale(px, 4, 4, 5, 5)), "rrrr.\nrrrr.\nbb...\nbb...\n.....\n"; got != want {
		t.Errorf("larger it is\n%s", got)
	}
	if c := Scale(px, 2, 1, 2, 1).NRGBAAt(1, 0); c != (color.NRGBA{R: 255, A: 127}) {
		t.Errorf("half transparent it is %v", c) // what is not there has no colour
	}
}

// files is a picture in all that programs send.
func files(t testing.TB) map[string]*emulator.Image {
	px := sample(rand.New(rand.NewPCG(3, 4)), 7, 5, 8)
	var a, b, c bytes.Buffer
	pal := Quantise(px, 256)
	frame := image.NewPaletted(image.Rect(2, 1, 5, 4), pal.Palette)
	for _, err := range []error{
		png.Encode(&a, px), jpeg.Encode(&b, px, nil),
		gif.EncodeAll(&c, &gif.GIF{Image: []*image.Paletted{frame, pal}, Delay: []int{1, 1}, Config: image.Config{Width: 7, Height: 5, ColorModel: pal.Palette}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rgb := make([]byte, 0, 7*5*3)
	for i := 0; i < len(px.Pix); i += 4 {
		rgb = append(rgb, px.Pix[i:i+3]...)
	}
	packed := func(b []byte) []byte {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		z.Write(b) //nolint:errcheck // never fails
		z.Close()  //nolint:errcheck // never fails
		return out.Bytes()
	}
	six := AppendSixel(nil, pal, pal.Rect)
	six = six[2 : len(six)-2]
	of := func(format int, zip bool, data []byte) *emulator.Image {
		return &emulator.Image{Width: 7, Height: 5, Format: format, Zlib: zip, Data: data}
	}
	return map[string]*emulator.Image{
		"png": of(emulator.FormatPNG, false, a.Bytes()), "packed png": of(emulator.FormatPNG, true, packed(a.Bytes())),
		"jpeg": of(emulator.FormatFile, false, b.Bytes()), "gif": of(emulator.FormatFile, false, c.Bytes()),
		"rgba": of(emulator.FormatRGBA, false, px.Pix), "rgb": of(emulator.FormatRGB, true, packed(rgb)),
		"sixel": of(emulator.FormatSixel, false, six), "packed sixel": of(emulator.FormatSixel, true, packed(six)),
	}
}

func TestDecode(t *testing.T) {
	for name, im := range files(t) {
		px, err := Decode(im)
		if err != nil || px.Rect != image.Rect(0, 0, 7, 5) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := Pack(px)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Decode(again); err != nil || !bytes.Equal(back.Pix, px.Pix) {
			t.Errorf("%s: packed it is another one: %v", name, err)
		}
		if im.Zlib || im.Format != emulator.FormatPNG && im.Format != emulator.FormatFile {
			continue
		}
		if format, w, h, ok := Size(im.Data); format != im.Format || w != 7 || h != 5 || !ok {
			t.Errorf("%s: it is %d, %d×%d, %v", name, format, w, h, ok)
		}
		larger := *im
		larger.Width = 8
		if _, err := Decode(&larger); err == nil {
			t.Errorf("%s: the size that was said counts for nothing", name)
		}
	}
	for _, im := range []*emulator.Image{
		{Width: 5000, Height: 5000, Format: emulator.FormatRGB},
		{Width: 2, Height: 2, Format: emulator.FormatRGBA, Data: make([]byte, 15)},
		{Width: -1, Height: 2, Format: emulator.FormatSixel},
		{Width: 2, Height: 2, Format: emulator.FormatFile, Data: []byte("GIF89a")},
	} {
		if _, err := Decode(im); err == nil {
			t.Errorf("%d×%d of %d bytes were decoded", im.Width, im.Height, len(im.Data))
		}
	}
}

// A GIF's frames, each as it shows, whatever becomes of the one before it.
func TestMotion(t *testing.T) {
	white, red, blue := color.NRGBA{255, 255, 255, 255}, color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 255}
	pal := color.Palette{color.NRGBA{}, white, red, blue}
	frame := func(r image.Rectangle, n uint8) *image.Paletted {
		p := image.NewPaletted(r, pal)
		for i := range p.Pix {
			p.Pix[i] = n
		}
		return p
	}
	all := image.Rect(0, 0, 2, 1)
	left := image.Rect(0, 0, 1, 1)
	g := &gif.GIF{
		Image:    []*image.Paletted{frame(all, 1), frame(left, 2), frame(left, 3), frame(image.Rect(1, 0, 2, 1), 2)},
		Delay:    []int{5, 0, 7, 8},
		Disposal: []byte{gif.DisposalNone, gif.DisposalPrevious, gif.DisposalBackground, gif.DisposalNone},
		Config:   image.Config{Width: 2, Height: 1, ColorModel: pal}, LoopCount: 3,
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	im := &emulator.Image{Width: 2, Height: 1, Format: emulator.FormatFile, Data: b.Bytes()}
	m := Motion(im)
	if m == nil || m.Play != (emulator.Play{State: 3, Loops: 5}) {
		t.Fatalf("%+v", m)
	}
	got := ""
	for _, s := range m.Steps {
		got += s.Keys + "\n"
		if s.Data != nil {
			px, err := Decode(&emulator.Image{Width: 2, Height: 1, Format: emulator.FormatRGBA, Zlib: true, Data: s.Data})
			if err != nil {
				t.Fatal(err)
			}
			got += dots(px)
		}
	}
	if want := "a=a,r=1,z=50\na=f,f=32,s=2,v=1,X=1,o=z,z=20\nrw\na=f,f=32,s=2,v=1,X=1,o=z,z=70\nbw\na=f,f=32,s=2,v=1,X=1,o=z,z=80\n.r\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	g.Image, g.Delay, g.Disposal = g.Image[:1], g.Delay[:1], g.Disposal[:1]
	b.Reset()
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	im.Data = b.Bytes()
	if Motion(im) != nil {
		t.Error("one frame moves")
	}
	many := append(bytes.Clone(im.Data[:len(im.Data)-1]), bytes.Repeat([]byte{',', 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 2, 0}, 1000)...)
	im.Data = many
	if n, area := gifFrames(many); n != 1001 || area < 1000*65535*65535 || Motion(im) != nil {
		t.Errorf("%d frames of %d pixels", n, area)
	}
}

// Whatever a program sent as a picture, decoding gives the size that was said, or nothing.
func FuzzDecode(f *testing.F) {
	for _, im := range files(f) {
		f.Add(im.Data, im.Format, im.Zlib, 7, 5)
		f.Add(im.Data[:len(im.Data)/2], im.Format, im.Zlib, 7, 5)
	}
	f.Add([]byte{}, 32, false, 1<<30, 1<<30)
	f.Fuzz(func(t *testing.T, data []byte, format int, zip bool, w, h int) {
		if w > 2000 || h > 2000 {
			return
		}
		px, err := Decode(&emulator.Image{Width: w, Height: h, Format: format, Zlib: zip, Data: data})
		if err == nil && px.Rect != image.Rect(0, 0, w, h) {
			t.Fatalf("%v for %d×%d", px.Rect, w, h)
		}
		Size(data)
		Motion(&emulator.Image{Width: w, Height: h, Format: format, Zlib: zip, Data: data})
	})
}

// Any sixel picture has all of its pixels inside of its size, and as ours the same.
func FuzzSixel(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 4 {
		px := sample(r, 30, 20, 1<<i)
		data := AppendSixel(nil, Quantise(px, 256), px.Rect)
		f.Add(data[2 : len(data)-2])
	}
	f.Add([]byte(`0;1;0q"1;1;20;12#0;2;0;0;0#1;1;120;50;100!20~-!20~$#2;2;9;99;999@!0A!A`))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, h, ok := SixelSize(data)
		if !ok || w*h > 1<<20 {
			return
		}
		px := DecodeSixel(data, w, h)
		large := DecodeSixel(data, w+3, h+7)
		for y := range h + 7 {
			for x := range w + 3 {
				if c := large.NRGBAAt(x, y); c != px.NRGBAAt(x, y) { // nothing outside
					t.Fatalf("pixel %d,%d of %d×%d is %v", x, y, w, h, c)
				}
			}
		}
		AppendSixel(nil, Quantise(px, 16), px.Rect)
	})
}

func BenchmarkSixelPhoto(b *testing.B) {
	px := image.NewNRGBA(image.Rect(0, 0, 800, 600))
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 800 * 600 {
		px.SetNRGBA(i%800, i/800, color.NRGBA{R: uint8(i % 800 / 4), G: uint8(i / 800 / 3), B: uint8(r.IntN(40)), A: 255})
	}
	var out []byte
	b.Run("quantise", func(b *testing.B) {
		for b.Loop() {
			Quantise(px, 256)
		}
	})
	pal := Quantise(px, 256)
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			out = AppendSixel(out[:0], pal, px.Rect)
		}
	})
	b.Log(fmt.Sprint(len(out), " bytes"))
}
