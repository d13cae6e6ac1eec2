package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/gif"

	"tandemux/emulator"
)

// maxMoving bounds the pixels of all frames of a GIF that moves.
const maxMoving = 2 * MaxPixels

// Motion gives the frames of a GIF behind the first as an animation; nil for one that has
// none, or too many, and for what is no GIF.
func Motion(im *emulator.Image) *emulator.Motion {
	if im.Format != emulator.FormatFile || im.Zlib || !bytes.HasPrefix(im.Data, []byte("GIF8")) {
		return nil
	}
	if n, area := gifFrames(im.Data); n < 2 || n*im.Width*im.Height > maxMoving || area > maxMoving {
		return nil
	}
	all, err := gif.DecodeAll(bytes.NewReader(im.Data))
	if err != nil || all.Config.Width != im.Width || all.Config.Height != im.Height {
		return nil
	}
	const forever = 1
	m := &emulator.Motion{Play: emulator.Play{State: 3, Loops: forever}}
	if all.LoopCount != 0 {
		m.Play.Loops = uint32(max(all.LoopCount, 0) + 2)
	}
	gap := func(i int) int { return max(all.Delay[i]*10, 20) }
	m.Steps = append(m.Steps, emulator.Step{Keys: fmt.Sprintf("a=a,r=1,z=%d", gap(0))})
	now := image.NewNRGBA(image.Rect(0, 0, im.Width, im.Height))
	for i, frame := range all.Image {
		before := now
		if all.Disposal[i] == gif.DisposalPrevious {
			before = image.NewNRGBA(now.Rect)
			copy(before.Pix, now.Pix)
		}
		draw.Draw(now, frame.Rect, frame, frame.Rect.Min, draw.Over)
		if i > 0 {
			packed, err := Pack(now)
			if err != nil {
				return nil
			}
			keys := fmt.Sprintf("a=f,f=32,s=%d,v=%d,X=1,o=z,z=%d", im.Width, im.Height, gap(i))
			m.Steps = append(m.Steps, emulator.Step{Keys: keys, Data: packed.Data})
		}
		if all.Disposal[i] == gif.DisposalBackground {
			draw.Draw(now, frame.Rect, image.Transparent, image.Point{}, draw.Src)
		}
		now = before
	}
	return m
}

// gifFrames counts the frames of a GIF, and their pixels, as far as it is whole, without
// decoding them.
func gifFrames(b []byte) (n, area int) {
	if len(b) < 13 {
		return 0, 0
	}
	skip := func(k int) bool {
		if k > len(b) {
			return false
		}
		b = b[k:]
		return true
	}
	table := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	ok := skip(13 + table(b[10]))
	for ok && len(b) > 0 {
		switch {
		case b[0] == ',' && len(b) >= 11:
			w, h := int(binary.LittleEndian.Uint16(b[5:])), int(binary.LittleEndian.Uint16(b[7:]))
			n, area = n+1, area+w*h
			ok = skip(11 + table(b[9]))
		case b[0] == '!':
			ok = skip(2)
		default:
			return n, area
		}
		for ok && len(b) > 0 && b[0] != 0 { // its blocks
			ok = skip(1 + int(b[0]))
		}
		ok = ok && skip(1)
	}
	return n, area
}
