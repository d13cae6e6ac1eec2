package native

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"tandemux/emulator"
)

// This file keeps animations of the kitty graphics protocol. It does not compose or time
// frames: it keeps the program's commands in order, for an outer terminal that plays them.
// Other terminals show the image without its animation.

// Bounds of an image's animation. Frames beyond them are refused.
const (
	maxFrames = 1000
	maxSteps  = 4000
	maxMotion = 16 << 20 // bytes of data
)

// moving is an image's animation.
type moving struct {
	motion *emulator.Motion // nil if the image is not animated
	frames uint32           // without the first, which is the image
	bytes  int              // of the steps' data
}

// stepKeys are the keys, by action, that a step keeps.
var stepKeys = map[byte]string{'f': "fsvxyXYcr", 'c': "xyXYwhcr", 'a': "r"}

// stepOf returns a command as a step.
func stepOf(g *graphic, data []byte) emulator.Step {
	keys := []byte{'a', '=', g.action}
	for _, k := range []byte(stepKeys[g.action]) {
		if n := *graphicNumbers[k](g); n != 0 {
			keys = fmt.Appendf(keys, ",%c=%d", k, n)
		}
	}
	if g.action == 'f' && g.packing != 0 {
		keys = fmt.Appendf(keys, ",o=%c", g.packing)
	}
	if g.action == 'c' && g.stay {
		keys = append(keys, ",C=1"...)
	}
	if g.action != 'c' && g.z != 0 {
		keys = fmt.Appendf(keys, ",z=%d", g.z)
	}
	return emulator.Step{Keys: string(keys), Data: data}
}

// room reports whether an image may get another step, with size bytes of data.
func (ps *pictures) room(st *stored, size int) bool {
	return (st.motion == nil || len(st.motion.Steps) < maxSteps) && st.bytes+size <= maxMotion && ps.size+size <= maxImagesSize
}

// step appends a step to an image's animation.
func (ps *pictures) step(st *stored, s emulator.Step) {
	m := emulator.Motion{}
	if st.motion != nil {
		m = *st.motion
	}
	m.Steps = append(m.Steps, s)
	st.motion = &m
	st.bytes += len(s.Data)
	ps.size += len(s.Data)
}

// addFrame is a=f: it adds a frame, or changes a part of an existing one.
func addFrame(e *Engine, g *graphic, im *emulator.Image) (problem string) {
	st := e.pics.find(g)
	if st == nil {
		return "ENOENT:there is no such image"
	}
	total := 1 + st.frames
	switch {
	case g.cols > total:
		return "ENOENT:there is no such frame to begin with"
	case int64(g.x)+int64(im.Width) > int64(st.im.Width) || int64(g.y)+int64(im.Height) > int64(st.im.Height):
		return "EINVAL:the frame is larger than the image"
	}
	isNew := g.rows == 0 || g.rows > total
	if isNew && total >= maxFrames || !e.pics.room(st, len(im.Data)) {
		return "ENOSPC:there is no room for more frames"
	}
	if isNew {
		g.rows = 0
		st.frames++
	}
	g.width, g.height = uint32(im.Width), uint32(im.Height)
	e.pics.step(st, stepOf(g, im.Data))
	e.damageAll = true
	return ""
}

// animate is a=c, which copies a part of one frame into another, and a=a, which controls the
// animation.
func animate(e *Engine, g graphic) {
	problem := ""
	st := e.pics.find(&g)
	switch {
	case st == nil:
		problem = "ENOENT:there is no such image"
	case max(g.cols, g.rows) > 1+st.frames || g.action == 'c' && min(g.cols, g.rows) == 0:
		problem = "ENOENT:there is no such frame"
	case g.action == 'c' || g.rows != 0 && g.z != 0:
		if !e.pics.room(st, 0) {
			problem = "ENOSPC:there is no room for more"
			break
		}
		e.pics.step(st, stepOf(&g, nil))
	}
	if problem == "" && g.action == 'a' {
		st.play(emulator.Play{State: min(g.width, 3), Loops: g.height, Frame: g.cols})
	}
	if problem != "" || g.action == 'c' {
		e.answerGraphic(&g, problem)
	}
	e.damageAll = true
}

// play sets the fields of Play that are not zero in p.
func (m *moving) play(p emulator.Play) {
	now := emulator.Motion{}
	if m.motion != nil {
		now = *m.motion
	}
	for _, v := range [...]struct {
		to *uint32
		n  uint32
	}{{&now.Play.State, p.State}, {&now.Play.Loops, p.Loops}, {&now.Play.Frame, p.Frame}} {
		if v.n != 0 {
			*v.to = v.n
		}
	}
	if m.motion != nil || now.Play != (emulator.Play{}) {
		m.motion = &now
	}
}

// motion writes an image's animation, with the frames' data if data is true.
func (w *writer) motion(st *stored, data bool) {
	if st.motion == nil {
		return
	}
	for _, s := range st.motion.Steps {
		w.rawf("\x1b_%sM;%s;", savedPicture, s.Keys)
		if data {
			w.buf = base64.StdEncoding.AppendEncode(w.buf, s.Data)
		}
		w.raw("\x1b\\")
	}
	p := st.motion.Play
	w.rawf("\x1b_%sR,%d,%d,%d,%d\x1b\\", savedPicture, st.frames, p.State, p.Loops, p.Frame)
}

// restoreStep adds a step from a snapshot to the newest image.
func (ps *pictures) restoreStep(command []byte) {
	g, payload, ok := readGraphic(command)
	if !ok || stepKeys[g.action] == "" || len(ps.images) == 0 || len(payload) > 0 && g.action != 'f' {
		return
	}
	data, err := base64.StdEncoding.AppendDecode(nil, bytes.TrimSpace(payload))
	if err != nil || len(data) > maxImageBytes {
		return
	}
	if len(data) == 0 {
		data = nil
	}
	if st := ps.images[len(ps.images)-1]; ps.room(st, len(data)) {
		ps.step(st, stepOf(&g, data))
	}
}
