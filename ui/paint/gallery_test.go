package paint

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
)

// An image that says it is smaller than its data is not decoded.
func TestRepackTakesNoLargerImage(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 700, 500))); err != nil {
		t.Fatal(err)
	}
	of := func(w, h int) work {
		return work{im: &emulator.Image{Width: w, Height: h, Format: emulator.FormatPNG, Data: b.Bytes()}, x: 1, y: 1, w: 2, h: 2, cuts: 1}
	}
	small, right := of(7, 5), of(700, 500)
	if _, ok := small.repack(); ok {
		t.Error("it was cropped")
	}
	if _, ok := right.repack(); !ok {
		t.Error("as it is, it was not cropped")
	}
}

// The outer terminal is given so many pictures and bytes at most; what was drawn
// longest ago goes, and what is drawn is there.
func TestGalleryIsBounded(t *testing.T) {
	g := NewGallery(1)
	g.Switch(Outer{Mode: Cells})
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

// An animation is sent behind its image, in order and in pieces, what is added to it
// later without what was sent, and not where frames are missing.
func TestGalleryAnimates(t *testing.T) {
	g := NewGallery(3)
	g.Switch(Outer{Mode: Cells, Moves: true})
	im := &emulator.Image{Width: 1, Height: 1, Format: 24, Data: []byte("abc")}
	frame := func(keys string, n int) emulator.Step {
		return emulator.Step{Keys: "a=f," + keys, Data: make([]byte, n)}
	}
	show := func(m *emulator.Motion) string {
		pic := emulator.Picture{Image: im, Cols: 1, Rows: 1, Width: 1, Height: 1, Motion: m}
		g.Cell(nil, &emulator.Cell{}, emulator.Placeholder{}, pic, true)
		var out []byte
		for more := true; more; {
			out, _, more = g.Pump(out, 100)
		}
		g.Cell(nil, &emulator.Cell{}, emulator.Placeholder{}, pic, true)
		if again, _, _ := g.Pump(nil, 100); len(again) > 0 {
			t.Errorf("sent again: %q", again)
		}
		return regexp.MustCompile(`i=\d+|A{9,}=*`).ReplaceAllString(strings.NewReplacer("\x1b_G", "", "\x1b\\", "|").Replace(string(out)), "#")
	}
	m := &emulator.Motion{Steps: []emulator.Step{frame("z=5", pieceSize+9), {Keys: "a=c,r=1,c=2"}}, Play: emulator.Play{State: 2}}
	if got, want := show(m), "a=t,#,f=24,s=1,v=1,q=2,m=0;YWJj|a=p,U=1,q=2,#,c=1,r=1|a=f,z=5,q=2,#,m=1;#|a=f,q=2;#|a=c,r=1,c=2,q=2,#;|a=a,q=2,#,s=2|"; got != want {
		t.Errorf("sent\n%s, want\n%s", got, want)
	}
	more := &emulator.Motion{Steps: append(slices.Clone(m.Steps), frame("z=6", 9)), Play: emulator.Play{State: 3, Loops: 1, Frame: 2}}
	if got, want := show(more), "a=f,z=6,q=2,#;#|a=a,q=2,#,s=3,v=1,c=2|"; got != want {
		t.Errorf("sent later\n%s, want\n%s", got, want)
	}
	lost := &emulator.Motion{Steps: append(slices.Clone(more.Steps), emulator.Step{Keys: "a=f"}), Play: emulator.Play{State: 1}}
	if got := show(lost); got != "" {
		t.Errorf("with a frame missing: %s", got)
	}
}

// A deletion never comes between the pieces of an image.
func TestGalleryKeepsImagesWhole(t *testing.T) {
	g := NewGallery(2)
	g.Switch(Outer{Mode: Cells})
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

// What is painted has the outer terminal's pixels, and what follows from an image's
// pixels fills no more of its last cells there than here.
func TestPaintedPixels(t *testing.T) {
	px := make([]byte, 30*20*4)
	for i := range px {
		px[i] = 0xff
	}
	im := &emulator.Image{Width: 30, Height: 20, Format: emulator.FormatRGBA, Data: px}
	for _, c := range []struct {
		cols, rows int
		want       string
	}{{4, 2, "37x28 of 40x46"}, {6, 1, "60x23 of 60x23"}} {
		g := NewGallery(1)
		g.Switch(Outer{Mode: Sixel, CellW: 10, CellH: 23, Colors: 256})
		p := g.pixelsOf(work{im: im, cols: c.cols, rows: c.rows}).(*image.Paletted)
		w, h := 0, 0
		for i, n := range p.Pix {
			if n != 0 {
				w, h = max(w, i%p.Stride+1), max(h, i/p.Stride+1)
			}
		}
		if got := fmt.Sprintf("%dx%d of %dx%d", w, h, p.Rect.Dx(), p.Rect.Dy()); got != c.want {
			t.Errorf("in %d×%d cells: %s, want %s", c.cols, c.rows, got, c.want)
		}
	}
}
