package ui_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/ui"
	"tandemux/ui/paint"
)

// dots is the kitty command that shows an image of w×h pixels.
func dots(w, h int, keys string) string {
	data := base64.StdEncoding.EncodeToString(make([]byte, w*h*3))
	return fmt.Sprintf("\x1b_Ga=T,f=24,s=%d,v=%d,%s;%s\x1b\\", w, h, keys, data)
}

// withPictures starts an interface in an outer terminal that shows pictures.
func withPictures(t *testing.T, how string) *UI {
	t.Helper()
	return New(t, Options{Pictures: true, Config: func(c *ui.Config) { c.Graphics = how }})
}

// shown fails the test unless the outer terminal shows these parts of pictures.
func shown(t *testing.T, u *UI, when string, want ...string) {
	t.Helper()
	got := strings.Split(strings.TrimSpace(emutest.Pictures(u.Outer())), "\n")
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s the outer terminal shows\n%s\nwant\n%s\non\n%s", when, g, w, u.Screen())
	}
}

// A picture is sent to the outer terminal once, and then shown by cells, which panes,
// floating panes and scrolling clip and move; the host knows that it is seen.
func TestPictures(t *testing.T) {
	u := withPictures(t, "")
	if !last(t, u).Pictures {
		t.Error("the host was not told that pictures show")
	}
	sh := u.Host.Terminal("sh1")
	sh.Print("top\r\n" + dots(40, 32, "i=7") + "\r\n")
	u.WaitIdle()
	shown(t, u, "at first", "1:0 row 0, column 0 of 5×2, 40×32+0+0 of 40×32", "2:0 row 1, column 0 of 5×2, 40×32+0+0 of 40×32")
	sh.Print("\x1b[3;3Hxx\x1b[5H" + strings.Repeat("\n", 20))
	u.WaitIdle()
	shown(t, u, "scrolled, with text in it", "0:0 row 1, column 0 of 5×2, 40×32+0+0 of 40×32", "0:4 row 1, column 4 of 5×2, 40×32+0+0 of 40×32")
	u.Press("ctrl+space [", "g")
	shown(t, u, "scrolled back", "1:0 row 0, column 0 of 5×2, 40×32+0+0 of 40×32",
		"2:0 row 1, column 0 of 5×2, 40×32+0+0 of 40×32", "2:4 row 1, column 4 of 5×2, 40×32+0+0 of 40×32")
	u.Press("q")
	if n := bytes.Count(u.Raw, []byte("a=t,")); n != 1 {
		t.Errorf("the image was sent %d times", n)
	}
	sh.Print("\x1b[2J\x1b[H" + dots(40, 32, "i=7"))
	u.WaitIdle()
	if n := bytes.Count(u.Raw, []byte("a=t,")); n != 2 {
		t.Errorf("a new image of an old number was not sent: %d", n)
	}
	sh.Print("\x1b_Ga=d\x1b\\")
	u.WaitIdle()
	shown(t, u, "deleted", "")
	u.Resize(100, 30)
	if bytes.Contains(u.Raw, []byte("\x1b[2J")) {
		t.Error("the screen was cleared by ED 2, at which kitty forgets images that are being sent")
	}
}

// What covers a picture cuts it: its parts stay where they are, in cells as in
// placements over them.
func TestPicturesAreClipped(t *testing.T) {
	for _, how := range []string{"cells", "placed"} {
		t.Run(how, func(t *testing.T) {
			u := withPictures(t, how)
			u.Host.Terminal("sh1").Print("\x1b[8;1H" + dots(640, 128, "i=7"))
			u.WaitIdle()
			u.Press("ctrl+space f")
			f := frame(t, u, 80, 24)
			parts := emutest.Pictures(u.Outer())
			for _, row := range strings.Split(strings.TrimSpace(parts), "\n") {
				var y, x int
				fmt.Sscanf(row, "%d:%d", &y, &x)
				if inside := y >= f.Y && y < f.Y+f.H && x >= f.X && x < f.X+f.W; inside || y < 7 || y > 14 {
					t.Errorf("%q is shown, the pane above it is %+v", row, f)
				}
			}
			if n := strings.Count(parts, "\n"); n < 12 {
				t.Errorf("%d parts are left:\n%s", n, parts)
			}
			u.Press("ctrl+space f")
			if n := strings.Count(emutest.Pictures(u.Outer()), "row"); how == "cells" && n != 8 {
				t.Errorf("%d rows are shown again", n)
			} else if how == "placed" {
				shown(t, u, "uncovered", rows(7, 8)...)
			}
			u.Press("ctrl+space |")
			for _, row := range strings.Split(strings.TrimSpace(emutest.Pictures(u.Outer())), "\n") {
				if strings.Contains(row, ":40 ") {
					t.Errorf("%q is beyond the split", row)
				}
			}
		})
	}
}

// rows are the parts of a picture over all of the screen that is placed.
func rows(y, n int) (want []string) {
	for i := range n {
		want = append(want, fmt.Sprintf("%d:0 row %d, column 0 of 80×8, 640×128+0+0 of 640×128", y+i, i))
	}
	return want
}

