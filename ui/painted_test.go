package ui_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/picture"
	"tandemux/ui/paint"
	"tandemux/ui/tty"
)

// tiles is a picture of so many cells, each in a colour of its own.
func tiles(cols, rows int) *image.NRGBA {
	px := image.NewNRGBA(image.Rect(0, 0, cols*emulator.CellWidth, rows*emulator.CellHeight))
	for y := range px.Rect.Dy() {
		for x := range px.Rect.Dx() {
			px.SetNRGBA(x, y, tile(x/emulator.CellWidth, y/emulator.CellHeight))
		}
	}
	return px
}

// tile is the colour of a cell of tiles.
func tile(col, row int) color.NRGBA {
	return color.NRGBA{R: uint8(60 + col*10), G: uint8(60 + row*20), B: 200, A: 255}
}

// programs draw a picture in each way that there is.
var programs = map[string]func(px *image.NRGBA) string{
	"kitty": func(px *image.NRGBA) string {
		return fmt.Sprintf("\x1b_Ga=T,f=32,s=%d,v=%d,q=2;%s\x1b\\", px.Rect.Dx(), px.Rect.Dy(), base64.StdEncoding.EncodeToString(px.Pix))
	},
	"sixel": func(px *image.NRGBA) string {
		return string(picture.AppendSixel(nil, picture.Quantise(px, 256), px.Rect))
	},
	"png": func(px *image.NRGBA) string {
		return inline(func(b *bytes.Buffer) error { return png.Encode(b, px) })
	},
	"jpeg": func(px *image.NRGBA) string {
		return inline(func(b *bytes.Buffer) error { return jpeg.Encode(b, px, &jpeg.Options{Quality: 100}) })
	},
	"gif": func(px *image.NRGBA) string {
		return inline(func(b *bytes.Buffer) error { return gif.Encode(b, picture.Quantise(px, 256), nil) })
	},
}

// inline is iTerm2's sequence for a file.
func inline(encode func(*bytes.Buffer) error) string {
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		panic(err)
	}
	return "\x1b]1337;File=inline=1:" + base64.StdEncoding.EncodeToString(b.Bytes()) + "\a"
}

// tilesOf says which tile each cell of the outer terminal shows, row by row: two
// letters for column and row; ".." for none, "??" for what is no tile.
func tilesOf(t *testing.T, u *UI) []string {
	t.Helper()
	screen := u.Outer()
	_, h := screen.Size()
	decoded := map[*emulator.Image]*image.NRGBA{}
	var all []string
	for y := range h {
		cells := screen.Line(y, nil)
		row := []byte(strings.Repeat("..", len(cells)))
		emulator.Placeholders(cells, func(x int, p emulator.Placeholder) {
			copy(row[2*x:], "??")
			pic, ok := emulator.PictureOf(screen, p)
			if !ok || pic.Image.Data == nil {
				return
			}
			px := decoded[pic.Image]
			if px == nil {
				var err error
				if px, err = picture.Decode(pic.Image); err != nil {
					t.Errorf("decode what the outer terminal got: %v", err)
					return
				}
				decoded[pic.Image] = px
			}
			c := px.NRGBAAt(pic.X+(2*p.Col+1)*pic.Width/pic.Cols/2, pic.Y+(2*p.Row+1)*pic.Height/pic.Rows/2)
			copy(row[2*x:], nameTile(c))
		})
		all = append(all, strings.TrimRight(string(row), "."))
	}
	return all
}

// nameTile names the tile whose colour is near to one.
func nameTile(c color.NRGBA) string {
	if c.A == 0 {
		return "  "
	}
	col, row := (int(c.R)-60+5)/10, (int(c.G)-60+10)/20
	if c.B < 180 || col < 0 || row < 0 || col > 19 || row > 9 {
		return "!!"
	}
	return string([]byte{byte('a' + col), byte('0' + row)})
}

// showsTiles fails the test unless the outer terminal shows these tiles from row y on,
// and none elsewhere.
func showsTiles(t *testing.T, u *UI, when string, y int, want ...string) {
	t.Helper()
	got := tilesOf(t, u)
	for i, row := range got {
		w := ""
		if i >= y && i-y < len(want) {
			w = want[i-y]
		}
		if row != w {
			t.Errorf("%s row %d shows %q, want %q; all:\n%s\non\n%s", when, i, row, w, strings.Join(got, "\n"), u.Screen())
			return
		}
	}
}

