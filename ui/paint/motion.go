package paint

import (
	"encoding/base64"
	"strconv"

	"tandemux/emulator"
)

// moves is how far the outer terminal has an image's animation.
type moves struct {
	motion *emulator.Motion // that it should have; nil for none
	step   int              // sent
	begun  bool             // of the next one
	play   emulator.Play    // as it was told last
}

// want takes an animation as it is now; it reports whether something is to be sent.
// One of which frames are missing is left out.
func (m *moves) want(now *emulator.Motion) bool {
	if now == nil || m.motion == now {
		return false
	}
	for _, s := range now.Steps[min(m.step, len(now.Steps)):] {
		if s.Data == nil && len(s.Keys) > 2 && s.Keys[:3] == "a=f" {
			return false
		}
	}
	m.motion = now
	return true
}

// move appends the next piece of the animation in slot i; done says that there is no
// more.
func (g *Gallery) move(buf []byte, i int) (out []byte, done bool) {
	s := &g.slots[i]
	m := &s.moves
	n := strconv.Itoa(int(g.base) + i)
	if m.motion == nil {
		return buf, true
	}
	if m.step < len(m.motion.Steps) {
		step := m.motion.Steps[m.step]
		if !m.begun {
			m.begun, s.rest = true, step.Data
			buf = append(buf, "\x1b_G"+step.Keys+",q=2,i="+n...)
		} else {
			buf = append(buf, "\x1b_Ga=f,q=2"...)
		}
		k := min(len(s.rest), pieceSize)
		if last := k == len(s.rest); last {
			m.begun = false
			m.step++
		} else {
			buf = append(buf, ",m=1"...)
		}
		buf = append(buf, ';')
		buf = base64.StdEncoding.AppendEncode(buf, s.rest[:k])
		s.rest = s.rest[k:]
		return append(buf, "\x1b\\"...), false
	}
	if p := m.motion.Play; p != m.play {
		m.play = p
		buf = append(buf, "\x1b_Ga=a,q=2,i="+n...)
		for _, k := range [...]struct {
			name string
			n    uint32
		}{{",s=", p.State}, {",v=", p.Loops}, {",c=", p.Frame}} {
			if k.n != 0 {
				buf = strconv.AppendUint(append(buf, k.name...), uint64(k.n), 10)
			}
		}
		buf = append(buf, "\x1b\\"...)
	}
	return buf, true
}