// A part of an image, and one from a PNG, are cropped before they are sent.
func TestPicturesAreCropped(t *testing.T) {
	for _, how := range []string{"cells", "placed"} {
		u := withPictures(t, how)
		img := image.NewNRGBA(image.Rect(0, 0, 40, 48))
		img.Set(9, 17, color.NRGBA{R: 1, G: 2, B: 3, A: 4})
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		u.Host.Terminal("sh1").Print("\x1b_Ga=T,f=100,x=8,y=16,w=16,h=32;" + base64.StdEncoding.EncodeToString(b.Bytes()) + "\x1b\\")
		u.WaitIdle()
		shown(t, u, how, "0:2 row 0, column 0 of 2×2, 16×32+0+0 of 16×32", "1:2 row 1, column 0 of 2×2, 16×32+0+0 of 16×32")
	}
}

// Where the outer terminal shows no pictures there is a box, and nothing of the
// protocol reaches it but the question; nor if it is not wanted.
func TestPicturesAsBoxes(t *testing.T) {
	for _, o := range []Options{
		{},
		{Silent: true},
		{Pictures: true, Config: func(c *ui.Config) { c.Graphics = "off" }},
		{Pictures: true, Config: func(c *ui.Config) { c.Colors = "none" }},
	} {
		u := New(t, o)
		if n := len(u.Host.Painted); n > 0 && u.Host.Painted[n-1].Pictures {
			t.Error("the host was told that pictures show")
		}
		u.Host.Terminal("sh1").Print(dots(160, 48, "i=7,q=2") + "\r\n\U0010eeee\u0305\u0305.")
		u.WaitIdle()
		u.Shows("[image 160×48]░░░░░", "\n .\n")
		if n := bytes.Count(u.Raw, []byte("\x1b_G")); n != 1 {
			t.Errorf("the outer terminal got %d commands", n)
		}
	}
}

// A large picture goes in parts, between which what is typed shows; until it is
// there its box is.
func TestLargePictureIsSentInParts(t *testing.T) {
	u := withPictures(t, "")
	noise := make([]byte, 800*600*4)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	sh := u.Host.Terminal("sh1")
	sh.Print("\x1b_Ga=T,f=32,s=800,v=600,c=20,r=5;" + base64.StdEncoding.EncodeToString(noise) + "\x1b\\")
	before := len(u.Raw)
	u.Advance(paint.FrameInterval)
	if n := len(u.Raw) - before; n > 300<<10 {
		t.Errorf("the first frame has %d bytes", n)
	}
	u.Shows("[image 800×600]")
	sh.Print("\x1b[10Hin between")
	u.Advance(paint.FrameInterval)
	u.Shows("[image 800×600]", "in between")
	u.Advance(time.Second)
	if len(u.Raw)-before < len(noise) {
		t.Errorf("%d bytes of %d were sent", len(u.Raw)-before, len(noise))
	}
	if p := emutest.Pictures(u.Outer()); strings.Count(p, "of 20×5, 800×600+0+0 of 800×600\n") != 5 {
		t.Errorf("the outer terminal shows\n%s", p)
	}
}

// The outer terminal forgets pictures when their pane closes, and all of them when
// the interface leaves or is suspended, after which they are sent again.
func TestPicturesAreFreed(t *testing.T) {
	u := withPictures(t, "")
	u.Host.Terminal("sh1").Print(dots(16, 16, "i=1"))
	u.WaitIdle()
	u.Press("ctrl+space |")
	u.Host.Terminal("sh2").Print(dots(24, 16, "i=1"))
	u.WaitIdle()
	kept := func() (n int) {
		for i := range 256 {
			first := u.Model.Outer().Caps.Gallery.First
			if _, ok := emulator.PictureOf(u.Outer(), emulator.Placeholder{ID: first + uint32(i)}); ok {
				n++
			}
		}
		return n
	}
	if n := kept(); n != 2 {
		t.Fatalf("the outer terminal keeps %d pictures", n)
	}
	u.Press("ctrl+space x", "y")
	if n := kept(); n != 1 {
		t.Errorf("a pane closed: the outer terminal keeps %d pictures", n)
	}
	u.Write(u.LeaveSequence())
	if n := kept(); n != 0 {
		t.Errorf("left: the outer terminal keeps %d pictures", n)
	}
	u.Send(ui.Resumed{Stopped: true})
	if n := kept(); n != 1 {
		t.Errorf("resumed: the outer terminal keeps %d pictures", n)
	}
}

// A selection leaves the colours alone that say of which picture a cell is a part.
func TestSelectedPicture(t *testing.T) {
	u := withPictures(t, "")
	u.Host.Terminal("sh1").Print("ab" + dots(40, 16, "i=7") + "cd")
	u.WaitIdle()
	u.Drag(0, 0, 8, 0)
	shown(t, u, "selected", "0:4 row 0, column 0 of 5×1, 40×16+0+0 of 40×16")
}