// tilesRow is row r of tiles, its columns from one on.
func tilesRow(r, from, cols int) string {
	var b strings.Builder
	for c := from; c < cols; c++ {
		fmt.Fprintf(&b, "%c%d", 'a'+c, r)
	}
	return b.String()
}

// Whatever a program draws by, and whatever the outer terminal takes, the same parts of
// the picture show in the same cells: at first, scrolled half out, written over, under a
// floating pane and from beside it, at the bottom, in a smaller window.
func TestPicturesAreTranslated(t *testing.T) {
	for _, how := range []string{"cells", "placed", "sixel", "iterm2"} {
		for name, draw := range programs {
			t.Run(name+" to "+how, func(t *testing.T) {
				u := withPictures(t, how)
				sh := u.Host.Terminal("sh1")
				sh.Print("top\r\n\r\n" + draw(tiles(10, 4)) + "\r\n")
				u.Advance(time.Second)
				all := []string{tilesRow(0, 0, 10), tilesRow(1, 0, 10), tilesRow(2, 0, 10), tilesRow(3, 0, 10)}
				showsTiles(t, u, "at first", 2, all...)
				sent := len(u.Raw)
				sh.Print("typed")
				u.Advance(time.Second)
				if n := len(u.Raw) - sent; n > 200 {
					t.Errorf("five characters beside it took %d bytes", n)
				}
				sh.Print("\x1b[4;3Hxx")
				u.Advance(time.Second)
				showsTiles(t, u, "written over", 2, all[0], "a1b1...."+all[1][8:], all[2], all[3])
				sh.Print("\x1b[23;1H\n\n\n\n")
				u.Advance(time.Second)
				showsTiles(t, u, "scrolled half out", 0, all[2], all[3])
				u.Press("ctrl+space [", "g")
				u.Advance(time.Second)
				showsTiles(t, u, "scrolled back", 2, all[0], "a1b1...."+all[1][8:], all[2], all[3])
				u.Press("q")
				sh.Print("\x1b[2J\x1b[H\x1b[20;1H" + draw(tiles(10, 4)))
				u.Advance(time.Second)
				showsTiles(t, u, "at the bottom", 19, all...)
				u.Resize(80, 22)
				u.Advance(time.Second)
				showsTiles(t, u, "in a smaller window", 17, all...)
				sh.Print("\x1b[2J\x1b[9;37H" + draw(tiles(10, 4)))
				u.Advance(time.Second)
				u.Press("ctrl+space f")
				u.Advance(time.Second)
				f := frame(t, u, 80, 22)
				for y, row := range tilesOf(t, u) {
					for x := 0; x < len(row)/2; x++ {
						inside := y >= f.Y && y < f.Y+f.H && x >= f.X && x < f.X+f.W
						want := ".."
						if !inside && y >= 8 && y < 12 && x >= 36 && x < 46 {
							want = tilesRow(y-8, x-36, x-35)
						}
						if row[2*x:2*x+2] != want {
							t.Fatalf("under %+v cell %d,%d shows %q, want %q", f, x, y, row[2*x:2*x+2], want)
						}
					}
				}
				u.Press("ctrl+space f")
				u.Advance(time.Second)
				showsTiles(t, u, "uncovered", 8, pad(36, all)...)
				u.Press("ctrl+space |")
				u.Advance(time.Second)
				showsTiles(t, u, "cut by a pane", 9, pad(36, []string{tilesRow(0, 0, 4), tilesRow(1, 0, 4), tilesRow(2, 0, 4), tilesRow(3, 0, 4)})...)
			})
		}
	}
}

// pad puts cells without a picture before those of each row.
func pad(cells int, rows []string) (out []string) {
	for _, r := range rows {
		out = append(out, strings.Repeat("..", cells)+r)
	}
	return out
}

