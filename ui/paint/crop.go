package paint

import (
	"tandemux/emulator"
	"tandemux/emulator/picture"
)

// pixels gives the size of what shows of the image.
func (k *work) pixels() (w, h int) {
	if k.cuts != 0 {
		return k.w, k.h
	}
	return k.im.Width, k.im.Height
}

// repacked reports whether the image is sent in another form than the program's: cells
// that show a picture can show it as a whole only, so a part of one is a picture of its
// own, and kitty's protocol has only some of the formats.
func (k *work) repacked() bool {
	return k.cuts != 0 || k.im.Format == emulator.FormatFile || k.im.Format == emulator.FormatSixel
}

// repack gives what shows as compressed RGBA.
func (k *work) repack() (*emulator.Image, bool) {
	px, err := picture.Decode(k.im)
	if err != nil {
		return nil, false
	}
	if k.cuts != 0 {
		var ok bool
		if px, ok = picture.Part(px, k.x, k.y, k.w, k.h); !ok {
			return nil, false
		}
	}
	im, err := picture.Pack(px)
	return im, err == nil
}
