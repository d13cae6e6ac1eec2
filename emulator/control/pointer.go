package control

import (
	"fmt"
	"strings"
)

// Pointers is the stack of shapes that a program gave the mouse's pointer on a screen
// (OSC 22): the last is in force, none is the terminal's own.
type Pointers []string

const maxPointers = 16

// pointerNames are the shapes that there are, CSS's names, and xterm's for them.
var pointerNames = map[string]string{"left_ptr": "default", "hand1": "pointer", "hand2": "pointer", "watch": "wait", "xterm": "text"}

func init() {
	for name := range strings.FieldsSeq(`alias copy crosshair default e-resize ew-resize grab grabbing help move
		n-resize ne-resize nesw-resize no-drop not-allowed ns-resize nw-resize nwse-resize pointer progress
		s-resize se-resize sw-resize text vertical-text w-resize wait zoom-in zoom-out`) {
		pointerNames[name] = name
	}
}

// Top is the shape in force, by its CSS name.
func (p Pointers) Top() string {
	if len(p) == 0 {
		return ""
	}
	return p[len(p)-1]
}

// OSC does what OSC 22 asks: sets (=), pushes (>), pops (<) or asks for (?) shapes.
func (p *Pointers) OSC(s *System, body []byte, bell bool) {
	how, names := byte('='), string(body)
	if len(names) > 0 && strings.IndexByte("=><?", names[0]) >= 0 {
		how, names = names[0], names[1:]
	}
	list := strings.SplitN(names, ",", maxPointers+1)
	list = list[:min(len(list), maxPointers)]
	switch how {
	case '?':
		s.Reply("\x1b]22;" + p.answer(list) + ending(bell))
	case '<':
		*p = (*p)[:max(0, len(*p)-1)]
	case '=':
		if shape, ok := pointerNames[names]; ok {
			*p = append((*p)[:max(0, len(*p)-1)], shape)
		} else if names == "" {
			*p = nil
		}
	default:
		for _, name := range list {
			if shape, ok := pointerNames[name]; ok {
				*p = append((*p)[max(0, len(*p)+1-maxPointers):], shape)
			}
		}
	}
}

// answer says of each name whether it is a shape, or which shape it is.
func (p Pointers) answer(names []string) string {
	for i, name := range names {
		shape := "0"
		switch _, known := pointerNames[name]; {
		case name == "__current__" && len(p) > 0:
			shape = p.Top()
		case name == "__default__":
			shape = "text"
		case name == "__grabbed__":
			shape = "default"
		case known:
			shape = "1"
		}
		names[i] = shape
	}
	return strings.Join(names, ",")
}

// Append appends to a snapshot what fills the stack.
func (p Pointers) Append(buf []byte) []byte {
	for _, name := range p {
		buf = fmt.Appendf(buf, "\x1b]22;>%s\x1b\\", name)
	}
	return buf
}