// A terminal that says what it takes is given that.
func TestPicturesAreAskedFor(t *testing.T) {
	sixel, none := tty.Fence{Sixel: true}, tty.Fence{}
	kitty := tty.Graphics{OK: true}
	for _, c := range []struct {
		env     []string
		answers []any
		want    tty.Pictures
	}{
		{nil, []any{none}, tty.NoPictures},
		{nil, []any{sixel}, tty.SixelPictures},
		{nil, []any{kitty, sixel}, tty.PlacedPictures},
		{[]string{"TERM=xterm-256color", "LC_TERMINAL=iTerm2"}, []any{sixel}, tty.InlinePictures},
		{[]string{"TERM=screen-256color", "LC_TERMINAL=iTerm2"}, []any{sixel}, tty.SixelPictures},
		{[]string{"TERM=xterm-256color", "TERM_PROGRAM=WezTerm"}, []any{none}, tty.InlinePictures},
		{[]string{"TERM=xterm-256color", "TERM_PROGRAM=vscode", "LC_TERMINAL=iTerm2"}, []any{none}, tty.NoPictures},
	} {
		caps := tty.Guess(append([]string{"TERM=xterm-256color"}, c.env...))
		for _, a := range c.answers {
			caps.Learn(a)
		}
		if caps.Pictures != c.want && (c.want != tty.NoPictures || caps.Pictures != "") {
			t.Errorf("%v, %v: %q, want %q", c.env, c.answers, caps.Pictures, c.want)
		}
	}
}

// What scrolls fast is not painted each time; what comes to rest is.
func TestPaintedPicturesAreNotAFlood(t *testing.T) {
	u := withPictures(t, "sixel")
	px := image.NewNRGBA(image.Rect(0, 0, 480, 240))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range px.Pix {
		px.Pix[i] = uint8(r.IntN(256)) | uint8(i%4/3*255)
	}
	sh := u.Host.Terminal("sh1")
	sh.Print(programs["kitty"](px) + "\r\n")
	u.Advance(time.Second)
	start, frames := len(u.Raw), 40
	for i := range frames {
		sh.Print("\x1b[H\x1b[" + string("LM"[i%2]))
		u.Advance(paint.FrameInterval)
	}
	n := len(u.Raw) - start
	u.Advance(time.Second)
	if limit := int(8<<20*time.Duration(frames)*paint.FrameInterval/time.Second) + 1<<20; n > limit {
		t.Errorf("%d frames took %d bytes, more than %d", frames, n, limit)
	}
	if got := strings.Count(emutest.Pictures(u.Outer()), " of "); got < 14 {
		t.Errorf("at rest it shows %d rows", got)
	}
}

// Animations play where the outer terminal plays them, also those of GIFs, and again
// after a detach; elsewhere the first frame shows.
func TestAnimations(t *testing.T) {
	red, blue := color.NRGBA{200, 0, 0, 255}, color.NRGBA{0, 0, 200, 255}
	frame := func(n uint8) *image.Paletted {
		p := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{red, blue})
		for i := range p.Pix {
			p.Pix[i] = n
		}
		return p
	}
	raw := base64.StdEncoding.EncodeToString(make([]byte, 16*16*3))
	for name, draw := range map[string]string{
		"kitty": "\x1b_Ga=T,i=1,f=24,s=16,v=16,q=2;" + raw + "\x1b\\\x1b_Ga=f,i=1,f=24,s=16,v=16,z=70,q=2;" + raw + "\x1b\\\x1b_Ga=a,i=1,s=3,v=1\x1b\\",
		"gif": inline(func(b *bytes.Buffer) error {
			return gif.EncodeAll(b, &gif.GIF{Image: []*image.Paletted{frame(0), frame(1)}, Delay: []int{7, 7}})
		}),
	} {
		for how, plays := range map[string]bool{"cells": true, "placed": true, "sixel": false, "iterm2": false} {
			u := withPictures(t, how)
			u.Host.Terminal("sh1").Print(draw)
			u.Advance(time.Second)
			got := emutest.Pictures(u.Outer())
			if strings.Count(got, "row") != 1 || plays != (strings.Contains(got, "moving {3 1 0}") && strings.Contains(got, "z=70")) {
				t.Errorf("%s to %s: %s", name, how, got)
			}
			n := len(u.Raw)
			u.Advance(time.Minute)
			if len(u.Raw) != n {
				t.Errorf("%s to %s: %d bytes while nothing changes", name, how, len(u.Raw)-n)
			}
			if plays && name == "kitty" {
				u.Host.Terminal("sh1").Print("\x1b_Ga=a,i=1,s=1,c=2\x1b\\")
				u.Advance(time.Second)
				if got := emutest.Pictures(u.Outer()); !strings.Contains(got, "moving {1 1 2}") {
					t.Errorf("stopped: %s", got)
				}
			}
		}
	}
}
